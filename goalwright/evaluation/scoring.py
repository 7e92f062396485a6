"""Scores runs: reads each from the journal and applies the checks of its case, the cheapest first."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from goalwright.batch.engines.in_process import InProcess
from goalwright.evaluation.checks.answer_checks import CHECKS, EVIDENCE, CheckResult, answer_check, file_check
from goalwright.evaluation.checks.command_check import CommandCheck
from goalwright.evaluation.checks.regex_check import RegexMatcher, regex_check
from goalwright.evaluation.judge import Judge, Material, judge_settings
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
    from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
    from pathlib import Path

    from goalwright.batch.options import BatchOptions
    from goalwright.evaluation.case import Case
    from goalwright.models.budget import Budget
    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.settings import Settings


T = TypeVar("T")

# Statuses of runs with an answer.
_ANSWERED = ("done", "partial")
_CONCURRENCY = 64
_SKIPPED_EVENTS = ("catalogue_taken", "prompt_made", "call_started", "answer_judged", "file_kept", "tool_logged")


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one run; `passed` is None if its case has no checks."""

    case: str
    variant: str
    repeat: int
    result: Result
    checks: tuple[CheckResult, ...] = ()

    @property
    def passed(self) -> bool | None:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks) if self.checks else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as `--json` prints it."""
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
    """A run to score; `row` is its line in the results file, in case its record is gone."""

    case: Case
    variant: str
    repeat: int
    run_id: str
    row: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunScorer:
    """Scores runs; without a `judge`, expectations are skipped."""

    goalwright: Goalwright
    judge: Judge | None = None
    commands: CommandCheck | None = None
    matcher: RegexMatcher = field(default_factory=RegexMatcher)

    async def score_all(self, runs: Sequence[ScoredRun]) -> list[Score]:
        """Score runs, in order."""
        limit = asyncio.Semaphore(_CONCURRENCY)

        async def score(run: ScoredRun) -> Score:
            async with limit:
                return await self.score(run)

        return await all_of(map(score, runs))

    async def score(self, run: ScoredRun) -> Score:
        """Score one run by the checks of its case."""
        result, artifacts = self._read(run)
        checks: list[CheckResult] = []
        if run.case.checks and result.status not in _ANSWERED:
            reason = f"{result.status}: {result.error or 'no answer'}"
            checks.append(CheckResult("the run ends with an answer", passed=False, evidence=shorten(reason, EVIDENCE)))
        else:
            checks += await self._check(run.case, result, artifacts)
        return Score(run.case.id, run.variant, run.repeat, result, tuple(checks))

    async def _check(self, case: Case, result: Result, artifacts: Artifacts) -> list[CheckResult]:
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
        """Read the result and artifacts of a run; artifacts from another machine are restored from the journal."""
        goalwright, artifacts = self.goalwright, Artifacts.of(self.goalwright.paths.workspace, run.run_id)
        capture, ledger = records.capture(goalwright.paths, run.run_id), Ledger()
        for row in goalwright.journal.store.rows(run.run_id, types=_event_types()):
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
def _event_types() -> tuple[str, ...]:
    """Return the types of events that a result is made of, without long prompts."""
    return tuple(name for kind in Event.__subclasses__() if (name := type_of(kind)) not in _SKIPPED_EVENTS)


def _from_row(run: ScoredRun) -> Result:
    """Build the result of a run that could not start from its line in the results file."""
    row = run.row or {}
    error = str(row.get("error") or "the journal does not have this run")
    return Result(run.run_id, "failed", run.case.goal, None, error, None, (), (), Usage(), row.get("cost_usd"), None)


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results in order; an error is raised after all have ended, so that no paid result is lost."""
    pending = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        if pending:
            await asyncio.wait(pending)
        return [future.result() for future in pending]
    finally:
        for future in pending:
            future.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def passed_by_case(scores: Iterable[Score], variant: str) -> dict[str, list[bool]]:
    """Return the outcomes of a variant's runs by case; cases without checks are left out."""
    outcomes: dict[str, list[bool]] = {}
    for score in scores:
        if score.variant == variant and score.passed is not None:
            outcomes.setdefault(score.case, []).append(score.passed)
    return outcomes


@asynccontextmanager
async def judging(
    workspace: Path, settings: Settings, limits: BatchOptions, *, judge: str | None = None, after: Budget | None = None
) -> AsyncIterator[tuple[RunScorer, Judge]]:
    """Open a scorer and its judge, whose calls have the rate limits and the budget of a batch.

    The budget already spent on runs is given by `after`.
    """
    engine = InProcess.of(workspace, settings, limits)
    if after is not None:
        engine.budget.cost, engine.budget.usage = after.cost, after.usage
    goalwright = engine.runtime()
    chosen, _ = judge_settings(goalwright.models.settings(), judge)
    model = Judge(goalwright, chosen, engine.budget)
    scorer = RunScorer(goalwright, model, CommandCheck(goalwright))
    try:
        yield scorer, model
    finally:
        scorer.matcher.close()
        await model.settle()
        await engine.close()
