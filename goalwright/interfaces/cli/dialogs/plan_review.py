"""`run --review`: show a plan, and let the user run, edit or reject it."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.dialogs.terminal import typed_line
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output, plan_graph, width
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager

    from goalwright.interfaces.cli.execution import RunFunction
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.plan.plan import Plan

_CHOICES = "Run this plan? [y]es, [e]dit it, [n]o: "
_HINT = "write the plan with `goalwright plan GOAL -o plan.yaml`, then run it with `goalwright run --plan plan.yaml`"


def check_terminal(mode: OutputMode, *, dry_run: bool) -> None:
    """Raise unless a plan can be reviewed at the terminal."""
    if dry_run:
        raise InputError("--review and --dry-run cannot be used together", hint="leave one of them out")
    if mode.as_json:
        raise InputError("--review and --json cannot be used together", hint=_HINT)
    if not terminal.can_ask():
        raise InputError("--review needs a terminal", hint=_HINT)


@dataclass(frozen=True, slots=True)
class PlanReview:
    """Asks the user about a plan; `paused` hides the progress meanwhile.

    The plan can refer to the tasks of earlier turns of the conversation (`earlier`).
    """

    goalwright: Goalwright
    goal: str
    paused: Callable[[], AbstractContextManager[None]]
    earlier: Collection[str] = ()

    async def ask(self, plan: Plan) -> Plan | None:
        """Return the plan to run, edited or not; None if the user rejects it."""
        with self.paused():
            text = None
            output.say(drawn(plan))
            while True:
                match (await typed_line(_CHOICES) or "n").strip().lower()[:1]:
                    case "y":
                        return plan
                    case "n":
                        return None
                    case "e":
                        text, edited = await self._edited(plan, text)
                        if edited is not None:
                            plan, text = edited, None
                            output.say(drawn(plan))
                    case _:
                        continue

    async def _edited(self, plan: Plan, text: str | None) -> tuple[str | None, Plan | None]:
        """Return the edited text and its plan; an invalid plan is None, and its text is edited further."""
        from goalwright.runs.plans import plan_file

        try:
            text = await in_editor(text if text is not None else plan_file.dump(plan, "yaml", self.goal))
            edited = plan_file.parse(text, "as edited", self.goalwright.workspace.known(self.earlier))
        except InputError as error:
            output.say(f"{error.message}\n{hint_for(error)}")
            return text, None
        if not edited.plan.tasks:
            output.say("The plan as edited has no tasks.")
            return text, None
        return text, edited.plan


def reviewed_run(goalwright: Goalwright, goal: Goal, paused: Callable[[], AbstractContextManager[None]]) -> RunFunction:
    """Return a run of the goal that shows its plan first."""
    return partial(goalwright.run, goal, review=PlanReview(goalwright, goal.text, paused).ask)


def drawn(plan: Plan) -> str:
    graph = plan_graph.draw(plan, width.of(sys.stderr))
    return f"\nThe plan has {counted(len(plan.tasks), 'task')}:\n\n{graph}\n"


async def in_editor(text: str) -> str:
    """Open a text in the user's editor; returns the edited text."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="goalwright-review-") as folder:  # readable by this user only
        file = Path(folder) / "plan.yaml"
        file.write_text(text, encoding="utf-8")
        try:
            editor = await asyncio.create_subprocess_exec(*command, str(file))
        except (OSError, IndexError) as error:
            raise InputError(f"the editor {shlex.join(command)} cannot be started: {error}", hint=_EDITOR) from error
        try:
            status = await editor.wait()
        finally:
            if editor.returncode is None:  # the run is stopped
                editor.terminate()
                await editor.wait()
        if status != 0:
            raise InputError(
                f"the editor {shlex.join(command)} exited with status {status}; nothing was changed", hint=_EDITOR
            )
        try:
            return file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the edited plan cannot be read: {error}", hint="edit it again") from error


_EDITOR = "set the variable EDITOR to your editor, such as nano"
