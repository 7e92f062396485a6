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
_MENTION = re.compile(
    rf"[`\"]/?\$?({_SLUG})[`\"]|\*\*`?/?({_SLUG})`?\*\*|\[`?({_SLUG})`?\](?=\()|\bskills/({_SLUG})\b|"
    rf"(?<![\w/.-])({_SLUG}) skills?\b|\bskills?:?\s+({_SLUG})(?![\w-])|"
    rf"\b(?:see|with|load|invoke|run|use|to|→|->)\s+(?:the\s+)?/?([a-z0-9]+(?:-[a-z0-9]+)+)(?![\w-])"
)
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
    for match in _MENTION.finditer(text):
        if len(found) >= MENTIONS:
            break
        found[match[match.lastindex or 0]] = None
    return list(found)


def _declared(extra: Mapping[str, Any], keys: frozenset[str]) -> Iterator[str]:
    metadata = extra.get("metadata")
    for table in (extra, metadata if isinstance(metadata, dict) else {}):
        for key, value in table.items():
            if str(key).lower().replace("-", "_") in keys:
                yield from _names(value.get("skills") if isinstance(value, dict) else value)


def _names(value: Any) -> list[str]:
    items = value if isinstance(value, list) else _SEPARATOR.split(value) if isinstance(value, str) else []
    return [str(item).strip() for item in items[:MENTIONS]]
