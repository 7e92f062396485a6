"""The skills that a skill names: those it says it is used with, and those its text mentions.

requires: [pdf]                  in the frontmatter, also `depends_on`
Use with `copy-editing`.         in the description
see the **pricing** skill        anywhere: in backticks, bold, a link, or beside the word "skill"
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"
# Each form begins with a letter or sign that is rare in text, which makes one pass for each faster than one for all.
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
    """The words that may be names of skills which a skill says it is used with, each once."""
    found = [*_declared(extra, _NEEDS), *(match[1].lower() for match in _WITH.finditer(description))]
    return list(dict.fromkeys(found))[:MENTIONS]


def mentioned(text: str, extra: Mapping[str, Any]) -> list[str]:
    """The words of a skill's frontmatter and text that may be other skills' names, each once, declared ones first."""
    found = dict.fromkeys(_declared(extra, _NEEDS | _RELATED))
    for name in _mentions(text):
        if len(found) >= MENTIONS:
            break
        found[name] = None
    return list(found)


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
