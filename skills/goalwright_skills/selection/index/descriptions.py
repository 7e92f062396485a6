"""Splits descriptions into clauses about their own skill, about other skills, and about what no skill is for.

"… For email sequences, see emails."      counts for the skill `emails`, not for this one
"Not for pull requests."                  counts for no skill
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_skills.skill import Skill

_CUT = re.compile(r"(?<=[.!?;。！？；])\s+|\n+|(?<=[。！？；])")
_NAME = r"`?/?([a-z0-9]+(?:-[a-z0-9]+)+|[a-z0-9]{3,})`?"
_FOR = re.compile(r"\b(?:for|if|when)\s+", re.IGNORECASE)
_TARGET = re.compile(rf"(?:→|->|=>|\b(?:see|use|try|prefer|go to)\s+(?:the\s+)?)\s*{_NAME}", re.IGNORECASE)
_ARROW = re.compile(rf"(.{{3,200}}?)\s*(?:→|->|=>)\s*{_NAME}")
# "Not for" may be anywhere in a clause, the others only at its start ("even if they do not use the word").
_NEGATIVE = re.compile(
    r"\bnot (?:for|intended for|to be used)\b|^\W*(?:do not|don't|never|should not) (?:be )?(?:use|trigger)|"
    r"^\W*(?:not when|skip (?:this )?(?:when|for|if)|does not (?:cover|handle))\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[^\S\n]+")
DESCRIPTION_LIMIT = 8_000


@dataclass(frozen=True, slots=True)
class Referral:
    """The subject that a description refers to another skill; `clause` is used if no such skill exists."""

    other: str
    subject: str
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Clauses:
    """The text of a description about its own skill, and its referrals to others."""

    own: str
    referrals: tuple[Referral, ...] = ()


def spoken_name(skill: Skill) -> str:
    """Return a skill's name as separate words."""
    return skill.name.replace("-", " ").replace("_", " ")


def when_to_use(skill: Skill) -> str:
    """Return `when_to_use` of a skill's frontmatter, in either spelling."""
    return str(skill.extra.get("when_to_use") or skill.extra.get("when-to-use") or "")


def cut(description: str) -> Clauses:
    """Split a description into its own text and its referrals."""
    own: list[str] = []
    referrals: list[Referral] = []
    # The patterns are slow in runs of spaces and in very long texts.
    for clause in _CUT.split(_SPACE.sub(" ", description[:DESCRIPTION_LIMIT])):
        referral = _referral(clause)
        if referral is not None:
            start, end, other, subject = referral
            own.append(clause[:start])
            referrals.append(Referral(other, subject, clause[start:]))
            referrals += [Referral(match[2].lower(), match[1]) for match in _ARROW.finditer(clause, end)]
            continue
        negative = _NEGATIVE.search(clause)
        own.append(clause[: negative.start()] if negative else clause)
    return Clauses(" ".join(own), tuple(referrals))


def _referral(clause: str) -> tuple[int, int, str, str] | None:
    """Return the start and end of a clause's referral, the name of the other skill, and the subject."""
    first = _FOR.search(clause)
    for target in _TARGET.finditer(clause, first.end() + 3) if first else ():
        subject = clause[first.end() : target.start()].rstrip(" ,:-–—") if first else ""
        if first and 3 <= len(subject) <= 300:
            return first.start(), target.end(), target[1].lower(), subject
    arrow = _ARROW.search(clause) if "→" in clause or "->" in clause or "=>" in clause else None
    return (arrow.start(), arrow.end(), arrow[2].lower(), arrow[1]) if arrow else None
