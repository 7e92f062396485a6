"""The values of a check: a finding, and a report on one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule: where, how severe, what is wrong, and how to fix it."""

    rule: str
    severity: Severity
    line: int
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings on one file; warnings alone leave it `ok`."""

    path: Path
    problems: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity == "error" for finding in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """The report as `skills check --json` prints it, with the remedy in each message."""
        problems = [
            {
                "rule": problem.rule,
                "severity": problem.severity,
                "line": problem.line,
                "message": f"{problem.message}; {problem.remedy}",
            }
            for problem in self.problems
        ]
        return {"path": str(self.path), "ok": self.ok, "problems": problems}
