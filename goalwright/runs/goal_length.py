"""The limit on the length of a goal; apart from `goal`, which takes half a second to import."""

from __future__ import annotations

from goalwright_skills.errors import InputError

LONGEST = 200_000


def check_length(text: str) -> None:
    """Raise if a goal is too long."""
    if len(text) > LONGEST:
        raise too_long(len(text))


def too_long(length: int) -> InputError:
    """Return the error for a goal that is too long."""
    message = f"the goal has {length:,} characters, more than {LONGEST:,}"
    return InputError(message, hint="put the material into a file and attach it")
