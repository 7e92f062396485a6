"""Scores runs: reads each from its record and holds it against the checks of its case, the cheapest first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from goalwright.evaluation.checks.answer_checks import CHECKS, EVIDENCE, CheckResult, answer_check
from goalwright.evaluation.checks.file_check import file_check
from goalwright.evaluation.checks.regex_check import RegexMatcher, regex_check
from goalwright.evaluation.judge import Judge, Material
from goalwright.runs.stored import records
from goalwright.runs.stored.restoring import kept_contents
from goalwright_executor.history.ledger import Ledger
from goalwright_executor.history.result import Result
from goalwright_executor.results.artifacts import Artifacts
from goalwright_executor.results.file_contents import FileContents
from goalwright_planner.events import Event, decode, type_of
from goalwright_planner.model import Usage
from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping, Sequence

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.checks.command_check import CommandCheck
    from goalwright.runs.runtime import Goalwright

T = TypeVar("T")

# A run that ended so has an answer to look at.
_ANSWERED = ("done", "partial")
_AT_A_TIME = 64
_NOT_NEEDED = ("catalogue_taken", "prompt_made", "call_started", "answer_judged", "file_kept", "tool_logged")


@dataclass(frozen=True, slots=True)
class Score:
    """A run of a case with a variant, held against the checks; `passed` is None if the case has none."""

    case: str
    variant: str
    repeat: int
    result: Result
    checks: tuple[CheckResult, ...] = ()

    @property
    def passed(self) -> bool | None:
        """Whether every check passed."""
        return all(check.passed for check in self.checks) if self.checks else None

    def to_dict(self) -> dict[str, Any]:
        """The row as `--json` prints it."""
        return {
            "case": self.case,
            "variant": self.variant,
            "repeat": self.repeat,
            "run_id": self.result.run_id,
            "passed": self.passed,
            "checks": [check.to_dict() for check in self.checks],
        }


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run to be scored: where it stands in the evaluation; `row` is its line of results, if its record is gone."""

    case: Case
    variant: str
    repeat: int
    run_id: str
    row: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunScorer:
    """Holds runs against checks; without a `judge`, expectations are left out."""

    goalwright: Goalwright
    judge: Judge | None = None
    commands: CommandCheck | None = None
    matcher: RegexMatcher = field(default_factory=RegexMatcher)

    async def score_all(self, runs: Sequence[ScoredRun]) -> list[Score]:
        """The scores of runs, in their order."""
        room = asyncio.Semaphore(_AT_A_TIME)

        async def one(run: ScoredRun) -> Score:
            async with room:
                return await self.score(run)

        return await all_of(map(one, runs))

    async def score(self, run: ScoredRun) -> Score:
        """One run against the checks of its case."""
        result, artifacts = self._read(run)
        checks: list[CheckResult] = []
        if run.case.checks and result.status not in _ANSWERED:
            told = f"{result.status}: {result.error or 'no answer'}"
            checks.append(CheckResult("the run ends with an answer", passed=False, evidence=shorten(told, EVIDENCE)))
        else:
            checks += await self._checked(run.case, result, artifacts)
        return Score(run.case.id, run.variant, run.repeat, result, tuple(checks))

    async def _checked(self, case: Case, result: Result, artifacts: Artifacts) -> list[CheckResult]:
        checks: list[CheckResult] = []
        material = Material.of(result, artifacts) if self.judge is not None and case.expectations else None
        for check in case.checks:
            if check.kind in CHECKS:
                checks.append(answer_check(check, result))
            elif check.kind == "regex":
                checks.append(regex_check(check, result, self.matcher))
            elif check.kind == "file":
                checks.append(file_check(check, result, artifacts))
            elif check.kind == "command" and self.commands is not None:
                checks.append(await self.commands.run(check, case, result, artifacts))
            elif check.kind == "expectation" and self.judge is not None and material is not None:
                checks.append(await self.judge.check(check.value, check.name, result, material))
        return checks

    def _read(self, run: ScoredRun) -> tuple[Result, Artifacts]:
        """A run's result and its files; those that are only on another machine are written from the journal."""
        goalwright, artifacts = self.goalwright, Artifacts.of(self.goalwright.paths.workspace, run.run_id)
        capture, ledger = records.capture(goalwright.paths, run.run_id), Ledger()
        for row in goalwright.journal.store.rows(run.run_id, types=_needed()):
            if (event := decode(row.type, capture.local(row.body))) is not None:
                ledger.note(event)
        if not ledger.run_id:
            return _from_row(run), artifacts
        result = ledger.result(goalwright.journal.url)
        if result.artifacts and any(check.kind in ("file", "command", "expectation") for check in run.case.checks):
            kept = partial(kept_contents, goalwright.journal.store, run.run_id, capture)
            FileContents(artifacts, capture).restore(result.artifacts, kept)
        return result, artifacts


@cache
def _needed() -> tuple[str, ...]:
    """The events that decide a run's result; the long texts of prompts are not among them."""
    return tuple(name for kind in Event.__subclasses__() if (name := type_of(kind)) not in _NOT_NEEDED)


def _from_row(run: ScoredRun) -> Result:
    """The result of a run that could not start, by its line of results."""
    row = run.row or {}
    error = str(row.get("error") or "the journal does not have this run")
    return Result(run.run_id, "failed", run.case.goal, None, error, None, (), (), Usage(), row.get("cost_usd"), None)


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results, in order. One that fails is raised once the others have ended: what they pay for is not lost."""
    pending = [asyncio.ensure_future(one) for one in work]
    try:
        if pending:
            await asyncio.wait(pending)
        return [one.result() for one in pending]
    finally:
        for one in pending:
            one.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def passed_by_case(scores: Iterable[Score], variant: str) -> dict[str, list[bool]]:
    """The outcomes of a variant's runs, by case; cases without checks have none."""
    found: dict[str, list[bool]] = {}
    for score in scores:
        if score.variant == variant and score.passed is not None:
            found.setdefault(score.case, []).append(score.passed)
    return found
