"""`weft batch`: thousands of goals, unattended."""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError, SetupError
from skills.plural import counted
from weft.cli import options, output, reach
from weft.cli.options import Voice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft.batch.batch import Batch, Manner
    from weft.batch.engine import InProcess
    from weft.batch.experiment import Comparison
    from weft.batch.goals import BatchGoal, GoalFile
    from weft.batch.results import Past
    from weft.settings import Settings

# Nobody waits at the terminal: a provider that asks for fewer calls is given ten minutes.
_PATIENCE = 600.0
_RATE = click.FloatRange(0, min_open=True)


@click.command()
@click.argument("file")
@options.written("Write the results to this file, a line a goal.", required=True)
@click.option("--errors", type=click.Path(path_type=Path), help="Write goals that are not done to this file instead.")
@click.option("--jobs", type=click.IntRange(1), default=8, show_default=True, help="Goals at a time.")
@click.option(
    "--max-calls", type=click.IntRange(1), default=32, show_default=True, help="Model calls at a time, of all goals."
)
@click.option("--rpm", type=_RATE, help="Calls a minute, for each model.")
@click.option("--tpm", type=_RATE, help="Tokens a minute, for each model.")
@click.option("--resume", is_flag=True, help="Go on with an earlier sitting; goals that ended are left as they are.")
@click.option("--retry-errors", is_flag=True, help="With --resume: run those that did not end well again.")
@click.option("--rerun-changed", is_flag=True, help="With --resume: run goals that have changed since again.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first goal that fails.")
@click.option("--max-failures", metavar="N|P%", help="Stop when more goals than this failed.")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many goals.")
@click.option("--shuffle", is_flag=True, help="In random order.")
@click.option("--dedupe", is_flag=True, help="Make identical calls once.")
@click.option("--models", metavar="NAMES", help="An experiment: each goal with each of these models (a,b,c).")
@click.option("--repeat", type=click.IntRange(1), default=1, help="An experiment: each goal so many times.")
@click.option("--dry-run", is_flag=True, help="Show what would be selected, and an estimate; make no call.")
@options.models
@options.fetching
@options.skills
@options.tools
@options.journal
@options.common
def batch(file: str, workspace: Path, target: Path, **rest: Any) -> int:
    """Run every goal of FILE (.jsonl, .txt, .csv, .yaml, or `-`) and write a line of results for each.

    A line of JSONL is {"goal": "…"}, with "id", "skills", "model", "vars" and "plan" where you like. The whole file is
    checked first. --timeout is for each goal, --max-cost and --max-tokens are for the whole batch.

    \b
    Examples:
      weft batch goals.jsonl -o results.jsonl
      weft batch goals.txt -o results.jsonl --jobs 20 --rpm 500 --max-cost 10
      weft batch goals.jsonl -o results.jsonl --resume --retry-errors
      weft batch goals.jsonl -o compared.jsonl --models openai/gpt-4o,anthropic/claude-sonnet-4-5 --repeat 3

    Exit status: 0 all done, 1 some not, 2 wrong usage or input, 4 no model or key, 5 stopped by a limit,
    130 interrupted.
    """
    from weft.batch import results
    from weft.cli import trusting

    voice = Voice(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    where = options.places(workspace)
    trust = rest.pop("trust")
    if trust:
        trusting.workspace(where)
    names = ("model", "fallback", "timeout", "detector", "strict_skills", "unsafe_tools", "journal")
    resolved = options.settings(where, {name: rest[name] for name in names}, quiet=voice.quiet)
    # These two are the batch's, not each goal's, but bad ones are refused in the same words.
    options.settings(where, {name: rest[name] for name in ("max_cost", "max_tokens")}, quiet=True)
    settings = resolved.settings
    if "retry_patience" not in resolved.origins:
        settings = replace(settings, retry_patience=_PATIENCE)
    if not rest["dry_run"]:
        options.tell_journal(where, resolved, quiet=voice.quiet)
    if not rest["resume"] and not rest["dry_run"]:
        results.fresh(target, rest["errors"])
    return _Sitting(workspace, settings, voice, target, rest).run(file, trust=trust)


class _Sitting:
    """One call of the command."""

    def __init__(self, workspace: Path, settings: Settings, voice: Voice, target: Path, flags: dict[str, Any]) -> None:
        from weft.batch.dedupe import Answers
        from weft.batch.engine import InProcess
        from weft.batch.pooled import Traffic
        from weft.batch.traffic import Rates
        from weft.models.budget import Budget

        self.voice, self.target, self.flags = voice, target, flags
        self.manner = _manner(flags)
        self.traffic = Traffic(Rates(flags["max_calls"], flags["rpm"], flags["tpm"]))
        self.budget = Budget(flags["max_cost"], flags["max_tokens"])
        answers = Answers() if flags["dedupe"] else None
        self.engine: InProcess = InProcess(workspace, settings, self.traffic, self.budget, answers)
        self.models = [name.strip() for name in (flags["models"] or "").split(",") if name.strip()]

    def run(self, file: str, *, trust: bool) -> int:
        from weft.batch import goals, results
        from weft.cli import pulling, trusting

        weft = self.engine.runtime()
        with goals.opened(file, check=self._check()) as known:
            if self.flags["dry_run"]:
                return self._preview(known)
            names = self.models or weft.models
            _check_models(names)
            with results.held(self.target):
                if not self.flags["resume"]:
                    results.fresh(self.target, self.flags["errors"])  # another batch may have ended since
                _ = weft.journal  # one that cannot be used is said before any goal is begun
                past = self._past(known)
                trusting.settle(weft.surroundings.toolshed, trust=trust, quiet=self.voice.quiet)
                pulling.offer(names, yes=self.flags["yes"], quiet=self.voice.quiet)
                return asyncio.run(self._carry_out(known, past))

    def _check(self) -> Any:
        """Find fault with what the file alone cannot show: skills that are not there, plans that cannot run."""
        from planner.shape import SHAPES
        from planner.validate import nearest, problems

        known = self.engine.runtime().surroundings.known()

        def check(goal: BatchGoal) -> str:
            faults = [
                f"there is no skill {name!r}; {nearest(name, list(known.skills))}"
                for name in goal.skills
                if name not in known.skills
            ]
            if goal.plan is not None:
                faults += [f"its plan: {fault}" for fault in problems(SHAPES["full"].widen(goal.plan), known)]
            return "; ".join(faults)

        return check

    def _goals(self, known: GoalFile) -> Iterable[BatchGoal]:
        from weft.batch.experiment import variants

        return variants(known, self.models, self.flags["repeat"]) if self._experiment else known

    @property
    def _experiment(self) -> bool:
        return bool(self.models) or self.flags["repeat"] > 1

    def _past(self, known: GoalFile) -> dict[str, Past]:
        from weft.batch import results
        from weft.batch.batch import check_past

        if not self.flags["resume"]:
            return {}
        errors: Path | None = self.flags["errors"]
        past = results.recall(self.target, errors)
        again = check_past(self._goals(known), past, self.manner)
        results.remember(self.target, {name: past[name] for name in again if name in past})
        for path in filter(None, (self.target, errors)):
            results.drop(path, again)
        return past

    async def _carry_out(self, known: GoalFile, past: dict[str, Past]) -> int:
        from weft.batch.batch import Batch
        from weft.batch.experiment import Comparison
        from weft.batch.results import Results
        from weft.batch.summary import Summary
        from weft.cli.batch_view import watching

        arms = max(len(self.models), 1) * self.flags["repeat"]
        count = known.count * arms
        summary = Summary(min(count, self.manner.limit or count))
        comparison = Comparison() if self._experiment else None
        results = Results(self.target, self.flags["errors"])
        with watching(self.voice, summary, self.traffic) as watch:
            sitting = Batch(self.engine, results, past, self.budget, self.manner, summary, watch)
            sitting.ended = comparison.add if comparison is not None else None
            _on_interrupt(sitting)
            through = False
            try:
                await self.engine.warm(summary.goals)
                await sitting.run(self._goals(known))
                through = sitting.stopped is None
            finally:
                await self.engine.close()
                results.close(through=through)
        status = self._end(sitting, comparison)
        if sitting.stopped == "interrupted":
            reach.leave(status)
        return status

    def _end(self, sitting: Batch, comparison: Comparison | None) -> int:
        document = sitting.summary.to_dict() | {"stopped": sitting.stopped, "output": str(self.target)}
        if comparison is not None:
            document["models"] = comparison.rows()
        if self.voice.as_json:
            output.print_json(document)
        else:
            _print(document)
        if sitting.stopped is not None:
            output.say(f"Stopped ({sitting.stopped}). Go on with:\n  {_again()}")
        good = all(
            document[name] == 0 for name in ("partial", "failed", "out_of_time", "clarification", "skipped_not_done")
        )
        return {"interrupted": 130, "budget": 5, "failures": 1}.get(sitting.stopped or "", 0 if good else 1)

    def _preview(self, known: GoalFile) -> int:
        from collections import Counter

        shelf = self.engine.runtime().surroundings.shelf
        skills, none = Counter[str](), 0
        for goal in known:
            found = shelf.select(goal.text, goal.skills, shelf.skills())
            skills.update(one.name for one in found)
            none += not found
        least = known.count * 2 * max(len(self.models), 1) * self.flags["repeat"]
        document = {"goals": known.count, "without_skill": none, "skills": dict(skills.most_common(20)), "calls": least}
        if self.voice.as_json:
            output.print_json(document)
            return 0
        goals, calls = counted(known.count, "goal"), counted(least, "call")
        output.print_text(f"{goals}, {none} of them without a skill that fits; at least {calls}.")
        for name, times in skills.most_common(20):
            output.print_text(f"{times:>7}  {name}")
        return 0


def _manner(flags: dict[str, Any]) -> Manner:
    from weft.batch.batch import Manner

    text = "0" if flags["fail_fast"] else flags["max_failures"]
    most, share = None, False
    if text is not None:
        if not re.fullmatch(r"\d+(\.\d+)?%?", text):
            raise InputError(f"--max-failures {text!r} is neither a number nor a share", hint="such as 20 or 5%")
        share = text.endswith("%")
        most = float(text.rstrip("%")) / (100 if share else 1)
    if not flags["resume"] and (flags["retry_errors"] or flags["rerun_changed"]):
        raise InputError("--retry-errors and --rerun-changed go with --resume", hint="add --resume, or leave them out")
    return Manner(
        flags["jobs"], flags["limit"], flags["shuffle"], most, share, flags["retry_errors"], flags["rerun_changed"]
    )


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
    from weft.readiness import lack

    for found in filter(None, map(lack, names)):
        if found.certain:
            raise SetupError(found.what, hint=found.remedy)


def _again() -> str:
    """The command that goes on with what this one began."""
    given: list[str] = click.get_current_context().obj or ["batch", "…"]
    return shlex.join(["weft", *given, *([] if "--resume" in given else ["--resume"])])


def _print(document: dict[str, Any]) -> None:
    cost = "unknown" if document["cost_usd"] is None else f"${document['cost_usd']:.4f}"
    counts = ", ".join(f"{document[name]} {name}" for name in ("done", "partial", "failed", "clarification"))
    times = document["seconds"]
    output.print_text(f"{counted(document['goals'], 'goal')}: {counts}, {document['skipped']} from before")
    usage = document["usage"]
    output.print_text(
        f"{counted(usage['calls'], 'call')}, "
        f"{counted(usage['prompt_tokens'] + usage['completion_tokens'], 'token')}, cost {cost}; "
        f"p50 {times['p50'] or 0:g} s, p95 {times['p95'] or 0:g} s a goal"
    )
    for fault in document["errors"]:
        output.print_text(f"{fault['goals']:>7}  went wrong: {' '.join(fault['error'].split())[:300]}")
    for skill in document["skills"]:
        output.print_text(f"{skill['goals']:>7}  {skill['name']}")
    for one in document.get("models", ()):
        known = "unknown" if one["cost_usd"] is None else f"${one['cost_usd']:.4f}"
        output.print_text(
            f"{one['model']:<32} success {one['success']:.0%}  cost {known}  p50 {one['seconds_p50']} s  "
            f"{one['tokens']} tokens  {one['tasks']} tasks  agreement {one['agreement']:.0%}"
        )
