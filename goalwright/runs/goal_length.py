"""How long a goal may be; apart from `goal`, which takes half a second to import."""

from __future__ import annotations

from goalwright_skills.errors import InputError

LONGEST = 200_000


def check_length(text: str) -> None:
    """Raise if a goal has more characters than a goal may have."""
    if len(text) > LONGEST:
        raise too_long(len(text))


def too_long(length: int) -> InputError:
    """What is said of a goal with more characters than a goal may have."""
    what = f"the goal has {length:,} characters, more than {LONGEST:,}"
    return InputError(what, hint="put the material in a file and pass it with --file")
