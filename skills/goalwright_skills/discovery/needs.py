"""Detects the capabilities beyond reading files that a skill needs, from its frontmatter and body.

    allowed-tools: Read WebFetch                      web access
    compatibility: Requires internet access.          web access
    "Use WebFetch to …" in the body                   web access

Detection is conservative: a missed need costs little, a wrong one keeps a good skill from being used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goalwright_skills.discovery.file_stamp import NONE, RACY
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.format import frontmatter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from goalwright_skills.skill import Skill

WEB = "web access"
COMMANDS = "running commands"
# The settings that allow them.
SETTINGS = {WEB: "allow_web", COMMANDS: "tools"}

_TOOLS = {
    "webfetch": WEB, "web_fetch": WEB, "fetch_webpage": WEB, "websearch": WEB, "web_search": WEB,
    "bash": COMMANDS, "shell": COMMANDS, "powershell": COMMANDS,
}  # fmt: skip
_WORDS = {"web": WEB, "internet": WEB, "network": WEB, "browser": WEB, "shell": COMMANDS, "terminal": COMMANDS}
# The keys of `metadata` under which authors list requirements.
_METADATA = ("requires", "needs", "tools", "capabilities")
_TOOL = re.compile(r"(?<![\w-])[A-Za-z_][\w-]*+(?=\(|[\s,]|$)")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_CLAUSE = re.compile(r"[.;\n]\s+|\s[-–—]+\s|[.;]$")
_NOT = re.compile(r"\b(?:no|not|never|without|optional(?:ly)?|if|unless|fallback|n't)\b", re.IGNORECASE)
_ACCESS = {
    WEB: r"(?:internet|web|network|online|outbound https?)(?:\s+(?:access|connect\w+|search|browsing))",
    COMMANDS: r"(?:shell|terminal|command[- ]line)(?:\s+access)",
}
_REQUIREMENTS = {
    capability: re.compile(
        rf"\b(?:requires?|needs?|uses?)\b.*\b{access}|\b{access}.*\b(?:required|needed)\b", re.IGNORECASE
    )
    for capability, access in _ACCESS.items()
}
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_USES = re.compile(r"\b(?:use|using|via|call|run)\b[^.;\n]{0,30}?`?\b(WebFetch|WebSearch|web_fetch|web_search)\b", re.I)
# A fast filter: only the few bodies that match are examined closely.
_HINT = re.compile(r"web_?(?:fetch|search)|your\s+tool")
_PAGES = r"(?:opens?|fetch(?:es)?|loads?|downloads?)\s+(?:(?:the|a|any)\s+)?(?:urls?|(?:web\s?)?pages?|web\s?sites?)\b"
_TIED = re.compile(
    rf"\b{_PAGES}[^.;]{{0,40}}?\byour\s+tools?\b|\byour\s+tools?\b[^.;]{{0,20}}?\b{_PAGES}", re.IGNORECASE
)
_BODY_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class Need:
    """A capability that a skill needs, and its source: a key of the frontmatter (empty for the body), and the text."""

    capability: str
    key: str
    text: str
    position: int = 0


def declared(values: Mapping[str, Any]) -> list[Need]:
    """Return the needs in a skill's frontmatter."""
    all_needs = [*_listed("allowed-tools", values.get("allowed-tools"), _TOOLS), *_compatibility(values)]
    metadata = values.get("metadata")
    if isinstance(metadata, dict):
        for key in _METADATA:
            all_needs += _listed("metadata", metadata.get(key), _TOOLS | _WORDS)
    return _unique(all_needs)


def in_body(body: str) -> list[Need]:
    """Return the needs in a skill's instructions; code blocks are ignored."""
    if not _HINT.search(body[:_BODY_LIMIT].lower()):
        return []
    prose = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), body[:_BODY_LIMIT])
    for match in (*_USES.finditer(prose), *_TIED.finditer(prose)):
        if match.re is _TIED or not _NOT.search(_sentence_before(prose, match.start())):
            return [Need(WEB, "", " ".join(match[0].split()), match.start())]
    return []


def needs(skill: Skill, *, body: bool = True) -> tuple[Need, ...]:
    """Return what a skill needs; without `body`, only its frontmatter is examined."""
    all_needs = declared(skill.extra)
    if body and skill.kind == "context":
        read = _read if skill.stamp in (NONE, RACY) else _read_cached
        all_needs += read(skill.file, skill.stamp)
    return tuple(_unique(all_needs))


def describe(needs: Iterable[Need], available: Collection[str]) -> str:
    """Format needs for a listing: `web access: not available`."""
    capabilities = [need.capability for need in needs]
    return "; ".join(f"{name}: {'available' if name in available else 'not available'}" for name in capabilities)


def _listed(key: str, value: Any, known: Mapping[str, str]) -> list[Need]:
    """Return the needs in a text or list of tools, such as `Read, Bash(git:*)`."""
    texts = value if isinstance(value, list) else [value]
    names = [name for text in texts if isinstance(text, str) for name in _TOOL.findall(_without_brackets(text))]
    return [Need(known[name.lower()], key, name) for name in names if name.lower() in known]


def _without_brackets(text: str) -> str:
    """Remove parentheses and their content; the text after the last `)` is skipped, to keep the time linear."""
    head, close, tail = text.rpartition(")")
    return _IN_BRACKETS.sub("", head + close) + tail


def _compatibility(values: Mapping[str, Any]) -> list[Need]:
    text = values.get("compatibility")
    clauses = _CLAUSE.split(text[: frontmatter.COMPATIBILITY_LIMIT]) if isinstance(text, str) else ()
    return [
        Need(capability, "compatibility", clause.strip())
        for clause in clauses
        for capability, requirement in _REQUIREMENTS.items()
        if requirement.search(clause) and not _NOT.search(clause)
    ]


def _sentence_before(text: str, position: int) -> str:
    return re.split(r"[.;\n]", text[max(0, position - 100) : position])[-1]


def _unique(needs: Iterable[Need]) -> list[Need]:
    """Return the first need for each capability."""
    first: dict[str, Need] = {}
    for need in needs:
        first.setdefault(need.capability, need)
    return list(first.values())


@lru_cache(maxsize=20_000)
def _read_cached(path: str, stamp: int) -> tuple[Need, ...]:
    """Return the needs in a body, cached by its stamp for the goals of a batch."""
    return _read(path, stamp)


def _read(path: str, _stamp: int) -> tuple[Need, ...]:
    try:
        text = frontmatter.decode(read_all(path))
    except OSError:
        return ()
    return tuple(in_body(frontmatter.split(text).body))
