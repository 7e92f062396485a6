"""What a skill needs beyond reading files, as far as it says so itself, and whether a run has it.

    allowed-tools: Read WebFetch                      web access
    compatibility: Requires internet access.          web access
    "Use WebFetch to …" in the body                   web access

The reading is conservative: a need that is not found costs little, a wrong one keeps a good skill from being used.
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
# How the user lets tasks have it.
SWITCHES = {WEB: "--allow-web HOST", COMMANDS: "--tools shell"}

_TOOLS = {
    "webfetch": WEB, "web_fetch": WEB, "fetch_webpage": WEB, "websearch": WEB, "web_search": WEB,
    "bash": COMMANDS, "shell": COMMANDS, "powershell": COMMANDS,
}  # fmt: skip
_WORDS = {"web": WEB, "internet": WEB, "network": WEB, "browser": WEB, "shell": COMMANDS, "terminal": COMMANDS}
# The keys of `metadata` under which authors name what a skill requires.
_METADATA = ("requires", "needs", "tools", "capabilities")
_TOOL = re.compile(r"(?<![\w-])[A-Za-z_][\w-]*+(?=\(|[\s,]|$)")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_CLAUSE = re.compile(r"[.;\n]\s+|\s[-–—]+\s|[.;]$")
_NOT = re.compile(r"\b(?:no|not|never|without|optional(?:ly)?|if|unless|fallback|n't)\b", re.IGNORECASE)
_ACCESS = {
    WEB: r"(?:internet|web|network|online|outbound https?)(?:\s+(?:access|connect\w+|search|browsing))",
    COMMANDS: r"(?:shell|terminal|command[- ]line)(?:\s+access)",
}
_STATED = {
    what: re.compile(rf"\b(?:requires?|needs?|uses?)\b.*\b{access}|\b{access}.*\b(?:required|needed)\b", re.IGNORECASE)
    for what, access in _ACCESS.items()
}
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_USES = re.compile(r"\b(?:use|using|via|call|run)\b[^.;\n]{0,30}?`?\b(WebFetch|WebSearch|web_fetch|web_search)\b", re.I)
# Found quickly in the few bodies that are worth reading closely.
_HINT = re.compile(r"web_?(?:fetch|search)|your\s+tool")
_PAGES = r"(?:opens?|fetch(?:es)?|loads?|downloads?)\s+(?:(?:the|a|any)\s+)?(?:urls?|(?:web\s?)?pages?|web\s?sites?)\b"
_TIED = re.compile(
    rf"\b{_PAGES}[^.;]{{0,40}}?\byour\s+tools?\b|\byour\s+tools?\b[^.;]{{0,20}}?\b{_PAGES}", re.IGNORECASE
)
_BODY_LIMIT = 200_000


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a skill needs, and what says so: a key of the frontmatter (else the body), and its words."""

    what: str
    key: str
    said: str
    position: int = 0


def declared(values: Mapping[str, Any]) -> list[Need]:
    """What the frontmatter says that a skill needs."""
    found = [*_listed("allowed-tools", values.get("allowed-tools"), _TOOLS), *_compatibility(values)]
    metadata = values.get("metadata")
    if isinstance(metadata, dict):
        for key in _METADATA:
            found += _listed("metadata", metadata.get(key), _TOOLS | _WORDS)
    return _once(found)


def in_body(body: str) -> list[Need]:
    """What the instructions of a skill say that it needs; code blocks say nothing."""
    if not _HINT.search(body[:_BODY_LIMIT].lower()):
        return []
    prose = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), body[:_BODY_LIMIT])
    for match in (*_USES.finditer(prose), *_TIED.finditer(prose)):
        if match.re is _TIED or not _NOT.search(_sentence_before(prose, match.start())):
            return [Need(WEB, "", " ".join(match[0].split()), match.start())]
    return []


def needs(skill: Skill, *, body: bool = True) -> tuple[Need, ...]:
    """What a skill needs; without `body` only its frontmatter is asked."""
    found = declared(skill.extra)
    if body and skill.kind == "context":
        read = _read if skill.stamp in (NONE, RACY) else _read_once
        found += read(skill.file, skill.stamp)
    return tuple(_once(found))


def told(found: Iterable[Need], available: Collection[str]) -> str:
    """Needs as a listing says them: `web access: not available`."""
    return "; ".join(f"{need.what}: {'available' if need.what in available else 'not available'}" for need in found)


def _listed(key: str, value: Any, known: Mapping[str, str]) -> list[Need]:
    """The needs in a text or list of tools, such as `Read, Bash(git:*)`."""
    texts = value if isinstance(value, list) else [value]
    names = [name for text in texts if isinstance(text, str) for name in _TOOL.findall(_without_brackets(text))]
    return [Need(known[name.lower()], key, name) for name in names if name.lower() in known]


def _without_brackets(text: str) -> str:
    """The text without what is in brackets; behind the last one that closes, none is looked for to the end."""
    head, close, tail = text.rpartition(")")
    return _IN_BRACKETS.sub("", head + close) + tail


def _compatibility(values: Mapping[str, Any]) -> list[Need]:
    text = values.get("compatibility")
    clauses = _CLAUSE.split(text[: frontmatter.COMPATIBILITY_LIMIT]) if isinstance(text, str) else ()
    return [
        Need(what, "compatibility", clause.strip())
        for clause in clauses
        for what, stated in _STATED.items()
        if stated.search(clause) and not _NOT.search(clause)
    ]


def _sentence_before(text: str, at: int) -> str:
    return re.split(r"[.;\n]", text[max(0, at - 100) : at])[-1]


def _once(found: Iterable[Need]) -> list[Need]:
    """Each need by what said it first."""
    first: dict[str, Need] = {}
    for need in found:
        first.setdefault(need.what, need)
    return list(first.values())


@lru_cache(maxsize=20_000)
def _read_once(path: str, stamp: int) -> tuple[Need, ...]:
    """What a body needs, read once for each stamp: the goals of a batch share it."""
    return _read(path, stamp)


def _read(path: str, _stamp: int) -> tuple[Need, ...]:
    try:
        text = frontmatter.decode(read_all(path))
    except OSError:
        return ()
    return tuple(in_body(frontmatter.split(text).body))
