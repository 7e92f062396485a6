"""`goalwright` as a shell of the documentation's tests finds it: a process of the nursery, whose end goes into a log."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from tests.nursery import Nursery

NURSERY, LOG = "GOALWRIGHT_COMMAND_NURSERY", "GOALWRIGHT_COMMAND_LOG"
# The requests that pages speak of; a reader has others, which the tests put in their place.
REQUESTS = ("3fa8c1d2", "77b0e4aa")
# Python is started only for what a shell cannot do.
PROGRAM = """#!/bin/sh
case "$*" in {named}) PYTHONPATH={root} exec {python} -m {module} "$@" ;; esac
{forked} "$@"
status=$?
echo "{{\\"status\\": $status}}" >> "${log}"
exit $status
"""


def install(folder: Path, log: Path, nursery: Nursery) -> dict[str, str]:
    """Write the program into a folder; returns the environment in which a shell finds it."""
    program = folder / "goalwright"
    program.parent.mkdir()
    named = "|".join(f"*{request}*" for request in REQUESTS)
    values = {"python": sys.executable, "module": __name__, "root": Path(__file__).parent.parent.parent}
    forked = shlex.join(nursery.command("-m", "goalwright"))
    program.write_text(PROGRAM.format(named=named, forked=forked, log=LOG, **values), encoding="utf-8")
    program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, NURSERY: nursery.address, LOG: str(log)}


def _with_requests(arguments: list[str], nursery: Nursery) -> list[str]:
    """The arguments with the requests that wait now."""
    if not any(request in one for one in arguments for request in REQUESTS):
        return arguments
    waiting = json.loads(nursery.run(["approvals", "--json"]).out)
    for request, row in zip(REQUESTS, waiting, strict=True):
        arguments = [one.replace(request, row["id"]) for one in arguments]
    return arguments


def main() -> int:
    """Run the command to its end with the files of this process, and log its status."""
    nursery = Nursery(os.environ[NURSERY])
    process = nursery.start(["-m", "goalwright", *_with_requests(sys.argv[1:], nursery)], stdin=0)
    status = process.wait(120)
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"status": status}) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
