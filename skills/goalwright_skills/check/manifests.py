"""The rules for the text of a `skill.yaml`; `running` has those for calling its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.check import wording
from goalwright_skills.check.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.skill import Problem
    from goalwright_skills.tools.parameter import Parameter


def broken(problems: Sequence[Problem]) -> list[Finding]:
    """What keeps a tool from being offered: its name, entry, runtime or types."""
    return [Finding(p.rule or "manifest-form", "error", p.line, p.what, p.remedy) for p in problems]


def worded(manifest: Manifest) -> list[Finding]:
    """How a tool describes itself to a model."""
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
    """A tool's description: a verb first, a limit, the right length."""
    findings = []
    if not wording.starts_with_verb(text):
        first = text.split()[0] if text.split() else ""
        message = f"the description does not start with a verb: {first}"
        remedy = "start with what it does, such as Read, List or 读取"
        findings.append(Finding("description-verb", "error", line, message, remedy))
    if not wording.states_limit(text):
        message = "the description states neither a limit nor a precondition"
        remedy = "say what it needs or its limit, such as `files up to 20 MB` or 文件上限 20MB"
        findings.append(Finding("description-limit", "error", line, message, remedy))
    if not wording.right_length(text):
        message = f"the description has {len(text)} characters"
        remedy = "write 20 to 80 characters in Chinese, 20 to 200 in other languages"
        findings.append(Finding("description-length", "error", line, message, remedy))
    return findings


def parameters(items: Sequence[Parameter], lines: Sequence[int]) -> list[Finding]:
    """Each parameter's description: what it is, its constraint or default, an example."""
    findings = []
    for parameter, line in zip(items, lines, strict=True):
        missing = wording.missing_parts(parameter.description, constrained=bool(parameter.enum))
        if missing:
            message = f"the description of parameter {parameter.name} lacks {', '.join(missing)}"
            remedy = "say what it is, its constraint or default, and an example: `… (default 10). Example: 20`"
            findings.append(Finding("parameter-description", "error", line, message, remedy))
    return findings
