"""A SKILL.md taken apart for its rules: as discovery reads it, and every key with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills.check.finding import Finding
from skills.format import frontmatter, lenient_yaml
from skills.format.yaml_lines import Document, DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = re.compile(r"^(```|~~~).*?^\1|(`+)[^`\n]+\2", re.MULTILINE | re.DOTALL)
# A block of a programming language has variables of its own; one of text shows what the task receives.
PROGRAM = re.compile(r"^(```+|~~~+)[ \t]*(?!(?:text|txt|markdown|md)\b)\w.*?^\1", re.MULTILINE | re.DOTALL)
NEARLY_ARGUMENTS = re.compile(r"\$ARGUMENT\b(?!S)|\$\{ARGUMENTS\}|\{\{\s*\$?ARGUMENTS\s*\}\}|\$arguments\b|\$ARGS\b")


@dataclass(frozen=True, slots=True)
class Parts:
    """Its frontmatter, the block and the line where that begins, where each key stands, and its body."""

    data: dict[str, Any]
    document: Document
    block: str
    block_line: int
    body: str

    @property
    def body_line(self) -> int:
        """The first line below the frontmatter."""
        return self.block_line + self.block.count("\n") + 1

    def line(self, key: str) -> int:
        """The line of a key in the file."""
        return self.document.line((key,)) + self.block_line - 1 if key in self.data else 1

    def at(self, position: int) -> int:
        """The line of a place in the body."""
        return self.body_line + self.body.count("\n", 0, position)

    @property
    def prose(self) -> str:
        """The body with its code blanked, every place where it was."""
        return CODE.sub(_blank, self.body)


def split(text: str) -> Parts | Finding:
    """The parts, or why there are none."""
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
        return Finding("frontmatter", "error", cut.line, "the frontmatter is no mapping", remedy)
    return Parts(document.data, document, cut.block, cut.line, cut.body)


def misspelt(body: str) -> Iterator[re.Match[str]]:
    """What was meant as $ARGUMENTS and is not: in a program it is a variable."""
    return NEARLY_ARGUMENTS.finditer(PROGRAM.sub(_blank, body))


def _remedy(block: str, error: DocumentError) -> str:
    if r"'\t'" in error.what:
        return "use spaces, not tabs"
    if "unacceptable character" in error.what:
        return "delete that character, which cannot be seen"
    if "constructor" in error.what:
        return "write plain text: a tag such as !!x is refused"
    return lenient_yaml.remedy(block, error.line)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
