"""A case of an evaluation: a goal, and what must hold for its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.evaluation.checks.check import CaseCheck


@dataclass(frozen=True, slots=True)
class Case:
    """A goal with its files, its checks, and tags by which cases are split evenly.

    `expected` is what the author says a good answer has; it is shown to no model. `folder` is where its file is,
    `unused` are its keys that have no meaning.
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
        """The sentences that a judge decides about."""
        return tuple(check.value for check in self.checks if check.kind == "expectation")

    @property
    def has_commands(self) -> bool:
        """Whether a check runs a program."""
        return any(check.kind == "command" for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """The case as a line of a file has it, its files absolute."""
        document: dict[str, Any] = {"id": self.id, "goal": self.goal, "checks": [check.raw for check in self.checks]}
        texts = {"files": [str(path) for path in self.files], "tags": list(self.tags), "skills": list(self.skills)}
        more = {"model": self.model, "plan": self.plan, "expected_output": self.expected}
        return document | {key: value for key, value in (texts | more).items() if value}
