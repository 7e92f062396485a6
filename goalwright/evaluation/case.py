"""A case of an evaluation: a goal, and the checks for its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.evaluation.checks.check import CaseCheck


@dataclass(frozen=True, slots=True)
class Case:
    """A goal with its files and checks; cases are split evenly by tag.

    `expected` is the author's description of a good answer, which no model sees. `folder` is the folder of the case
    file, `unused` lists unknown keys.
    """

    id: str
    goal: str
    files: tuple[Path, ...] = ()
    checks: tuple[CaseCheck, ...] = ()
    tags: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    model: str | None = None
    plan: Mapping[str, Any] | None = None
    expected: str = ""
    folder: Path = field(default_factory=Path)
    line: int = 0
    unused: tuple[str, ...] = ()

    @property
    def expectations(self) -> tuple[str, ...]:
        """The sentences that a judge must confirm."""
        return tuple(check.value for check in self.checks if check.kind == "expectation")

    @property
    def has_commands(self) -> bool:
        """Return whether a check runs a program."""
        return any(check.kind == "command" for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the case as in a case file, with absolute paths."""
        document: dict[str, Any] = {"id": self.id, "goal": self.goal, "checks": [check.raw for check in self.checks]}
        optional = {
            "files": [str(path) for path in self.files],
            "tags": list(self.tags),
            "skills": list(self.skills),
            "model": self.model,
            "plan": self.plan,
            "expected_output": self.expected,
        }
        return document | {key: value for key, value in optional.items() if value}
