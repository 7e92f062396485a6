"""The values of a check: a finding, and a report on one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule, with a message and a remedy; `fix` repairs it if it is `fixable`."""

    rule: str
    severity: Severity
    line: int
    message: str
    remedy: str
    fixable: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All findings in one file."""

    path: Path
    problems: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings do not count."""
        return not any(finding.severity == "error" for finding in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON, with the remedy in each message."""
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
