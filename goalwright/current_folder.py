"""Keeps modules that lie in the current folder from being imported as goalwright's own or as a library."""

import os
import sys

# Where a checkout has goalwright's packages, beside goalwright itself.
_SOURCE_ROOTS = ("", "planner", "executor", "skills")


def is_command(argv: list[str]) -> bool:
    """Whether Python runs goalwright's command line (`goalwright` or `python -m goalwright`)."""
    return bool(argv) and os.path.basename(argv[0]) in ("-m", "goalwright", "goalwright.exe")


def leave_current_folder() -> None:
    """Take the current folder off Python's path, unless one of goalwright's packages lies there."""
    home = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))
    here = os.path.realpath(os.getcwd())
    if here not in {os.path.join(home, root).rstrip(os.sep) for root in _SOURCE_ROOTS}:
        sys.path[:] = [path for path in sys.path if path and os.path.isabs(path) and os.path.realpath(path) != here]
