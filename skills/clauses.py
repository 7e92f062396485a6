"""A description cut into clauses: those that say what a skill is for, and those that say what it is not for.

"… For email sequences, see emails."      counts for the skill `emails`, not for this one
"Not for pull requests."                  counts for neither
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUT = re.compile(r"(?<=[.!?;。！？；])\s+|\n+|(?<=[。！？；])")
_NAME = r"`?/?([a-z0-9]+(?:-[a-z0-9]+)+|[a-z0-9]{3,})`?"
_REFERRAL = re.compile(
    rf"\b(?:for|if|when)\s+(.{{3,300}}?)\s*(?:[,:]|\s[-–—])?\s*"
    rf"(?:→|->|=>|(?:see|use|try|prefer|go to)\s+(?:the\s+)?)\s*{_NAME}",
    re.IGNORECASE,
)
_ARROW = re.compile(rf"(.{{3,200}}?)\s*(?:→|->|=>)\s*{_NAME}")
_HINT = re.compile(r"→|->|=>|\b(?:see|use|try|prefer|go to)\b", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\b(?:not for|not to be used|do not use|don't use|do not trigger|don't trigger|never use|not when|"
    r"not intended for|should not be used|skip (?:this )?(?:when|for|if)|does not (?:cover|handle))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clauses:
    """What counts for the skill itself, and what it says of others by their name."""

    own: str
    referrals: tuple[tuple[str, str], ...] = ()


def cut(description: str) -> Clauses:
    """The description's own part and its referrals."""
    own: list[str] = []
    referrals: list[tuple[str, str]] = []
    for clause in _CUT.split(description):
        match = (_REFERRAL.search(clause) or _ARROW.search(clause)) if _HINT.search(clause) else None
        if match is not None:
            own.append(clause[: match.start()])
            referrals += [(found[2].lower(), found[1]) for found in (match, *_ARROW.finditer(clause, match.end()))]
            continue
        negative = _NEGATIVE.search(clause)
        own.append(clause[: negative.start()] if negative else clause)
    return Clauses(" ".join(own), tuple(referrals))
