"""Parses a SKILL.md: its frontmatter, its body, and every problem in it.

    text ── split ──> block ── plain, else YAML, else key by key ──> fields ── judge ──> Parsed

Lenient about the mistakes in real files, strict about dangerous content: see `safe_yaml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright_skills.format import plain_yaml
from goalwright_skills.format.plain_yaml import Fields, Malformed, Unsafe
from goalwright_skills.skill import IGNORED, INVOCABLE_KEY, LENGTH, MANUAL_KEY, Problem, fits, slug, switch
from goalwright_skills.text.untrusted import carries_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FRONTMATTER_LIMIT = 64 * 1024
DESCRIPTION_LIMIT = 1_024
COMPATIBILITY_LIMIT = 500

# Blank lines and HTML comments (usually a licence) may precede it; atomic groups prevent backtracking.
_OPENING = re.compile(r"(?>[ \t\n]+|<!--.*?-->)*+---[ \t]*\n", re.DOTALL)
_LOOSE_CLOSING = re.compile(r"^(?: {1,3}---|\.\.\.)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"(?<=\n)[ \t]*\n(?=#{1,6} \S)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TEMPLATE = "begin the file with `---`, `name:` and `description:` lines, and `---`"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed SKILL.md with all its `problems`; `broken` is the problem that makes it unusable, if any."""

    name: str
    description: str
    body: str
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    broken: Problem | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """A text split into frontmatter and body; `line` is the first line of the block, `fault` why there is none."""

    block: str
    body: str
    line: int
    fault: str = ""
    remedy: str = ""


