"""SQLite's errors in plain words, and what to do about them."""

from __future__ import annotations

from goalwright_executor.stores.errors import BadStore, StoreFailed

_ELSEWHERE = (
    "free disk space or fix the folder, or put the journal elsewhere: --journal sqlite:///path or GOALWRIGHT_JOURNAL"
)


def explain(error: Exception) -> str:
    """What went wrong; an unreadable text is not quoted."""
    if isinstance(error, ValueError) or "Could not decode" in str(error):
        return "it is damaged: a text in it cannot be read"
    if "UNIQUE constraint" in str(error):
        return "another process has taken over the run and written to it"
    return str((isinstance(error, OSError) and error.strerror) or error)


def hint(error: Exception) -> str:
    """What to do about it."""
    text = explain(error)
    if "damaged" in text or "malformed" in text or "not a database" in text:
        return "move the file away (its runs cannot be resumed), or name another with --journal"
    if "taken over" in text:
        return "leave the run to that process, or resume it later"
    if "locked" in text:
        return "another process keeps it locked: wait for it to end, then continue with goalwright resume"
    return _ELSEWHERE


def bad_store(journal: object, what: str, error: Exception) -> BadStore:
    """The error of a journal that cannot be `what`: used or read."""
    return BadStore(f"the journal {journal} cannot be {what}: {explain(error)}", hint=hint(error))


def store_failed(journal: object, error: Exception) -> StoreFailed:
    """The error of a journal that can no longer be written."""
    return StoreFailed(f"the journal {journal} cannot be written: {explain(error)}", hint=hint(error))
