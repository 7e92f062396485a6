"""The rules for the docs page of functions: every section of the template, filled in. No I/O."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_skills.check.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each section with the headings it may have, in English or Chinese.
SECTIONS = (
    ("overview", ("overview", "概述")),
    ("tools", ("tools", "工具列表")),
    ("when", ("when to use", "何时使用")),
    ("details", ("tools in detail", "in detail", "工具详细说明")),
    ("examples", ("examples", "使用示例")),
    ("left out", ("left out", "裁剪决策")),
)
PLACEHOLDER = re.compile(r"<[a-z][a-z _-]+>|TODO|TBD|…fill", re.IGNORECASE)


def check(text: str, tools: tuple[str, ...]) -> Iterator[Finding]:
    """All findings on the page of a domain with these tools."""
    sections = _sections(text)
    for name, headings in SECTIONS:
        match = next((s for s in sections if any(s[0] == h or s[0].startswith(h) for h in headings)), None)
        if match is None:
            remedy = f"add `## {headings[0].capitalize()}`, as in the template"
            yield Finding("docs-section", "error", 1, f"the page has no section {name!r}", remedy)
        elif not match[2].strip():
            remedy = "fill it in as the template says"
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
    """Each second-level heading in lower case, its line, and the text below it."""
    found: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            found.append((line[3:].strip().lower(), number, []))
        elif found:
            found[-1][2].append(line)
    return [(heading, number, "\n".join(lines)) for heading, number, lines in found]
