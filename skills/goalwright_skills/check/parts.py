"""Splits a SKILL.md into frontmatter and body, with the line of every key."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goalwright_skills.check.finding import Finding
from goalwright_skills.format import frontmatter, lenient_yaml
from goalwright_skills.format.yaml_lines import Document, DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Inline code starts with a whole run of backticks; otherwise each backtick of a long run would be tried as a start.
CODE = re.compile(r"^(```|~~~).*?^\1|(?<!`)(`++)[^`\n]++\2", re.MULTILINE | re.DOTALL)
# A block in a programming language has its own variables; a block of text shows the prompt of a task.
PROGRAM = re.compile(r"^(```+|~~~+)[ \t]*(?!(?:text|txt|markdown|md)\b)\w.*?^\1", re.MULTILINE | re.DOTALL)
NEARLY_ARGUMENTS = re.compile(r"\$ARGUMENT\b(?!S)|\$\{ARGUMENTS\}|\{\{\s*\$?ARGUMENTS\s*\}\}|\$arguments\b|\$ARGS\b")
_LINE_END = re.compile("\n")


@dataclass(frozen=True)
class Parts:
    """The parsed frontmatter, its text and first line, and the body."""

    data: dict[str, Any]
    document: Document
    block: str
    block_line: int
    body: str

    @property
    def body_line(self) -> int:
        """The number of the first line below the frontmatter."""
        return self.block_line + self.block.count("\n") + 1

    def line(self, key: str) -> int:
        """Return the line of a key in the file."""
        return self.document.line((key,)) + self.block_line - 1 if key in self.data else 1

    def at(self, position: int) -> int:
        """Return the line of a position in the body."""
        return self.body_line + bisect_left(self._ends, position)

    @cached_property
    def _ends(self) -> list[int]:
        """The positions of the line ends of the body; cached, since there may be as many findings as lines."""
        return [match.start() for match in _LINE_END.finditer(self.body)]

    @property
    def prose(self) -> str:
        """The body with code replaced by blanks, so that positions stay the same."""
        return CODE.sub(_blank, self.body)


def split(text: str) -> Parts | Finding:
    """Split a text into its parts, or return a finding if that is impossible."""
    cut = frontmatter.split(text)
    if cut.fault:
        return Finding("frontmatter", "error", cut.line, cut.fault, cut.remedy)
    try:
        document = Document.parse(cut.block)
    except DocumentError as error:
        message = f"the frontmatter {' '.join(error.what.split())}"
        return Finding("frontmatter", "error", cut.line + error.line - 1, message, _remedy(cut.block, error))
    if not isinstance(document.data, dict):
        remedy = "write `name:` and `description:`"
        return Finding("frontmatter", "error", cut.line, "the frontmatter is not a mapping", remedy)
    return Parts(document.data, document, cut.block, cut.line, cut.body)


def misspelt(body: str) -> Iterator[re.Match[str]]:
    """Yield misspellings of $ARGUMENTS outside programs, where they would be variables."""
    return NEARLY_ARGUMENTS.finditer(PROGRAM.sub(_blank, body))


def _remedy(block: str, error: DocumentError) -> str:
    if r"'\t'" in error.what:
        return "use spaces, not tabs"
    if "unacceptable character" in error.what:
        return "delete that character, which is invisible"
    if "constructor" in error.what:
        return "write plain text: tags such as !!x are not allowed"
    return lenient_yaml.remedy(block, error.line)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
