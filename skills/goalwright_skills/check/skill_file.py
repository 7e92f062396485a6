"""The rules for SKILL.md: the Agent Skills specification, and advice that helps a skill to be selected. No I/O."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills.check.finding import Finding
from goalwright_skills.check.parts import misspelt, split
from goalwright_skills.check.wording import chinese
from goalwright_skills.discovery.needs import SETTINGS, declared, in_body
from goalwright_skills.skill import INVOCABLE_KEY, MANUAL_KEY, fits, slug, switch
from goalwright_skills.text.formatting import cut as shorten
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from goalwright_skills.check.parts import Parts

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
    MANUAL_KEY,
    INVOCABLE_KEY,
    "requires",
    "depends_on",
)
_OWN = (MANUAL_KEY, INVOCABLE_KEY)
# Possessive, and neither part passes an opening bracket, so that no position is scanned to the end of the text twice.
LINK = re.compile(r"!?\[[^\[\]\n]*+\]\(\s*+<?([^()\s>]++)>?(?:\s+\"[^\"]*\")?\s*\)")
ELSEWHERE = re.compile(r"^([a-z][a-z0-9+.-]*:|#|//)", re.IGNORECASE)
TRIGGER = re.compile(r"\b(use|when|whenever|for|if|triggers?|asked?|before|after)\b|当|用于|适用|使用|时", re.I)
PERSON = re.compile(r"\b(I(?!/)|I'm|my|you can|your)\b")
VAGUE = re.compile(r"^(helps?|assists?|a (helpful|useful) |does |various|stuff|things)\b", re.I)
# The text that `goalwright skills new` leaves for the author to replace.
UNWRITTEN = "Describe here, step by step, how to do it"
BODY_LINES = 500
BODY_CHARACTERS = 20_000


def check(text: str, folder: str, exists: Callable[[str], bool], able: Collection[str] = ()) -> list[Finding]:
    """Return all findings on the text of a SKILL.md in a folder of this name.

    `exists` checks the targets of its links; `able` are the capabilities of tasks, such as web access.
    """
    parts = split(text)
    if isinstance(parts, Finding):
        return [parts]
    found = [*_name(parts, folder), *_description(parts), *_fields(parts), *_twice(parts)]
    found += [*_body(parts), *_links(parts, exists), *_arguments(parts), *_form(text, parts)]
    found += _needs(parts, able)
    return sorted(found, key=lambda finding: finding.line)


def _form(text: str, parts: Parts) -> Iterator[Finding]:
    if text.startswith("\ufeff") or "\r\n" in text:
        remedy = "save it as UTF-8 without a byte-order mark and with LF line endings"
        yield Finding("file-form", "warning", 1, "has a byte-order mark or CRLF line endings", remedy, fixable=True)
    if parts.block_line > 2:
        remedy = "move the text above `---` below the frontmatter: other agents do not find the frontmatter there"
        yield Finding("file-form", "warning", 1, "does not start with its frontmatter", remedy)
    last = parts.body_line - 1
    if re.split(r"\r\n|\r|\n", text)[last - 1].rstrip() != "---":
        remedy = "end it with a line `---` without indentation: other agents read past this one"
        message = "the frontmatter does not end with a line `---`"
        yield Finding("file-form", "warning", last, message, remedy)


def _not_text(parts: Parts, key: str) -> list[Finding]:
    """The finding on a value that YAML does not read as text."""
    value = parts.data[key]
    kind = {list: "a list", dict: "a mapping", bool: "true or false"}.get(type(value), "a number")
    remedy = "write it as one text" if isinstance(value, list | dict) else "put it in quotes"
    return [_error(key, parts.line(key), f"{key} is {kind}, not text", remedy)]


def _twice(parts: Parts) -> list[Finding]:
    block = f"\n{parts.block}"
    return [
        _error(key, parts.line(key), f"{key} is given more than once, and the last one is used", "keep one of them")
        for key in ("name", "description")
        if block.count(f"\n{key}:") > 1
    ]


def _name(parts: Parts, folder: str) -> list[Finding]:
    name, line = parts.data.get("name"), parts.line("name")
    if name is None or name == "":
        return [_error("name", line, "has no name", f"write `name: {slug(folder) or 'its-name'}`")]
    if not isinstance(name, str):
        return _not_text(parts, "name")
    found = []
    if not fits(name):
        message = f"name {name!r} is not a valid skill name"
        remedy = f"use at most 64 of a-z, 0-9 and single hyphens: {slug(name)}"
        found.append(_error("name", line, message, remedy))
    if folder and name != folder:
        message = f"name {name!r} differs from its folder, {folder!r}"
        fixable = fits(folder)
        remedy = "give both the same name" if fixable else f"name both {slug(name)}"
        found.append(Finding("name-folder", "error", line, message, remedy, fixable))
    return found


def _description(parts: Parts) -> list[Finding]:
    text, line = parts.data.get("description"), parts.line("description")
    if text is None or (isinstance(text, str) and not text.strip()):
        return [_error("description", line, "has no description", "say what it does and when to use it")]
    if not isinstance(text, str):
        return _not_text(parts, "description")
    found = []
    if len(text) > 1024:
        message = f"the description has {len(text)} characters"
        found.append(_error("description", line, message, "write at most 1,024 characters"))
    rules: tuple[tuple[bool, str, str], ...] = (
        (
            TRIGGER.search(text) is None,
            "does not say when to use the skill",
            "add `Use when …`, or 当……时使用",
        ),
        (
            len(text) < (10 if chinese(text) else 20),
            "is too short for the skill to be selected",
            "name the task, its objects and the words people use",
        ),
        (PERSON.search(text) is not None, "uses the first or second person", "use the third person: `Reads …`"),
        (VAGUE.search(text) is not None, "starts vaguely", "start with what it does"),
    )
    for broken, what, remedy in rules:
        if broken:
            found.append(Finding("trigger", "warning", line, f"the description {what}", remedy))
    return found


def _fields(parts: Parts) -> Iterator[Finding]:
    for key in parts.data:
        if key not in KNOWN:
            near = guess(str(key).lower(), [name for name in KNOWN if name not in parts.data])
            message = f"the key {key!r} is not in the specification and is ignored"
            remedy = f"write {near}" if near else "move it under metadata, unless another agent reads it"
            yield Finding("fields", "warning", parts.line(str(key)), message, remedy)
    compatibility = parts.data.get("compatibility")
    if compatibility is not None and not (isinstance(compatibility, str) and 0 < len(compatibility) <= 500):
        line = parts.line("compatibility")
        yield _error("fields", line, "compatibility is not text of 1 to 500 characters", "shorten it")
    metadata = parts.data.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        yield _error("fields", parts.line("metadata"), "metadata is not a mapping", "write `key: value` lines")
    for key in _OWN:
        if isinstance(metadata, dict) and key in metadata:
            message = f"the key {key!r} does nothing under metadata"
            yield Finding("fields", "warning", parts.line("metadata"), message, "write it beside metadata")
        if parts.data.get(key) is not None and switch(parts.data[key]) is None:
            message = f"{key} is neither true nor false; it is ignored"
            yield _error("fields", parts.line(key), message, f"write `{key}: true` or `{key}: false`")


def _body(parts: Parts) -> list[Finding]:
    lines = parts.body.count("\n") + 1
    if not parts.body.strip():
        return [_error("body", parts.body_line, "has no body", "write the instructions after the frontmatter")]
    if UNWRITTEN in parts.body:
        line = parts.at(parts.body.index(UNWRITTEN))
        remedy = "write down the steps in it"
        return [Finding("body", "warning", line, "the body is still the one from `goalwright skills new`", remedy)]
    if lines > BODY_LINES or len(parts.body) > BODY_CHARACTERS:
        message = f"the body has {lines} lines and {len(parts.body):,} characters"
        remedy = f"keep it under {BODY_LINES} lines and move details into linked files"
        return [Finding("body-length", "warning", parts.body_line, message, remedy)]
    return []


def _links(parts: Parts, exists: Callable[[str], bool]) -> Iterator[Finding]:
    prose = parts.prose
    for match in LINK.finditer(prose):
        target = match[1].split("#")[0].replace("%20", " ")
        if not target or ELSEWHERE.match(match[1]):
            continue
        line = parts.at(match.start())
        if PurePosixPath(target).is_absolute():
            yield _error("link", line, f"the link {target} is absolute", "use a path relative to the folder")
        elif not exists(target):
            yield _error("link", line, f"the link {target} is broken", "add the file or fix the link")


def _arguments(parts: Parts) -> Iterator[Finding]:
    for match in misspelt(parts.body):
        message = f"{match[0]} is not replaced"
        yield Finding("arguments", "error", parts.at(match.start()), message, "write $ARGUMENTS", fixable=True)
    count = parts.body.count("$ARGUMENTS")
    if count > 3:
        message = f"$ARGUMENTS is used {count} times"
        remedy = "use it once and refer to it: each one is replaced by the whole text"
        yield Finding("arguments", "warning", parts.body_line, message, remedy)


def _needs(parts: Parts, able: Collection[str]) -> list[Finding]:
    """Warn about capabilities that a skill needs and tasks lack."""
    missing = {
        need.capability: need for need in (*in_body(parts.body), *declared(parts.data)) if need.capability not in able
    }
    return [
        Finding(
            "needs",
            "warning",
            parts.line(need.key) if need.key else parts.at(need.position),
            f"needs {need.capability} ({need.key or 'the body'}: {shorten(need.text, 60)}), which tasks lack here",
            f"allow it with the setting {SETTINGS[need.capability]}, say in the instructions what to do without it, or "
            "provide a tool for it in a skill.yaml",
        )
        for need in missing.values()
    ]


def _error(rule: str, line: int, message: str, remedy: str) -> Finding:
    return Finding(rule, "error", line, message, remedy)
