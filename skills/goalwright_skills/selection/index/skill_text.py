"""What of a skill is compared with a goal: its terms, and the other skills that it names."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.format import frontmatter
from goalwright_skills.selection.descriptions import cut, spoken_name, when_to_use
from goalwright_skills.selection.index.relations import mentioned, required
from goalwright_skills.selection.index.vectors import encoded
from goalwright_skills.selection.terms import terms

if TYPE_CHECKING:
    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.skill import Skill

BODY_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class SkillTerms:
    """A skill's own terms, its referrals (another skill's name, what that is for, the whole clause), and other names.

    `mentions` are words that may name other skills, `needs` those of them that the skill says it is used with.
    `vector` is for its meaning, see `vectors`.
    """

    short: list[str]
    body: list[str]
    referrals: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    vector: bytes = b""


def skill_terms(skill: Skill, table: Table | None = None) -> SkillTerms:
    """A skill's text as terms, and as a vector by `table`; an unreadable body is treated as empty."""
    body = ""
    if skill.kind == "context":
        with contextlib.suppress(OSError):
            body = frontmatter.split(frontmatter.decode(read_all(skill.path))[:BODY_LIMIT]).body
    return _terms(skill, body, table)


def described(skill: Skill, table: Table | None = None) -> SkillTerms:
    """The same by name and description alone: no file is read."""
    return _terms(skill, "", table)


def _terms(skill: Skill, body: str, table: Table | None) -> SkillTerms:
    clauses = cut(skill.description)
    when = cut(when_to_use(skill))
    name = terms(spoken_name(skill))
    found = (*clauses.referrals, *when.referrals)
    referrals = [(each.other, terms(each.subject), terms(each.clause)) for each in found]
    mentions = mentioned(f"{skill.description}\n{body}", skill.extra)
    needs = required(f"{skill.description}\n{when_to_use(skill)}", skill.extra)
    short = name * 3 + terms(clauses.own) + terms(when.own)
    vector = encoded(skill, body, table) if table is not None else b""
    return SkillTerms(short, terms(body), referrals, mentions, needs, vector)
