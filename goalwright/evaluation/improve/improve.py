"""Improves a skill in rounds; each proposed edit must pass every gate, and refused edits are shown to the next round.

split the cases → score the current skill → propose → check, judge-text, selection, working, held-out → patch
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright.batch.engines.in_process import InProcess
from goalwright.evaluation.errors import Interrupted
from goalwright.evaluation.evaluate import EvaluationOptions, open_evaluation
from goalwright.evaluation.improve import gates
from goalwright.evaluation.improve.edit import BadEdit, Edit, Proposer, Rejected, applied, patch
from goalwright.evaluation.preview import workspace_of
from goalwright.evaluation.scoring import passed_by_case
from goalwright.evaluation.versions import FILE, files_of, kept, version
from goalwright.models.budget import Budget
from goalwright_planner.errors import BudgetSpent
from goalwright_skills import safe_files
from goalwright_skills.errors import InputError
from goalwright_skills.format import frontmatter
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goalwright.batch.options import BatchOptions
    from goalwright.batch.run_batch import Batch
    from goalwright.evaluation.case import Case
    from goalwright.evaluation.improve.gates import Gate, Outcomes
    from goalwright.evaluation.report import EvaluationReport
    from goalwright.evaluation.versions import Files, KeptVersion
    from goalwright.runs.runtime import Goalwright
    from goalwright_skills.skill import Skill


ROUNDS = 3
MOST_LINES = 40
_VARIANT = "skill"


@dataclass(frozen=True, slots=True)
class ImproveOptions:
    """How a skill is improved; `description` lets edits change the description."""

    rounds: int = ROUNDS
    most_lines: int = MOST_LINES
    description: bool = False
    evaluation: EvaluationOptions = field(default_factory=lambda: EvaluationOptions(repeat=3))


@dataclass(frozen=True, slots=True)
class Round:
    """A proposal, and the gate that refused it, if any; `edit` is None if the model gave no valid edit."""

    edit: Edit | None
    gate: Gate | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the round as `--json` prints it."""
        edit = self.edit.to_dict() if self.edit else None
        return {"edit": edit, "accepted": self.gate is None, "gate": self.gate, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Improvement:
    """The outcome: the patch if an edit was accepted, all rounds, and the pass rates before and after."""

    skill: str
    file: Path
    original: bytes
    text: str | None
    patch: str | None
    rounds: tuple[Round, ...]
    working: tuple[float, float | None]
    held_out: tuple[float, float | None]
    cost_usd: float | None

    def write(self) -> None:
        """Write the accepted text; raises if the file has changed meanwhile."""
        if self.text is not None:
            folder = self.file.parent
            safe_files.replace_if(self.file, self.text.encode(), self.original, below=folder, drafts=folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the improvement as `--json` prints it."""
        return {
            "skill": self.skill,
            "accepted": self.patch is not None,
            "patch": self.patch,
            "rounds": [round_.to_dict() for round_ in self.rounds],
            "working": {"before": self.working[0], "after": self.working[1]},
            "held_out": {"before": self.held_out[0], "after": self.held_out[1]},
            "cost_usd": self.cost_usd,
        }


class _Refused(Exception):
    """A gate refused an edit."""

    def __init__(self, gate: Gate, reason: str) -> None:
        super().__init__(reason)
        self.gate, self.reason = gate, reason


@dataclass(slots=True)
class Improver:
    """Improves one skill and reports each step to `say`; it can be stopped like a batch."""

    goalwright: Goalwright
    skill: Skill
    cases: Sequence[Case]
    options: ImproveOptions
    say: Callable[[str], None] = lambda _: None
    _spent: float | None = 0.0
    _budget: Budget = field(init=False)
    _working: tuple[float, float | None] = (0.0, None)
    _held_out: tuple[float, float | None] = (0.0, None)
    _batch: Batch | None = None
    _proposal: asyncio.Future[Edit] | None = None
    _stopped: bool = False

    def __post_init__(self) -> None:
        limits = self.options.evaluation.batch
        self._budget = Budget(limits.max_cost, limits.max_tokens)

    def finish_running(self) -> None:
        """Go no further: a proposal is given up, goals that run end as they will."""
        self._stopped = True
        if self._proposal is not None:
            self._proposal.cancel()
        if self._batch is not None:
            self._batch.finish_running()

    def stop_now(self) -> None:
        """Stop running goals, too."""
        self.finish_running()
        if self._batch is not None:
            self._batch.stop_now()

    async def improve(self) -> Improvement:
        """Run rounds until an edit passes every gate; the skill itself is not changed."""
        try:
            return await self._run_rounds()
        except BudgetSpent as step:
            raise self._spent_by(step) from step

    def _spent_by(self, step: BudgetSpent) -> BudgetSpent:
        """Return the error for the whole budget instead of the step's share of it."""
        self._budget.stop(step.reason)
        try:
            self._budget.check()
        except BudgetSpent as whole:
            return BudgetSpent(
                whole.message,
                hint=f"{whole.hint}, and resume: finished runs are not paid for again",
                limit=whole.limit,
                reason=step.reason,
                cost=step.cost,
                tokens=step.tokens,
            )
        return step

    async def _run_rounds(self) -> Improvement:
        work, held = split(self.cases)
        unchecked = len(self.cases) - len(work) - len(held)
        left_out = f"; {counted(unchecked, 'case')} without checks left out" if unchecked else ""
        self.say(f"{len(work)} working cases, {len(held)} held out{left_out}")
        files = files_of(self.skill.base_dir)
        if problem := gates.check(self._kept(files).folder / FILE):
            message = f"{self.skill.base_dir / FILE} fails `goalwright skills check`, as would every edit: {problem}"
            raise InputError(message, hint="repair it first")
        text = frontmatter.decode(files[FILE][0])
        before = await self._evaluate([*work, *held], files)
        outcomes = passed_by_case(before.scores, _VARIANT)
        first = _outcomes_of(outcomes, work), _outcomes_of(outcomes, held)
        self._working, self._held_out = (gates.share(first[0]), None), (gates.share(first[1]), None)
        names = {case.id for case in work}
        failed = [score for score in before.scores if score.passed is False and score.case in names]
        rounds: list[Round] = []
        changed = None
        while failed and changed is None and len(rounds) < self.options.rounds:
            last, changed = await self._round(text, files, (work, held), first, failed, rounds)
            rounds.append(last)
            self.say(f"round {len(rounds)}: {f'refused by {last.gate}: {last.reason}' if last.gate else 'accepted'}")
        self._check_stopped()
        diff = patch(text, changed, self._shown_path()) if changed is not None else None
        return Improvement(
            self.skill.name,
            self.skill.base_dir / FILE,
            files[FILE][0],
            changed,
            diff,
            tuple(rounds),
            self._working,
            self._held_out,
            None if self._spent is None else round(self._spent, 6),
        )

    async def _round(
        self,
        text: str,
        files: Files,
        cases: tuple[list[Case], list[Case]],
        first: tuple[Outcomes, Outcomes],
        failed: Sequence[Any],
        rounds: Sequence[Round],
    ) -> tuple[Round, str | None]:
        """Propose an edit and pass it through the gates; returns the changed text if it passes."""
        edit: Edit | None = None
        try:
            edit = await self._propose(text, failed, rounds)
            changed = applied(edit, text, most_lines=self.options.most_lines, description=self.options.description)
            await self._check_gates(edit, changed, files, cases, first)
        except BadEdit as error:
            return Round(edit, "check", str(error)), None
        except _Refused as refused:
            return Round(edit, refused.gate, refused.reason), None
        return Round(edit, None, edit.why), changed

    async def _propose(self, text: str, failed: Sequence[Any], rounds: Sequence[Round]) -> Edit:
        self._check_stopped()
        rejected = [Rejected(past.edit, past.gate or "", past.reason) for past in rounds if past.edit is not None]
        engine = InProcess.of(self.goalwright.paths.workspace, self.goalwright.settings, self._limits())
        goalwright = engine.runtime()
        model = goalwright.models.settings().model or goalwright.models.default.model
        proposer = Proposer(goalwright, model, self.options.most_lines, self.options.description)
        try:
            self._proposal = asyncio.ensure_future(proposer.propose(text, failed, rejected))
            return await self._proposal
        except asyncio.CancelledError:
            self._check_stopped()
            raise
        finally:
            self._proposal = None
            self._spend(proposer.cost, engine.budget)
            await engine.close()

    async def _check_gates(
        self,
        edit: Edit,
        changed: str,
        files: Files,
        cases: tuple[list[Case], list[Case]],
        first: tuple[Outcomes, Outcomes],
    ) -> None:
        """Raise if a gate refuses the edit."""
        name = self.skill.name
        edited = files | {FILE: (changed.encode(), files[FILE][1])}
        with_edit = self._kept(edited)
        _refuse("check", gates.check(with_edit.folder / FILE))
        _refuse("judge-text", gates.judge_text(edit, *cases))
        current = self.goalwright.workspace
        changed_workspace = workspace_of(
            version(_VARIANT, name, with_edit), self.goalwright.paths, self.goalwright.settings
        )
        _refuse("selection", gates.selection(name, current, changed_workspace))
        after = passed_by_case((await self._evaluate(cases[0], edited)).scores, _VARIANT)
        self._working = self._working[0], gates.share(after)
        _refuse("working", gates.working(first[0], after))
        after = passed_by_case((await self._evaluate(cases[1], edited)).scores, _VARIANT)
        self._held_out = self._held_out[0], gates.share(after)
        _refuse("held-out", gates.held_out(first[1], after))

    def _kept(self, files: Files) -> KeptVersion:
        return kept(self.goalwright.paths.cache, self.skill, files, self.goalwright.paths.skills_dir)

    async def _evaluate(self, cases: Sequence[Case], files: Files) -> EvaluationReport:
        """Evaluate cases with the skill made of these files."""
        self._check_stopped()
        options = replace(self.options.evaluation, batch=self._limits())
        with open_evaluation(
            cases,
            [version(_VARIANT, self.skill.name, self._kept(files))],
            workspace=self.goalwright.paths.workspace,
            settings=self.goalwright.settings,
            options=options,
        ) as evaluation:
            evaluation.check_models()
            self._batch = evaluation.batch
            with evaluation.batch.locked():
                report = await evaluation.run()
            self._batch = None
        costs = [score.result.cost_usd for score in report.scores]
        judged = report.judge.cost_usd if report.judge else 0.0
        cost = None if None in costs or judged is None else sum(filter(None, costs)) + judged
        self._spend(cost, evaluation.budget)
        if report.stopped == "budget":
            raise evaluation.spent or BudgetSpent("the budget is used up")
        self._stopped = self._stopped or report.stopped is not None
        self._check_stopped()
        return report

    def _check_stopped(self) -> None:
        if self._stopped:
            raise Interrupted("interrupted", hint="resume to continue; finished runs are not paid for again")

    def _limits(self) -> BatchOptions:
        """Return the limits of the next step: the rest of the budget; raises if nothing is left."""
        self._budget.check()
        limits, cost, tokens = self.options.evaluation.batch, self._budget.cost, self._budget.usage.tokens
        return replace(
            limits,
            max_cost=None if limits.max_cost is None else limits.max_cost - cost,
            max_tokens=None if limits.max_tokens is None else limits.max_tokens - tokens,
        )

    def _spend(self, cost: float | None, budget: Budget) -> None:
        """Add the known cost, and what the budget counts, which includes estimates."""
        self._spent = None if self._spent is None or cost is None else self._spent + cost
        self._budget.cost += budget.cost
        self._budget.usage += budget.usage

    def _shown_path(self) -> str:
        file, workspace = self.skill.base_dir / FILE, self.goalwright.paths.workspace
        return file.relative_to(workspace).as_posix() if file.is_relative_to(workspace) else f"{self.skill.name}/{FILE}"


def _refuse(gate: Gate, reason: str) -> None:
    if reason:
        raise _Refused(gate, reason)


def _outcomes_of(outcomes: Outcomes, cases: Sequence[Case]) -> Outcomes:
    return {case.id: outcomes[case.id] for case in cases if case.id in outcomes}


FEWEST = 9
SEED = 20_261_116


def split(cases: Sequence[Case], seed: int = SEED) -> tuple[list[Case], list[Case]]:
    """Split cases with checks into two thirds to work on and one third held out, evenly by tag."""
    total, cases = len(cases), [case for case in cases if case.checks]
    if len(cases) < FEWEST:
        message = f"there are {total} cases"
        if total > len(cases):
            message += f", of which {len(cases)} have checks or expectations"
        raise InputError(
            f"{message}, and {FEWEST} are needed: with fewer held-out cases, an improvement cannot be told from chance",
            hint="write more cases with checks, several of each kind and with tags",
        )
    dice = random.Random(seed)  # noqa: S311 - not a secret
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case.tags[:1], []).append(case)
    # Every third case is held out, shuffled within its tag and counted over all tags, which includes small groups.
    ordered = [case for tag in sorted(groups) for case in dice.sample(groups[tag], len(groups[tag]))]
    held = {case.id for case in ordered[2::3]}
    return [case for case in cases if case.id not in held], [case for case in cases if case.id in held]
