"""Review a skill of any kind: a folder with SKILL.md, skill.yaml or both, or functions with their docs page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.check import docs_page, skill_file
from goalwright_skills.check.finding import Finding, Report
from goalwright_skills.check.keys import unknown
from goalwright_skills.check.manifests import broken, described, parameters, worded
from goalwright_skills.check.running import ran
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.executable import ExecutableTool, ToolHost
from goalwright_skills.programs.manifest import FILE
from goalwright_skills.programs.tool_names import NAME

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goalwright_skills.functions.functions import FunctionTool


async def review(
    folder: Path, host: ToolHost | None, *, root: bool = False, able: Collection[str] = ()
) -> list[Report]:
    """A report on each skill file of a folder; without a host its tools are not run; `able` is what tasks can do."""
    reports = []
    if _stands(folder / "SKILL.md"):
        reports.append(skill_md(folder / "SKILL.md", root=root, able=able))
    if _stands(folder / FILE):
        reports.append(await _manifest(folder, host))
    if not reports:
        remedy = "write a SKILL.md or a skill.yaml in it"
        finding = Finding("no-skill", "error", 1, "contains neither SKILL.md nor skill.yaml", remedy)
        reports.append(Report(folder, (finding,)))
    return reports


def _stands(path: Path) -> bool:
    return os.path.lexists(path)  # a link into nowhere is worth a word too


def skill_md(path: Path, *, root: bool = False, able: Collection[str] = ()) -> Report:
    """The report on a SKILL.md; with `root` its name need not match its folder."""
    try:
        text = untrusted_files.read(path).decode()
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        return Report(path, (Finding("file-form", "error", 1, what, "make it a readable text file"),))
    except UnicodeDecodeError:
        return Report(path, (Finding("file-form", "error", 1, "is not UTF-8 text", "save it as UTF-8"),))
    folder = path.parent

    def exists(target: str) -> bool:
        return (folder / target).exists()

    name = "" if root else folder.resolve().name
    return Report(path, tuple(skill_file.check(text, name, exists, able)))


async def _manifest(folder: Path, host: ToolHost | None) -> Report:
    found, problems = manifests.read(folder)
    findings = broken(problems)
    if found:
        findings += unknown(found[0].spot.document)
    for manifest in found:
        findings += worded(manifest)
        if host is not None:
            findings += await ran(ExecutableTool(manifest, host))
    return Report(folder / FILE, tuple(sorted(findings, key=lambda finding: finding.line)))


def review_function(tools: Sequence[FunctionTool], page: Path) -> list[Report]:
    """The reports on a domain's functions and their docs page."""
    reports = []
    for tool in tools:
        source = tool.function.__code__
        line = source.co_firstlineno
        findings = described(tool.description, line) + parameters(tool.inputs, [line] * len(tool.inputs))
        if not NAME.fullmatch(tool.name):
            message = f"tool name {tool.name!r} does not have the form <domain>_<action>"
            findings.append(Finding("manifest-name", "error", line, message, "rename the entry point"))
        reports.append(Report(Path(source.co_filename), tuple(findings)))
    names = tuple(tool.name for tool in tools)
    if page.is_file():
        return [*reports, Report(page, tuple(docs_page.check(page.read_text(encoding="utf-8"), names)))]
    remedy = "write it from docs/skills/_template.md"
    return [*reports, Report(page, (Finding("docs-page", "error", 1, "the docs page is missing", remedy),))]
