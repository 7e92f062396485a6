"""Matches regular expressions in a child process that can be killed.

It runs as a script and imports nothing from goalwright. Each input line is a JSON request with a pattern and a text,
each output line its first match.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys

MEMORY = 1024**3


def main() -> None:
    """Answer requests until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        # The kernel kills the process after this much CPU time, even during a match.
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        match = re.search(
            request["pattern"], request["text"], re.MULTILINE | (0 if request["exact"] else re.IGNORECASE)
        )
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(None if match is None else match.group()[: request["longest"]]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
