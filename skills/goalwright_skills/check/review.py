"""Reviews skills of any kind: a folder with SKILL.md, skill.yaml or both, or functions with their docs page."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.check import skill_file
from goalwright_skills.check.finding import Finding, Report
from goalwright_skills.check.manifests import broken, described, parameters, unknown, worded
from goalwright_skills.check.running import ran
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.executable import ExecutableTool, ToolHost
from goalwright_skills.programs.manifest import FILE
from goalwright_skills.tools.tool import NAME

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from goalwright_skills.functions.functions import FunctionTool

# The sections of a docs page, each with the headings it may have in English or Chinese.
SECTIONS = (
    ("overview", ("overview", "概述")),
    ("tools", ("tools", "工具列表")),
    ("when", ("when to use", "何时使用")),
    ("details", ("tools in detail", "in detail", "工具详细说明")),
    ("examples", ("examples", "使用示例")),
    ("left out", ("left out", "裁剪决策")),
)
PLACEHOLDER = re.compile(r"<[a-z][a-z _-]+>|TODO|TBD|…fill", re.IGNORECASE)


async def review(
    folder: Path, host: ToolHost | None, *, root: bool = False, able: Collection[str] = ()
) -> list[Report]:
    """Return a report on each skill file of a folder.

    Without a host, its tools are not run. `able` are the capabilities of tasks. With `root`, the skill is at the
    workspace's root and need not have its folder's name.
    """
    reports = []
    if _exists(folder / "SKILL.md"):
        reports.append(skill_md(folder / "SKILL.md", root=root, able=able))
    if _exists(folder / FILE):
        reports.append(await _manifest(folder, host))
    if not reports:
        remedy = "write a SKILL.md or a skill.yaml in it"
        finding = Finding("no-skill", "error", 1, "contains neither SKILL.md nor skill.yaml", remedy)
        reports.append(Report(folder, (finding,)))
    return reports


def _exists(path: Path) -> bool:
    return os.path.lexists(path)  # also a dangling link, which is then reported


def skill_md(path: Path, *, root: bool = False, able: Collection[str] = ()) -> Report:
    """Return the report on a SKILL.md; with `root`, its name need not match its folder."""
    try:
        text = untrusted_files.read(path).decode()
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        return Report(path, (Finding("file-form", "error", 1, message, "make it a readable text file"),))
    except UnicodeDecodeError:
        return Report(path, (Finding("file-form", "error", 1, "is not UTF-8 text", "save it as UTF-8"),))
    folder = path.parent

    def exists(target: str) -> bool:
        return (folder / target).exists()

    name = "" if root else folder.resolve().name
    return Report(path, tuple(skill_file.check(text, name, exists, able)))


async def _manifest(folder: Path, host: ToolHost | None) -> Report:
    tools, problems = manifests.read(folder)
    findings = broken(problems)
    if tools:
        findings += unknown(tools[0].spot.document)
    for manifest in tools:
        findings += worded(manifest)
        if host is not None:
            findings += await ran(ExecutableTool(manifest, host))
    return Report(folder / FILE, tuple(sorted(findings, key=lambda finding: finding.line)))


def review_function(tools: Sequence[FunctionTool], page: Path) -> list[Report]:
    """Return the reports on a domain's functions and their docs page."""
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
        return [*reports, Report(page, tuple(_docs_page(page.read_text(encoding="utf-8"), names)))]
    remedy = "write it from docs/skills/_template.md"
    return [*reports, Report(page, (Finding("docs-page", "error", 1, "the docs page is missing", remedy),))]


def _docs_page(text: str, tools: tuple[str, ...]) -> Iterator[Finding]:
    """Check the docs page of a domain with these tools: every section of the template, filled in."""
    sections = _sections(text)
    for name, headings in SECTIONS:
        match = next((s for s in sections if any(s[0] == h or s[0].startswith(h) for h in headings)), None)
        if match is None:
            remedy = f"add `## {headings[0].capitalize()}`, as in the template"
            yield Finding("docs-section", "error", 1, f"the page has no section {name!r}", remedy)
        elif not match[2].strip():
            remedy = "fill it in as described in the template"
            yield Finding("docs-section", "error", match[1], f"the section {name!r} is empty", remedy)
    for tool in tools:
        if not re.search(rf"^###+ .*\b{re.escape(tool)}\b", text, re.MULTILINE):
            remedy = "give it its own subsection with parameters, a real output and its errors"
            yield Finding("docs-tool", "error", 1, f"{tool} is not described in detail", remedy)
    if text.count("```json") < 2:
        remedy = "show two complete calls with arguments and output"
        yield Finding("docs-examples", "error", 1, "the page shows fewer than two examples", remedy)
    if "|" not in text:
        yield Finding("docs-table", "error", 1, "the page has no table", "list the tools in a table")
    for number, line in enumerate(text.splitlines(), 1):
        if PLACEHOLDER.search(line) and not line.startswith("    ") and "`" not in line:
            yield Finding("docs-placeholder", "error", number, f"not filled in: {line.strip()}", "fill it in")


def _sections(text: str) -> list[tuple[str, int, str]]:
    """Return each second-level heading in lower case, its line, and the text below it."""
    sections: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            sections.append((line[3:].strip().lower(), number, []))
        elif sections:
            sections[-1][2].append(line)
    return [(heading, number, "\n".join(lines)) for heading, number, lines in sections]
