"""Runs every attack under every wall, as root and as an ordinary user, and prints a table; exits 1 on a leak.

`python -m tests.walls [--only TEXT]` makes the attacks whose theme or name contains the text.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.walls.registry import known
from tests.walls.run import WALLS, outcomes

REPOSITORY = Path(__file__).resolve().parents[2]
NOBODY = 65534
# It must be able to start itself again: the first start still has root's way to it.
TRY = "import subprocess, sys, yaml; subprocess.run([sys.executable, '-c', 'import yaml'], check=True)"
USERS = ("root", "user")
Table = dict[tuple[str, str, str], dict[str, str]]


def main() -> int:
    """Fill the table and print it."""
    parser = argparse.ArgumentParser(prog="python -m tests.walls", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="attacks whose theme or name contains it")
    parser.add_argument("--here", action="store_true", help="as this user only, a line of JSON for each attack")
    given = parser.parse_args()
    if given.here:
        for one in outcomes(given.only):
            print(json.dumps(one), flush=True)
        return 0
    table: Table = {}
    skipped: dict[str, str] = {}
    for user in USERS:
        command, skipped[user] = as_user(user)
        if command:
            table |= collect(user, [*command, "--here", "--only", given.only])
    return report(table, skipped, given.only)


def as_user(user: str) -> tuple[list[str], str]:
    """The command that makes the attacks as root or as an ordinary user, or why there is none."""
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
        tried = [*become, python, "-c", TRY]
        if subprocess.run(tried, env=_environment(), capture_output=True, check=False).returncode == 0:
            return [*become, python, *run], ""
    return [], "an ordinary user can run no Python here that has goalwright's packages"


def _environment() -> dict[str, str]:
    """The same packages for another user's interpreter."""
    roots = [str(REPOSITORY), *(str(REPOSITORY / name) for name in ("planner", "executor", "skills"))]
    paths = [*roots, *(path for path in sys.path if path.endswith("site-packages"))]
    own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | own


def collect(user: str, command: list[str]) -> Table:
    """Run the attacks as a user; the progress is shown as it comes."""
    found: Table = {}
    with subprocess.Popen(command, cwd=REPOSITORY, env=_environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            one = json.loads(line)
            found[one["probe"], one["wall"], user] = one
            if one["result"] == "LEAKED":
                print(f"LEAKED: {one['probe']} ({one['wall']}, {user}): {one['note']}", file=sys.stderr)
    if process.returncode != 0:
        print(f"the attacks as {user} ended early, with exit status {process.returncode}", file=sys.stderr)
    return found


def report(table: Table, skipped: dict[str, str], only: str) -> int:
    """Print the table, why anything was skipped, and the sum; returns the exit status."""
    modes = [(wall, user) for wall in WALLS for user in USERS]
    probes = [one for one in known() if only in one.theme or only in one.name]
    width = max((len(one.name) for one in probes), default=0)
    print(" " * (width + 2) + "".join(f"{wall} {user}".ljust(18) for wall, user in modes))
    reasons: dict[str, int] = {}
    counts = {"held": 0, "LEAKED": 0, "skipped": 0}
    theme = ""
    for one in probes:
        if one.theme != theme:
            theme = one.theme
            print(theme)
        row = []
        for wall, user in modes:
            cell = table.get((one.name, wall, user))
            why = skipped[user] or "the run ended early"
            result = cell["result"] if cell else ("skipped" if skipped[user] else "LEAKED")
            if result == "skipped":
                reason = cell["note"] if cell else why
                reasons[f"{wall} as {user}: {reason}"] = reasons.get(f"{wall} as {user}: {reason}", 0) + 1
            counts[result] += 1
            row.append(result.ljust(18))
        print(f"  {one.name.ljust(width)}{''.join(row)}".rstrip())
    for reason, times in reasons.items():
        print(f"skipped {times}: {reason}")
    print(f"{counts['held']} held, {counts['LEAKED']} leaked, {counts['skipped']} skipped")
    return 1 if counts["LEAKED"] else 0


if __name__ == "__main__":
    sys.exit(main())
