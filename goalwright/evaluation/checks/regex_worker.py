"""Matches regular expressions in a process of its own: one that takes too long ends with the process.

It is run as a script and imports nothing of goalwright. Each line of its input is a pattern with a text, each line of its
output what was found.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys

MEMORY = 1024**3


def main() -> None:
    """Answer every line until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin.buffer:
        order = json.loads(line)
        # The system ends the process at this much CPU time, even while it is inside a match.
        signal.setitimer(signal.ITIMER_PROF, order["seconds"])
        found = re.search(order["pattern"], order["text"], re.MULTILINE | (0 if order["exact"] else re.IGNORECASE))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(None if found is None else found.group()[: order["longest"]]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
