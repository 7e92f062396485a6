"""The errors of evaluations; see `goalwright/interfaces/cli/hints.py` for the flags that help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_planner.errors import ModelError
from goalwright_skills.errors import GoalwrightError, InputError, SetupError

if TYPE_CHECKING:
    from pathlib import Path


class UnknownEvaluation(InputError):
    """No evaluation has this id."""

    code = "UNKNOWN_EVALUATION"


class NoReport(InputError):
    """An evaluation has no report yet, or a damaged one; the file in `damaged` must be removed first."""

    def __init__(self, message: str, *, damaged: Path | None = None) -> None:
        self.remove = f"remove {damaged} and " if damaged is not None else ""
        super().__init__(message, hint=f"{self.remove}resume the evaluation: finished runs are not paid for again")


class EvaluationChanged(InputError):
    """The settings or skills of a resumed evaluation have changed."""


class NoJudge(InputError):
    """No judge is chosen, and each variant has its own model."""


class UntrustedChecks(SetupError):
    """Checks run programs in a folder that the user has not trusted."""


class JudgeFailed(ModelError):
    """The judge's model cannot be called; `remedy` is the hint of the model's error.

    With an `evaluation`, resuming it continues; without one, the recorded runs can be scored again.
    """

    def __init__(self, error: ModelError, evaluation: str | None = None) -> None:
        judge = f"the judge of evaluation {evaluation}" if evaluation else "the judge"
        then = "resume the evaluation: runs and verdicts are kept" if evaluation else "score again: verdicts are kept"
        hint = f"{error.hint}; then {then}" if error.hint else then
        super().__init__(f"{judge} cannot be called: {error.message}", hint=hint, model=error.model)
        self.code, self.exit_status = error.code, error.exit_status
        self.remedy, self.evaluation = error.hint, evaluation


class Interrupted(GoalwrightError):
    """The user stopped the improvement of a skill; its runs are recorded."""

    code = "INTERRUPTED"
    exit_status = 130
