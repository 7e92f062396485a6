"""One call of `weft batch`, from the checked file to the exit status."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError, SetupError
from weft.cli import execution
from weft.cli.view import batch_report, output

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from weft.batch.engines.in_process import InProcess
    from weft.batch.goals import BatchGoal, GoalFile
    from weft.batch.results import EarlierResult
    from weft.batch.runner import Batch, BatchOptions
    from weft.cli.view.output_mode import OutputMode
    from weft.settings.settings import Settings


class Sitting:
    """One call of the command."""

    def __init__(
        self, workspace: Path, settings: Settings, mode: OutputMode, target: Path, flags: dict[str, Any]
    ) -> None:
        from weft.batch.engines.in_process import InProcess
        from weft.batch.goal_order import GoalOrder
        from weft.batch.limits.dedupe import ReplyCache
        from weft.batch.limits.limited_model import CallLimits
        from weft.batch.limits.rate_limiter import Rates
        from weft.models.budget import Budget

        self.mode, self.target, self.flags = mode, target, flags
        self.options: BatchOptions = flags["options"]
        self.errors: Path | None = flags["errors"]
        self.files = list(filter(None, (target, self.errors)))
        self.limits = CallLimits(Rates(flags["max_calls"], flags["rpm"], flags["tpm"]))
        self.budget = Budget(flags["max_cost"], flags["max_tokens"])
        answers = ReplyCache() if flags["dedupe"] else None
        self.engine: InProcess = InProcess(workspace, settings, self.limits, self.budget, answers)
        named = [name.strip() for name in (flags["models"] or "").split(",")]
        models = tuple(dict.fromkeys(filter(None, named)))
        self.order = GoalOrder(flags["limit"], flags["shuffle"], models, flags["repeat"])

    def run(self, file: str, *, trust: bool) -> int:
        from weft.batch import goals, results
        from weft.cli import model_download, trust_prompt

        weft = self.engine.runtime()
        with goals.opened(file, check=self._check()) as known:
            for key, line in known.unused.items():
                output.say_warning(f"{known.name}, line {line}: {key!r} means nothing here and is not used")
            if self.flags["dry_run"]:
                return self._preview(known)
            asking = self._asking(known)
            names = self._names(asking)
            _check_models(names)
            with results.held(self.target):
                if not self.flags["resume"]:
                    results.fresh(self.target, self.errors)  # another batch may have ended since
                    results.forget(self.target)
                _ = weft.journal  # one that cannot be used is said before any goal is begun
                weft.workspace.prompts.check()  # likewise, or every goal would fail by it
                history = self._past(known)
                trust_prompt.settle(weft.workspace.tools, trust=trust, quiet=self.mode.quiet)
                model_download.offer(names, yes=self.flags["yes"], quiet=self.mode.quiet)
                return asyncio.run(self._run(known, history, asking.total()))

    def _check(self) -> Any:
        """Find fault with what the file alone cannot show: skills that are not there, plans that cannot run."""
        from planner.plan.shape import SHAPES
        from planner.plan.validate import nearest, problems
        from weft.runs.goal import Goal

        known = self.engine.runtime().workspace.known()

        def check(goal: BatchGoal) -> str:
            faults = [
                f"there is no skill {name!r}; {nearest(name, list(known.skills))}"
                for name in goal.skills
                if name not in known.skills
            ]
            try:
                Goal(goal.text)
            except InputError as error:
                faults.append(error.message)
            if goal.plan is not None:
                faults += [f"its plan: {fault}" for fault in problems(SHAPES["full"].widen(goal.plan), known)]
            return "; ".join(faults)

        return check

    def _asking(self, known: GoalFile) -> Counter[str | None]:
        """How many goals ask each model, or, where they name none, the usual one; plans of tools may ask none."""
        from weft.batch.engine import goal_of

        weft = self.engine.runtime()
        goals = self.order.runs(known)
        return Counter(goal.model for goal in goals if goal.plan is None or weft.asks(goal_of(goal)))

    def _names(self, asking: Iterable[str | None]) -> tuple[str, ...]:
        """All models that may be asked, with those that roles have of their own and those to fall back to."""
        runtimes = [self.engine.runtime(name) for name in asking]
        return tuple(dict.fromkeys(name for weft in runtimes for name in weft.models))

    def _past(self, known: GoalFile) -> dict[str, EarlierResult]:
        from weft.batch import results
        from weft.batch.runner import check_past

        if not self.flags["resume"]:
            return {}
        self._find_errors()
        history = results.recall(*self.files)
        again = check_past(self.order.runs(known), history, self.options)
        results.remember(self.target, {name: history[name] for name in again if name in history})
        for path in self.files:
            results.drop(path, again)
        return history

    def _find_errors(self) -> None:
        """Take up the files of goals that are not done, of earlier sittings too; without --errors the last one."""
        from weft.batch import results

        before = results.apart(self.target)
        if self.errors is None and before:
            self.errors = before[-1]
            if not self.mode.quiet:
                output.say(f"Goals that are not done stand in {self.errors}, as before.")
        files = filter(None, (self.target, *before, self.errors))
        self.files = list({file.resolve(): file for file in files}.values())

    async def _run(self, known: GoalFile, history: dict[str, EarlierResult], asking: int) -> int:
        from weft.batch.results import Results
        from weft.batch.runner import Batch
        from weft.batch.summary import BatchSummary
        from weft.cli.view.batch_progress import watching

        summary = BatchSummary(self.order.count(known.count))
        results = Results(self.target, self.errors)
        with watching(self.mode, summary, self.limits) as watch:
            sitting = Batch(self.engine, results, history, self.budget, self.options, summary, watch)
            _on_interrupt(sitting)
            through = False
            try:
                await self.engine.warm(asking)
                await sitting.run(self.order.runs(known))
                through = sitting.through
            finally:
                await self.engine.close()
                results.close(through=through)
        status = self._end(sitting)
        if sitting.stopped == "interrupted":
            execution.leave(status)
        return status

    def _end(self, sitting: Batch) -> int:
        from weft.batch import results
        from weft.batch.experiment import comparison

        document = sitting.summary.to_dict() | {"stopped": sitting.stopped, "output": str(self.target)}
        if self.order.compares:
            document["models"] = comparison(results.read(*self.files))
        if self.mode.as_json:
            output.print_json(document)
        else:
            batch_report.print_summary(document)
        if sitting.stopped is not None:
            output.say(f"Stopped ({sitting.stopped}). Go on with:\n  {_again()}")
        good = sitting.summary.all_well
        return {"interrupted": 130, "budget": 5, "failures": 1}.get(sitting.stopped or "", 0 if good else 1)

    def _preview(self, known: GoalFile) -> int:
        """What would run, at least; nothing is asked and nothing is touched."""
        skills_here = self.engine.runtime().workspace.skills
        skills, goals, none, calls = Counter[str](), 0, 0, 0
        for goal in self.order.runs(known):
            found = skills_here.select(goal.text, goal.skills, skills_here.active())
            skills.update(one.name for one in found)
            goals, none = goals + 1, none + (not found)
            calls += _least_calls(goal)
        document = {"goals": goals, "without_skill": none, "skills": dict(skills.most_common(20)), "calls": calls}
        if self.mode.as_json:
            output.print_json(document)
        else:
            batch_report.print_preview(document)
        return 0


def _least_calls(goal: BatchGoal) -> int:
    """One to plan and one for its only task; or what the plan that it brings needs."""
    from weft.batch.engine import plan_of

    plan = plan_of(goal)
    if plan is None:
        return 2
    return sum(task.action_type != "tool" for task in plan.tasks) + plan.needs_synthesis


def _on_interrupt(sitting: Batch) -> None:
    """The first Ctrl-C lets what is under way finish; the second stops it; the third ends the program."""
    loop = asyncio.get_running_loop()
    times = iter(("finishing what is under way … (Ctrl-C again to stop it)", "stopping …"))

    def pressed() -> None:
        text = next(times)
        output.say(f"\n{text}")
        if text.startswith("finishing"):
            sitting.finish_what_runs()
            return
        sitting.stop_now()
        loop.remove_signal_handler(signal.SIGINT)  # the third ends the program, as it does any other

    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGINT, pressed)
        loop.add_signal_handler(signal.SIGTERM, sitting.stop_now)


def _check_models(names: Iterable[str]) -> None:
    """Find out before thousands of goals fail one by one whether a model can be asked at all."""
    from weft.doctor.model_check import find_problem

    for found in filter(None, map(find_problem, names)):
        if found.certain:
            raise SetupError(found.what, hint=found.remedy)


def _again() -> str:
    """The command that goes on with what this one began."""
    given: list[str] = click.get_current_context().obj or ["batch", "…"]
    return shlex.join(["weft", *given, *([] if "--resume" in given else ["--resume"])])
