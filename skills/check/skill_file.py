"""The rules for SKILL.md: the Agent Skills specification's, and what makes a skill be found. Pure on text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from skills.check.finding import Finding, Severity
from skills.check.wording import chinese
from skills.document import Document, DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
KNOWN = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "model",
    "arguments",
    "when_to_use",
    "version",
)
LINK = re.compile(r"!?\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
ELSEWHERE = re.compile(r"^([a-z][a-z0-9+.-]*:|#|//)", re.IGNORECASE)
CODE = re.compile(r"^(```|~~~).*?^\1|(`+)[^`\n]+\2", re.MULTILINE | re.DOTALL)
NEARLY_ARGUMENTS = re.compile(r"\$ARGUMENT\b(?!S)|\$\{ARGUMENTS\}|\{\{\s*\$?ARGUMENTS\s*\}\}|\$arguments\b|\$ARGS\b")
TRIGGER = re.compile(r"\b(use|when|whenever|for|if|triggers?|asked?|before|after)\b|当|用于|适用|使用|时", re.I)
PERSON = re.compile(r"\b(I|I'm|my|you can|your)\b")
VAGUE = re.compile(r"^(helps?|assists?|a (helpful|useful) |does |various|stuff|things)\b", re.I)
BODY_LINES = 500
BODY_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Parts:
    """A SKILL.md taken apart: its frontmatter, where each key stands, its body and where that begins."""

    data: dict[str, Any]
    document: Document
    body: str
    body_line: int

    def line(self, key: str) -> int:
        """The line of a key in the file."""
        return self.document.line((key,)) + 1 if key in self.data else 1


def split(text: str) -> Parts | Finding:
    """The parts, or why there are none."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[start].rstrip() != "---":
        return _error("frontmatter", 1, "has no frontmatter", "begin with `---`, name, description and `---`")
    end = next((n for n in range(start + 1, len(lines)) if lines[n].rstrip() == "---"), None)
    if end is None:
        return _error("frontmatter", start + 1, "the frontmatter does not end", "close it with a line `---`")
    try:
        document = Document.parse("\n" * start + "\n".join(lines[start + 1 : end]))
    except DocumentError as error:
        return _error("frontmatter", error.line + 1, f"the frontmatter {error.what}", error.remedy)
    if not isinstance(document.data, dict):
        return _error("frontmatter", start + 1, "the frontmatter is no mapping", "write `name:` and `description:`")
    return Parts(document.data, document, "\n".join(lines[end + 1 :]), end + 2)


def check(text: str, folder: str, exists: Callable[[str], bool]) -> list[Finding]:
    """All findings on the text of a SKILL.md in a folder of this name; `exists` answers for its links."""
    parts = split(text)
    if isinstance(parts, Finding):
        return [parts]
    found = [*_name(parts, folder), *_description(parts), *_fields(parts)]
    found += [*_body(parts), *_links(parts, exists), *_arguments(parts)]
    if text.startswith("\ufeff") or "\r\n" in text:
        remedy = "save it as UTF-8 without a byte-order mark and with plain line ends; --fix does it"
        found.append(Finding("file-form", "warning", 1, "has a byte-order mark or CRLF line ends", remedy))
    return found


def _name(parts: Parts, folder: str) -> list[Finding]:
    name, line = parts.data.get("name"), parts.line("name")
    if not isinstance(name, str) or not name:
        return [_error("name", line, "has no name", f"write `name: {slug(folder)}`")]
    found = []
    if not NAME.fullmatch(name) or len(name) > 64:
        message = f"name {name!r} is not of the form of a skill's name"
        found.append(_error("name", line, message, f"use a-z, 0-9 and single -, 64 at most: {slug(name)}"))
    if folder and name != folder:
        message = f"name {name!r} is not its folder's name, {folder!r}"
        found.append(_error("name-folder", line, message, "rename one of them; --fix takes the folder's"))
    return found


def _description(parts: Parts) -> list[Finding]:
    text, line = parts.data.get("description"), parts.line("description")
    if not isinstance(text, str) or not text.strip():
        return [_error("description", line, "has no description", "say what it does and when to use it")]
    found = []
    if len(text) > 1024:
        message = f"the description has {len(text)} characters"
        found.append(_error("description", line, message, "write 1,024 characters at most"))
    rules: tuple[tuple[bool, str, str], ...] = (
        (
            TRIGGER.search(text) is None,
            "does not say when to use the skill",
            "add `Use when …`, or 当……时使用",
        ),
        (
            len(text) < (10 if chinese(text) else 20),
            "is too short to be found by",
            "name the task, its objects and the words people use",
        ),
        (PERSON.search(text) is not None, "speaks as I or to you", "write in the third person: `Reads …`"),
        (VAGUE.search(text) is not None, "begins vaguely", "begin with what it does"),
    )
    for broken, what, remedy in rules:
        if broken:
            found.append(Finding("trigger", "warning", line, f"the description {what}", remedy))
    return found


def _fields(parts: Parts) -> list[Finding]:
    found = []
    for key in parts.data:
        if key not in KNOWN:
            message = f"the key {key!r} is not in the specification"
            found.append(Finding("fields", "warning", parts.line(str(key)), message, "move it under metadata"))
    compatibility = parts.data.get("compatibility")
    if compatibility is not None and not (isinstance(compatibility, str) and 0 < len(compatibility) <= 500):
        line = parts.line("compatibility")
        found.append(_error("fields", line, "compatibility is not text of 1 to 500 characters", "shorten it"))
    metadata = parts.data.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        found.append(_error("fields", parts.line("metadata"), "metadata is no mapping", "write `key: value` lines"))
    return found


def _body(parts: Parts) -> list[Finding]:
    lines = parts.body.count("\n") + 1
    if not parts.body.strip():
        return [_error("body", parts.body_line, "has no body", "write the instructions after the frontmatter")]
    if lines > BODY_LINES or len(parts.body) > BODY_CHARACTERS:
        message = f"the body has {lines} lines and {len(parts.body):,} characters"
        remedy = f"keep it under {BODY_LINES} lines; move details into files that it links to"
        return [Finding("body-length", "warning", parts.body_line, message, remedy)]
    return []


def _links(parts: Parts, exists: Callable[[str], bool]) -> list[Finding]:
    prose = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), parts.body)
    found = []
    for match in LINK.finditer(prose):
        target = match[1].split("#")[0].replace("%20", " ")
        if not target or ELSEWHERE.match(match[1]):
            continue
        line = parts.body_line + prose.count("\n", 0, match.start())
        if PurePosixPath(target).is_absolute():
            found.append(_error("link", line, f"the link {target} is absolute", "link relative to the folder"))
        elif not exists(target):
            found.append(_error("link", line, f"the link {target} leads nowhere", "add the file or mend the link"))
    return found


def _arguments(parts: Parts) -> list[Finding]:
    found = []
    for match in NEARLY_ARGUMENTS.finditer(parts.body):
        line = parts.body_line + parts.body.count("\n", 0, match.start())
        found.append(_error("arguments", line, f"{match[0]} is not filled", "write $ARGUMENTS; --fix does it"))
    count = parts.body.count("$ARGUMENTS")
    if count > 3:
        message = f"$ARGUMENTS stands {count} times"
        remedy = "name it once and refer to it: each place is filled with the whole text"
        found.append(Finding("arguments", "warning", parts.body_line, message, remedy))
    return found


def slug(text: str) -> str:
    """A name in the form of a skill's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64].strip("-")


def _error(rule: str, line: int, message: str, remedy: str) -> Finding:
    severity: Severity = "error"
    return Finding(rule, severity, line, message, remedy)
