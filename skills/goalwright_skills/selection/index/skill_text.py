"""The text of a skill that is compared with a goal: its terms, and the other skills that it names.

requires: [pdf]                  in the frontmatter, also `depends_on`
Use with `copy-editing`.         in the description
see the **pricing** skill        anywhere: in backticks, bold, a link, or beside the word "skill"
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.format import frontmatter
from goalwright_skills.selection.index.descriptions import cut, spoken_name, when_to_use
from goalwright_skills.selection.index.vectors import encoded
from goalwright_skills.selection.query.terms import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright_skills.selection.encoder import Table
    from goalwright_skills.skill import Skill


BODY_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class SkillTerms:
    """A skill's own terms, its referrals (name, subject and clause) and its vector.

    `mentions` are words that may name other skills, `needs` the names of skills that it says it is used with.
    """

    short: list[str]
    body: list[str]
    referrals: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    vector: bytes = b""


def skill_terms(skill: Skill, table: Table | None = None) -> SkillTerms:
    """Read a skill's text as terms, and as a vector by `table`; an unreadable body counts as empty."""
    body = ""
    if skill.kind == "context":
        with contextlib.suppress(OSError):
            body = frontmatter.split(frontmatter.decode(read_all(skill.path))[:BODY_LIMIT]).body
    return _terms(skill, body, table)


def described(skill: Skill, table: Table | None = None) -> SkillTerms:
    """Return the terms of a skill's name and description, without reading a file."""
    return _terms(skill, "", table)


def _terms(skill: Skill, body: str, table: Table | None) -> SkillTerms:
    clauses = cut(skill.description)
    when = cut(when_to_use(skill))
    name = terms(spoken_name(skill))
    referrals = [
        (referral.other, terms(referral.subject), terms(referral.clause))
        for referral in (*clauses.referrals, *when.referrals)
    ]
    mentions = mentioned(f"{skill.description}\n{body}", skill.extra)
    needs = required(f"{skill.description}\n{when_to_use(skill)}", skill.extra)
    short = name * 3 + terms(clauses.own) + terms(when.own)
    vector = encoded(skill, body, table) if table is not None else b""
    return SkillTerms(short, terms(body), referrals, mentions, needs, vector)


_SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"
# Each pattern starts with a rare character, so that one pass for each is faster than one for all.
_MARKED = re.compile(rf"[`\"]/?\$?({_SLUG})[`\"]|\*\*`?/?({_SLUG})`?\*\*|\[`?({_SLUG})`?\](?=\()")
_BESIDE_SKILL = re.compile(rf"skills?(?:/|:?\s+)({_SLUG})(?![\w-])")
_BEFORE_SKILL = re.compile(rf"(?<![\w/.-])({_SLUG})$")
_SKILL = re.compile(r" skills?\b")
_HYPHENATED = re.compile(r"[\s/]([a-z0-9]+(?:-[a-z0-9]+)+)(?![\w-])")
_POINTER = re.compile(r"(?:\b(?:see|with|load|invoke|run|use|to)|→|->)(?:\s+the)?\s*$")
_LONGEST_NAME = 64
_LONGEST_POINTER = 16
_WITH = re.compile(
    rf"\b(?:requires|used?\s+(?:it\s+)?(?:together\s+)?with|together\s+with|in\s+combination\s+with|depends\s+on|"
    rf"builds\s+on|pairs\s+with)\s+(?:the\s+)?[`*\"/$]*({_SLUG})(?![\w-])",
    re.IGNORECASE,
)
_NEEDS = frozenset({"requires", "depends", "depends_on", "requires_skills", "required_skills"})
_RELATED = frozenset({"related", "related_skills", "see_also", "uses", "works_with", "dependencies"})
_SEPARATOR = re.compile(r"[\s,;]+")
MENTIONS = 100


def required(description: str, extra: Mapping[str, Any]) -> list[str]:
    """Return the possible names of the skills that a skill says it is used with."""
    names = [*_declared(extra, _NEEDS), *(match[1].lower() for match in _WITH.finditer(description))]
    return list(dict.fromkeys(names))[:MENTIONS]


def mentioned(text: str, extra: Mapping[str, Any]) -> list[str]:
    """Return the possible names of other skills in a skill's frontmatter and text, declared ones first."""
    names = dict.fromkeys(_declared(extra, _NEEDS | _RELATED))
    for name in _mentions(text):
        if len(names) >= MENTIONS:
            break
        names[name] = None
    return list(names)


def _mentions(text: str) -> Iterator[str]:
    for match in _MARKED.finditer(text):
        yield match[match.lastindex or 0]
    for match in _BESIDE_SKILL.finditer(text):
        yield match[1]
    for match in _SKILL.finditer(text):
        before = _BEFORE_SKILL.search(text, max(0, match.start() - _LONGEST_NAME), match.start())
        if before is not None:
            yield before[1]
    for match in _HYPHENATED.finditer(text):
        if _POINTER.search(text, max(0, match.start() - _LONGEST_POINTER), match.start()):
            yield match[1]


def _declared(extra: Mapping[str, Any], keys: frozenset[str]) -> Iterator[str]:
    metadata = extra.get("metadata")
    for table in (extra, metadata if isinstance(metadata, dict) else {}):
        for key, value in table.items():
            if str(key).lower().replace("-", "_") in keys:
                yield from _names(value.get("skills") if isinstance(value, dict) else value)


def _names(value: Any) -> list[str]:
    items = value if isinstance(value, list) else _SEPARATOR.split(value) if isinstance(value, str) else []
    return [str(item).strip() for item in items[:MENTIONS]]
