"""What SQLite complains of, in words that a person can use, and what to do about it."""

from __future__ import annotations

_ELSEWHERE = "make room or mend the folder, or put the journal elsewhere with --journal sqlite:///path or WEFT_JOURNAL"


def said(error: Exception) -> str:
    """What went wrong; a text that cannot be read is no part of it."""
    if isinstance(error, ValueError) or "Could not decode" in str(error):
        return "it is damaged: a text in it cannot be read"
    if "UNIQUE constraint" in str(error):
        return "another process has taken over the run and written to it"
    return str(error)


def hint(error: Exception) -> str:
    """What to do about it."""
    text = said(error)
    if "damaged" in text or "malformed" in text or "not a database" in text:
        return "move the file away (runs in it cannot be resumed), or name another with --journal"
    if "taken over" in text:
        return "leave the run to that one, or resume it later"
    if "locked" in text:
        return "another process has been writing to it for long: wait until it ends, then go on with weft resume"
    return _ELSEWHERE
