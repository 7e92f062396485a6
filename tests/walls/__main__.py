"""Runs every attack in every confinement, as root and as an ordinary user, and prints a table; exits 1 on a leak.

`python -m tests.walls [--only TEXT]` runs only the attacks whose theme or name contains the text.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.walls.registry import all_probes
from tests.walls.run import WALLS, outcomes

REPOSITORY = Path(__file__).resolve().parents[2]
NOBODY = 65534
# The interpreter must be able to start itself again; the first start still uses the permissions of root.
CHECK = "import subprocess, sys, yaml; subprocess.run([sys.executable, '-c', 'import yaml'], check=True)"
USERS = ("root", "user")
Table = dict[tuple[str, str, str], dict[str, str]]


def main() -> int:
    """Run the attacks and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.walls", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="only attacks whose theme or name contains TEXT")
    parser.add_argument(
        "--here", action="store_true", help="run as the current user only and print a JSON line for each attack"
    )
    options = parser.parse_args()
    if options.here:
        for result in outcomes(options.only):
            print(json.dumps(result), flush=True)
        return 0
    table: Table = {}
    skipped: dict[str, str] = {}
    for user in USERS:
        command, skipped[user] = as_user(user)
        if command:
            table |= collect(user, [*command, "--here", "--only", options.only])
    return report(table, skipped, options.only)


def as_user(user: str) -> tuple[list[str], str]:
    """Return the command that runs the attacks as root or as an ordinary user, or the reason if there is none."""
    is_root = os.geteuid() == 0
    run = ["-m", "tests.walls"]
    if (user == "root") == is_root:
        return [sys.executable, *run], ""
    if user == "root":
        return [], "this user is not root"
    if shutil.which("setpriv") is None:
        return [], "setpriv is not installed"
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")):
        check = [*become, python, "-c", CHECK]
        if subprocess.run(check, env=_environment(), capture_output=True, check=False).returncode == 0:
            return [*become, python, *run], ""
    return [], "an ordinary user cannot run a Python with goalwright's packages here"


def _environment() -> dict[str, str]:
    """Return an environment in which another interpreter finds the same packages."""
    roots = [str(REPOSITORY), *(str(REPOSITORY / name) for name in ("planner", "executor", "skills"))]
    paths = [*roots, *(path for path in sys.path if path.endswith("site-packages"))]
    python = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | python


def collect(user: str, command: list[str]) -> Table:
    """Run the attacks as a user and print leaks at once."""
    table: Table = {}
    with subprocess.Popen(command, cwd=REPOSITORY, env=_environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            row = json.loads(line)
            table[row["probe"], row["wall"], user] = row
            if row["result"] == "LEAKED":
                print(f"LEAKED: {row['probe']} ({row['wall']}, {user}): {row['note']}", file=sys.stderr)
    if process.returncode != 0:
        print(f"the attacks as {user} ended early, with exit status {process.returncode}", file=sys.stderr)
    return table


def report(table: Table, skipped: dict[str, str], only: str) -> int:
    """Print the table, the reasons for skipped attacks and the totals; returns the exit status."""
    modes = [(wall, user) for wall in WALLS for user in USERS]
    probes = [probe for probe in all_probes() if only in probe.theme or only in probe.name]
    width = max((len(probe.name) for probe in probes), default=0)
    print(" " * (width + 2) + "".join(f"{wall} {user}".ljust(18) for wall, user in modes))
    reasons: dict[str, int] = {}
    counts = {"held": 0, "LEAKED": 0, "skipped": 0}
    theme = ""
    for probe in probes:
        if probe.theme != theme:
            theme = probe.theme
            print(theme)
        row = []
        for wall, user in modes:
            cell = table.get((probe.name, wall, user))
            result = cell["result"] if cell else ("skipped" if skipped[user] else "LEAKED")
            if result == "skipped":
                reason = cell["note"] if cell else skipped[user]
                reasons[f"{wall} as {user}: {reason}"] = reasons.get(f"{wall} as {user}: {reason}", 0) + 1
            counts[result] += 1
            row.append(result.ljust(18))
        print(f"  {probe.name.ljust(width)}{''.join(row)}".rstrip())
    for reason, times in reasons.items():
        print(f"skipped {times}: {reason}")
    print(f"{counts['held']} held, {counts['LEAKED']} leaked, {counts['skipped']} skipped")
    return 1 if counts["LEAKED"] else 0


if __name__ == "__main__":
    sys.exit(main())