def decode(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 or Windows-1252 if the bytes clearly are; invalid bytes become U+FFFD."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:2]:
        return data.decode("utf-16-be" if data[:1] == b"\0" else "utf-16-le", "replace")
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and text.replace("\ufffd", "").isascii():
        return data.decode("cp1252", "replace")  # there is no valid UTF-8 beyond ASCII
    return text


def split(text: str) -> Split:
    """Split a text at its two `---` lines; byte order marks, CRLF and leading blank lines are allowed."""
    text = text.lstrip("\ufeff\u200b")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("---\n"):
        start, line = 4, 2
    else:
        opening = _OPENING.match(text)
        if opening is None and text.lstrip().startswith("+++"):
            remedy = "write it as YAML: `---`, `name:` and `description:` lines, and `---`"
            return Split("", text, 1, "its frontmatter is TOML", remedy)
        if opening is None:
            return Split("", text, 1, "it has no frontmatter", _TEMPLATE)
        start = opening.end()
        line = text.count("\n", 0, start) + 1
    end, after = _closing(text, start)
    if not end and len(text) - start > FRONTMATTER_LIMIT:  # discovery only reads the start of a longer file
        fault = f"its frontmatter is not closed within {FRONTMATTER_LIMIT} characters"
        return Split("", text, line - 1, fault, "end it with a line `---`, or shorten it")
    if not end:
        return Split("", text, line - 1, "its frontmatter is not closed", "end it with a line `---`")
    if end - start > FRONTMATTER_LIMIT:
        return Split("", text, line, f"its frontmatter exceeds {FRONTMATTER_LIMIT} characters", "shorten it")
    return Split(text[start:end], text[after:], line)


def _closing(text: str, start: int) -> tuple[int, int]:
    """Return the start of the closing `---` line and of the line after it; 0 and 0 if there is none."""
    offset = text.find("\n---", start - 1)
    while offset >= 0:
        end = text.find("\n", offset + 4)
        end = len(text) if end < 0 else end
        if not text[offset + 4 : end].strip(" \t"):
            return offset + 1, end + 1
        offset = text.find("\n---", offset + 4)
    loose = _LOOSE_CLOSING.search(text, start)
    return (loose.start(), loose.end() + 1) if loose else (0, 0)


def parse(text: str, path: Path, *, folder: str = "", strict: bool = False) -> Parsed:
    """Parse a SKILL.md; never raises. Its name must match `folder`, unless that is empty."""
    cut = split(text)
    if cut.fault:
        problem = Problem(path, cut.line, cut.fault, cut.remedy, "frontmatter")
        return _broken(slug(folder or path.parent.name), problem, cut.body)
    try:
        cut, fields, problems = _fields(cut, path)
    except Malformed as error:
        remedy = "write plain `key: value` lines"
        problem = Problem(path, cut.line + error.line - 1, f"its frontmatter is refused: {error.what}", remedy, "yaml")
        return _broken(slug(folder or path.parent.name), problem, cut.body)
    return _judge(cut, fields, problems, _Where(path, folder, strict))


def compose(fields: Mapping[str, Any], body: str) -> str:
    """Return the text of a SKILL.md that `parse` reads back."""
    from goalwright_skills.format import safe_yaml

    block = safe_yaml.dump(fields)
    return f"---\n{block}---\n{body}"


@dataclass(frozen=True, slots=True)
class _Where:
    path: Path
    folder: str
    strict: bool


def _broken(name: str, problem: Problem, body: str, others: tuple[Problem, ...] = ()) -> Parsed:
    return Parsed(name, "", body, problems=(*others, problem), broken=problem)


def _fields(cut: Split, path: Path) -> tuple[Split, Fields, list[Problem]]:
    """Parse the block with the cheapest reader that can; raises only if the block is dangerous."""
    plain = plain_yaml.load(cut.block)
    if plain is not None:
        return cut, plain, []
    from goalwright_skills.format import lenient_yaml, safe_yaml

    try:
        return cut, safe_yaml.load(cut.block), []
    except Unsafe:
        raise
    except Malformed as error:
        heading = _HEADING.search(cut.block)
        if heading is not None:
            return _unclosed(cut, path, heading.start())
        fault = f"its frontmatter is not valid YAML ({error.what}) and was read as plain text"
        problem = Problem(path, cut.line + error.line - 1, fault, lenient_yaml.remedy(cut.block, error.line), "yaml")
        return cut, lenient_yaml.read(_CONTROL.sub("", cut.block)), [problem]


def _unclosed(cut: Split, path: Path, end: int) -> tuple[Split, Fields, list[Problem]]:
    """Cut an unclosed block where the body starts; its closing line was a horizontal rule in the body."""
    shorter = replace(cut, block=cut.block[:end], body=f"{cut.block[end:]}---\n{cut.body}")
    line = cut.line + cut.block.count("\n", 0, end)
    _, fields, problems = _fields(shorter, path)
    fault = "its frontmatter is not closed before its body starts"
    return shorter, fields, [Problem(path, line, fault, "end it with a line `---`", "frontmatter"), *problems]


def _judge(cut: Split, fields: Fields, problems: list[Problem], where: _Where) -> Parsed:
    values = fields.values

    def fault(key: str, what: str, remedy: str, rule: str, until: str = "") -> Problem:
        problems.append(Problem(where.path, _line(cut, key), what, remedy, rule, until=until))
        return problems[-1]

    raw = _text(fields, "name", cut)
    name = raw if fits(raw) else slug(raw) or slug(where.folder or where.path.parent.name) or "skill"
    name_fault = None
    if name != raw:
        name_fault = fault(
            "name",
            f"name {raw[:80]!r} does not have the allowed form" if raw else "it has no name",
            f"use lower-case letters, digits and hyphens, at most {LENGTH}",
            "name-form",
            IGNORED if where.strict else f"it is loaded as {name!r}",
        )
    if where.folder and raw != where.folder and raw:
        remedy = "give both the same name"
        folder_fault = fault(
            "name", f"name {raw[:80]!r} differs from its folder {where.folder!r}", remedy, "name-folder"
        )
        name_fault = name_fault or folder_fault
    description = _text(fields, "description", cut).strip()
    if not description:
        fatal = fault(
            "description",
            "it has no description",
            "add `description:` with what it does and when to use it",
            "description",
        )
        return _broken(name, fatal, cut.body, tuple(problems[:-1]))
    if len(description) > DESCRIPTION_LIMIT:
        fault(
            "description",
            f"its description has {len(description)} characters",
            f"keep it within {DESCRIPTION_LIMIT}",
            "description-length",
        )
    for key in ("name", "description"):
        if f"\n{cut.block}".count(f"\n{key}:") > 1:
            fault(key, f"{key} is given more than once; the last one counts", "keep one of them", "duplicate-key")
    if isinstance(values.get("description"), list | dict):
        fault("description", "its description is not text", "write it as one text in double quotes", "description-form")
    for key, message, remedy in _oddities(values):
        fault(key, message, remedy, key)
    model = values.get("model")
    extra = {key: value for key, value in values.items() if key not in ("name", "description", "model")}
    if where.strict and name_fault is not None:
        return Parsed(name, description, cut.body, problems=tuple(problems), broken=name_fault)
    return Parsed(
        name,
        description,
        cut.body,
        model if isinstance(model, str) and model else None,
        extra,
        tuple(problems),
    )


def _text(fields: Fields, key: str, cut: Split) -> str:
    """Return a text field as it is written, even if YAML would parse it as another type."""
    for spelling in (key, key.capitalize(), key.upper()):
        if spelling not in fields.values:
            continue
        value = fields.values[spelling]
        if isinstance(value, str):
            return value.strip() if key == "name" else value
        if spelling in fields.texts:
            written = fields.texts[spelling]
            return "" if value is None and written in ("", "~") else written
        from goalwright_skills.format import lenient_yaml

        if _texts(value) and key == "description" and not fields.texts.get(spelling):
            return "; ".join(value)
        return lenient_yaml.text(lenient_yaml.chunks(cut.block).get(spelling, ""))
    return ""


def _oddities(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the problems of optional fields: the key, the fault and the remedy."""
    tools = values.get("allowed-tools")
    if tools is not None and not isinstance(tools, str) and not _texts(tools):
        what = "allowed-tools is neither a string nor a list of strings"
        yield "allowed-tools", what, "write `allowed-tools: Read Write`"
    compatibility = values.get("compatibility")
    if compatibility is not None and (not isinstance(compatibility, str) or len(compatibility) > COMPATIBILITY_LIMIT):
        what = f"compatibility is not text of at most {COMPATIBILITY_LIMIT} characters"
        yield "compatibility", what, "shorten it"
    if values.get("metadata") is not None and not isinstance(values["metadata"], dict):
        yield "metadata", "metadata is not a list of `key: value` lines", "indent such lines below it"
    if values.get("license") is not None and not isinstance(values["license"], str):
        yield "license", "license is not text", "name the licence or its file"
    if "model" in values and not (isinstance(values["model"], str) and values["model"]):
        yield "model", "model is not text", "give a model's name, or leave the key out"
    elif "model" in values and carries_address(values["model"]):
        yield "model", "model is not a name; it is ignored", "give a model's name, or leave the key out"
    if not isinstance(values.get("arguments"), str | dict | list | None):
        yield "arguments", "arguments is neither text nor a list", "describe the value of `$ARGUMENTS`"
    for key in (MANUAL_KEY, INVOCABLE_KEY):
        if values.get(key) is not None and switch(values[key]) is None:
            yield key, f"{key} is neither true nor false; it is ignored", f"write `{key}: true` or `{key}: false`"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _line(cut: Split, key: str) -> int:
    match = re.search(rf"^{re.escape(key)}[ \t]*:", cut.block, re.MULTILINE | re.IGNORECASE)
    return cut.line + cut.block.count("\n", 0, match.start() if match else 0)
