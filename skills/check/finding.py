"""The values of a check: one finding, and all of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a file breaks: where, how badly, what, and how to mend it."""

    rule: str
    severity: Severity
    line: int
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings on one file; warnings leave it in order."""

    path: Path
    problems: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no error stands."""
        return not any(finding.severity == "error" for finding in self.problems)
