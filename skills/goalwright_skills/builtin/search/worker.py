"""Matches a regular expression against files in a child process, which is killed if the match takes too long.

It runs as a script and imports nothing of goalwright. It reads one line with the request, then for each file one line
with its name and length, and its text. It writes the answer after reading all input.
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
    """Read the request and the files, and write the matches."""
    stdin = sys.stdin.buffer
    request = json.loads(stdin.readline())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # The operating system kills the process at this CPU time, even during a match.
    signal.setitimer(signal.ITIMER_PROF, request["seconds"])
    try:
        pattern = re.compile(request["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        json.dump({"error": str(error)}, sys.stdout)
        return
    hits: list[tuple[str, int, str]] = []
    total = 0
    while line := stdin.readline():
        name, length = json.loads(line)
        text = stdin.read(length).decode("utf-8", "replace")
        for number, row in enumerate(text.split("\n"), 1):
            if (match := pattern.search(row)) is not None:
                total += 1
                if len(hits) < request["limit"]:
                    hits.append((name, number, _shown(row.rstrip("\r"), match.start())))
    json.dump({"hits": hits, "total": total}, sys.stdout)


def _shown(row: str, offset: int) -> str:
    """Return the line, or the part of a long line around the match."""
    if len(row) <= LONGEST_LINE:
        return row
    start = max(0, min(offset - 80, len(row) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{row[start:end]}{'…' if end < len(row) else ''}"


if __name__ == "__main__":
    main()
