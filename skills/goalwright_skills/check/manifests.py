"""The rules for the text of a `skill.yaml`; `running` checks the behaviour of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright_skills.check import wording
from goalwright_skills.check.finding import Finding
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalwright_skills.format.yaml_lines import Document, Keys
    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.skill import Problem
    from goalwright_skills.tools.parameter import Parameter

TOOL = (
    "name", "description", "runtime", "entry", "parameters", "timeout", "env", "network", "writes", "docs",
)  # fmt: skip
FILE = (*TOOL, "tools", "metadata", "version", "license")
PARAMETER = ("name", "type", "required", "default", "description", "enum")
DOCS = ("when_to_use", "when_not_to_use", "examples")
EXAMPLE = ("scenario", "arguments")


def broken(problems: Sequence[Problem]) -> list[Finding]:
    """Report the problems that keep a tool from being offered: its name, entry, runtime or types."""
    return [Finding(p.rule or "manifest-form", "error", p.line, p.what, p.remedy) for p in problems]


def worded(manifest: Manifest) -> list[Finding]:
    """Check how a tool describes itself to a model."""
    line = manifest.spot.line
    findings = described(manifest.description, line("description"))
    findings += parameters(manifest.parameters, [line("parameters", n) for n in range(len(manifest.parameters))])
    for key, sentences in (
        ("when_to_use", manifest.docs.when_to_use),
        ("when_not_to_use", manifest.docs.when_not_to_use),
    ):
        if not sentences:
            message = f"{manifest.name} has no docs.{key}"
            remedy = f"list at least one case under docs.{key}"
            findings.append(Finding(f"docs-{key.replace('_', '-')}", "error", line("docs", key), message, remedy))
    return findings


def described(text: str, line: int) -> list[Finding]:
    """Check a tool's description: it starts with a verb, states a limit and has the right length."""
    findings = []
    if not wording.starts_with_verb(text):
        first = text.split()[0] if text.split() else ""
        message = f"the description does not start with a verb: {first}"
        remedy = "start with a verb such as Read, List or 读取"
        findings.append(Finding("description-verb", "error", line, message, remedy))
    if not wording.states_limit(text):
        message = "the description states neither a limit nor a precondition"
        remedy = "state what it needs or its limit, such as `files up to 20 MB` or 文件上限 20MB"
        findings.append(Finding("description-limit", "error", line, message, remedy))
    if not wording.right_length(text):
        message = f"the description has {len(text)} characters"
        remedy = "write 20 to 80 characters in Chinese, 20 to 200 in other languages"
        findings.append(Finding("description-length", "error", line, message, remedy))
    return findings


def parameters(items: Sequence[Parameter], lines: Sequence[int]) -> list[Finding]:
    """Check each parameter's description: its meaning, its constraint or default, and an example."""
    findings = []
    for parameter, line in zip(items, lines, strict=True):
        missing = wording.missing_parts(parameter.description, constrained=bool(parameter.enum))
        if missing:
            message = f"the description of parameter {parameter.name} lacks {', '.join(missing)}"
            remedy = "state what it is, its constraint or default, and an example: `… (default 10). Example: 20`"
            findings.append(Finding("parameter-description", "error", line, message, remedy))
    return findings


def unknown(document: Document) -> Iterator[Finding]:
    """Warn about unknown keys: most often a typo that changes what the tool may do."""
    for at, keys, known in _paths(document.data):
        for key in keys:
            if key not in known:
                near = guess(str(key), known)
                remedy = f"write {near}" if near else f"remove it; the keys are: {', '.join(known)}"
                line = document.line((*at, str(key)))
                yield Finding("manifest-key", "warning", line, f"unknown key {key!r}, ignored", remedy)


def _paths(data: Any) -> Iterator[tuple[Keys, list[Any], tuple[str, ...]]]:
    """Yield each mapping in the file: its path, its keys and the keys it may have."""
    if not isinstance(data, dict):
        return
    yield (), list(data), FILE
    yield from _within(data, ())
    for index, tool in enumerate(_list(data.get("tools"))):
        if isinstance(tool, dict):
            yield ("tools", index), list(tool), TOOL
            yield from _within(tool, ("tools", index))


def _within(tool: dict[Any, Any], at: Keys) -> Iterator[tuple[Keys, list[Any], tuple[str, ...]]]:
    for index, parameter in enumerate(_list(tool.get("parameters"))):
        if isinstance(parameter, dict):
            yield (*at, "parameters", index), list(parameter), PARAMETER
    docs = tool.get("docs")
    if isinstance(docs, dict):
        yield (*at, "docs"), list(docs), DOCS
        for index, example in enumerate(_list(docs.get("examples"))):
            if isinstance(example, dict):
                yield (*at, "docs", "examples", index), list(example), EXAMPLE


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
