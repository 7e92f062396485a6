"""Tries a regular expression on files, in a process of its own: one that takes too long ends with the process.

It is run as a script and imports nothing of goalwright. Its input is a line with the orders, then for each file a line with
its name and length, and its text. Its answer comes at the end, when nothing more has to be read.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys

MEMORY = 1024**3
LONGEST_LINE = 300


def main() -> None:
    """Read orders and files, and write what matches."""
    stdin = sys.stdin.buffer
    orders = json.loads(stdin.readline())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # The system ends the process at this much CPU time, even while it is inside a match.
    signal.setitimer(signal.ITIMER_PROF, orders["seconds"])
    try:
        pattern = re.compile(orders["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        json.dump({"error": str(error)}, sys.stdout)
        return
    hits: list[tuple[str, int, str]] = []
    total = 0
    while line := stdin.readline():
        name, length = json.loads(line)
        text = stdin.read(length).decode("utf-8", "replace")
        for number, row in enumerate(text.split("\n"), 1):
            if (found := pattern.search(row)) is not None:
                total += 1
                if len(hits) < orders["limit"]:
                    hits.append((name, number, _shown(row.rstrip("\r"), found.start())))
    json.dump({"hits": hits, "total": total}, sys.stdout)


def _shown(row: str, at: int) -> str:
    """The line, or what stands around the match in a long one."""
    if len(row) <= LONGEST_LINE:
        return row
    start = max(0, min(at - 80, len(row) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{row[start:end]}{'…' if end < len(row) else ''}"


if __name__ == "__main__":
    main()
