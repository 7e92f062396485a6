"""The `goalwright` command of the documentation's tests: runs in the nursery, and logs its exit status."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from tests.nursery import Nursery

NURSERY, LOG = "GOALWRIGHT_COMMAND_NURSERY", "GOALWRIGHT_COMMAND_LOG"
# Request ids in pages, which the tests replace with ids of waiting requests.
REQUESTS = ("3fa8c1d2", "77b0e4aa")
# Starts Python only to replace request ids.
PROGRAM = """#!/bin/sh
case "$*" in {named}) PYTHONPATH={root} exec {python} -m {module} "$@" ;; esac
{forked} "$@"
status=$?
echo "{{\\"status\\": $status}}" >> "${log}"
exit $status
"""


def install(folder: Path, log: Path, nursery: Nursery) -> dict[str, str]:
    """Write the program into a folder; return an environment with it on the path."""
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
    """Replace the request ids of pages with those of waiting requests."""
    if not any(request in argument for argument in arguments for request in REQUESTS):
        return arguments
    waiting = json.loads(nursery.run(["approvals", "--json"]).out)
    for request, row in zip(REQUESTS, waiting, strict=True):
        arguments = [argument.replace(request, row["id"]) for argument in arguments]
    return arguments


def main() -> int:
    """Run the command with the streams of this process, and log its exit status."""
    nursery = Nursery(os.environ[NURSERY])
    process = nursery.start(["-m", "goalwright", *_with_requests(sys.argv[1:], nursery)], stdin=0)
    status = process.wait(120)
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
        log.write(json.dumps({"status": status}) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
