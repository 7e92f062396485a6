"""The options --plan, --recipe, --after, --review and --dry-run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import stdin
from goalwright.interfaces.cli.dialogs import recipe_trust
from goalwright.interfaces.cli.option_value import option_value
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.goal import Goal
    from goalwright.runs.plans.plan_file import PlanFile
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.events import ConversationTurn


@dataclass(frozen=True, slots=True)
class SourceFlags:
    """The flags --plan, --recipe, --after, --review and --dry-run."""

    plan_file: Path | None
    recipe: str | None
    after: str | None
    review: bool
    dry_run: bool

    @property
    def has_goal(self) -> bool:
        """Whether a plan or recipe supplies the goal."""
        return self.plan_file is not None or self.recipe is not None

    def check(self, goal: str | None, values: tuple[str, ...], mode: OutputMode) -> None:
        """Raise if options contradict each other."""
        context = click.get_current_context()
        if self.recipe is None and values:
            plural = "s" if len(values) > 1 else ""
            raise click.UsageError(f"Got unexpected extra argument{plural} ({' '.join(values)})", context)
        if self.recipe is not None and self.plan_file is not None:
            raise InputError("--recipe and --plan cannot be used together", hint="leave one of them out")
        if self.recipe is not None and goal is not None and "=" not in goal:
            hint = f"give its parameters: {context.command_path} --recipe {self.recipe} NAME=VALUE"
            raise InputError("a recipe has a goal of its own", hint=hint)
        if self.review:
            from goalwright.interfaces.cli.dialogs import plan_review

            plan_review.check_terminal(mode, dry_run=self.dry_run)

    def added_to(
        self,
        goal: Goal,
        goalwright: Goalwright,
        values: tuple[str, ...],
        mode: OutputMode,
        seen: ConversationTurn | None = None,
    ) -> Goal:
        """Return the goal with its plan or recipe, whose text replaces NO_GOAL, and the run that it follows.

        A plan can refer to the tasks of the earlier turns that it has `seen`.
        """
        from goalwright.runs.goal import NO_GOAL

        if self.plan_file is not None:
            plan = read_plan(goalwright, self.plan_file, seen)
            text = goal.text if goal.text != NO_GOAL else plan.goal or NO_GOAL
            goal = replace(goal, text=text, plan=plan.plan, repairs=plan.repairs)
        if self.after is not None:
            goal = goalwright.follow(goal, self.after)
        return goal if self.recipe is None else recipe_trust.named(goalwright, self.recipe, values, goal, mode)


source = option_value(
    "source",
    SourceFlags,
    click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Run this plan (`-`: stdin)."),
    click.option(
        "--recipe",
        metavar="NAME",
        help="Run this recipe, with parameters as NAME=VALUE.",
    ),
    click.option("--after", metavar="RUN", help="Follow up on a finished run: its id, a prefix of it, or `last`."),
    click.option("--review", is_flag=True, help="Show the plan, then ask whether to run it, edit it or stop."),
    click.option("--dry-run", is_flag=True, help="Show the skills, the prompt or plan and an estimate; call no model."),
)


def read_plan(goalwright: Goalwright, path: Path, seen: ConversationTurn | None = None) -> PlanFile:
    """Read a plan from a file or stdin (`-`), and check it against the workspace and the earlier turns."""
    from goalwright.runs.plans import plan_file

    known = goalwright.workspace.known(seen.earlier_ids if seen is not None else ())
    if str(path) == "-":
        return plan_file.parse(stdin.stdin_text("the plan"), "on stdin", known)
    return plan_file.read(path, known)
