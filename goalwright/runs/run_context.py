"""The state that the steps of one run share, and its recorded part."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from goalwright.runs.conversations.remarks import Remarks
from goalwright.runs.conversations.turn_prompt import TurnPrompt
from goalwright.runs.stored.follow_up import FollowUp
from goalwright.workspace.tool_choice import McpChoice
from goalwright_executor.history.replay import RecordedLimits
from goalwright_executor.history.run_history import RunHistory
from goalwright_skills.builtin import toolset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright.models.budget import Budget
    from goalwright.runs.conversations.earlier_outputs import ReadOutput
    from goalwright.runs.goal import Goal
    from goalwright.settings.settings import Settings
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.history.replans import Replans
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.memo import FindResult, Memo
    from goalwright_executor.scheduling.expand import GrowthLimits
    from goalwright_planner.events import FileRead, ImagesGiven, Record, SkillsSelected
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.models import Models
    from goalwright_planner.prompting.prompts import Prompts


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The recorded state that a resumed or replayed run uses; empty for a new run.

    `tool_set` and `mcp` are the tools that were offered. `files` and `outputs` are the files and the results of earlier
    turns that tasks have read. `fixed` are the tasks that the planner must keep. `selections` are the selections of
    sub-goals, by their ids. A resumed run skips the steps in its `history`.

    A replay repeats all steps and the `changes` of its plan, with the recorded limits of `growth`; `file_changed` and
    `image_changed` receive files and `images` that differ today. A run that `is_begun` takes no other images.
    """

    history: RunHistory = field(default_factory=RunHistory)
    tool_set: tuple[str, ...] | None = None
    mcp: McpChoice | None = None
    files: Mapping[tuple[str, str], FileRead] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    fixed: tuple[Task, ...] = ()
    changes: Replans | None = None
    growth: Callable[[GrowthLimits], GrowthLimits] | None = None
    file_changed: Callable[[FileRead, str], None] | None = None
    images: ImagesGiven | None = None
    is_begun: bool = False
    image_changed: Callable[[str], None] | None = None
    selections: Mapping[str | None, SkillsSelected] = field(default_factory=dict)

    @classmethod
    def resumed(cls, history: RunHistory) -> RecordedRun:
        """Return the recorded state of a new or resumed run; the history of a new one has only its first event."""
        tools, mcp = _tool_set(history), _mcp(history)
        return cls(
            history,
            tools,
            mcp,
            history.inputs.files,
            history.inputs.earlier_outputs,
            history.fixed_now,
            images=history.inputs.images,
            is_begun=history.plans.last is not None,
            selections=history.inputs.selections,
        )

    @classmethod
    def replayed(
        cls,
        history: RunHistory,
        file_changed: Callable[[FileRead, str], None],
        image_changed: Callable[[str], None],
    ) -> RecordedRun:
        """Return the recorded state for the replay of a run."""
        return cls(
            tool_set=_tool_set(history),
            mcp=_mcp(history) or McpChoice(),
            files=history.inputs.files,
            outputs=history.inputs.earlier_outputs,
            fixed=history.fixed,
            changes=history.replans,
            growth=partial(RecordedLimits, history),
            file_changed=file_changed,
            images=history.inputs.images,
            is_begun=True,
            image_changed=image_changed,
            selections=history.inputs.selections,
        )

    @property
    def replans(self) -> Replans:
        """The changes of the plan so far, and the state that decides about further ones."""
        return self.changes or self.history.replans


def _tool_set(history: RunHistory) -> tuple[str, ...] | None:
    return toolset.recorded(history.started.settings) if history.started is not None else None


def _mcp(history: RunHistory) -> McpChoice | None:
    taken = history.inputs.catalogues.get(None)
    return McpChoice(taken.mcp, prompts=taken.prompts) if taken is not None else None


@dataclass(frozen=True, slots=True)
class RunContext:
    """The state that all steps of one run share; `kept` finds results of other runs, if the setting allows it.

    In a turn of a conversation, `summaries` are summaries of earlier turns, `read_output` reads their results, and
    `remarks` takes what a person says during the run.
    """

    goal: Goal
    workspace: Workspace
    settings: Settings
    models: Models
    memo: Memo
    artifacts: Artifacts
    date: str
    budget: Budget | None = None
    kept: FindResult | None = None
    recorded: RecordedRun = field(default_factory=RecordedRun)
    summaries: dict[int, str] = field(default_factory=dict)
    read_output: ReadOutput | None = None
    remarks: Remarks = field(default_factory=Remarks)

    @property
    def record(self) -> Record:
        """The function that records the run's events."""
        return self.memo.record

    @property
    def history(self) -> RunHistory:
        """The recorded steps, which are not repeated."""
        return self.recorded.history

    @property
    def prompts(self) -> Prompts:
        """The prompts of the workspace."""
        return self.workspace.prompts()

    @property
    def tool_set(self) -> tuple[str, ...]:
        """The built-in tools that tasks are offered."""
        offered = self.recorded.tool_set
        return self.settings.tool_set if offered is None else offered

    @property
    def follow_up(self) -> FollowUp | TurnPrompt | None:
        """Renders the earlier run, or the earlier turns, in prompts."""
        earlier = self.goal.after
        if earlier is None:
            return self.turn_prompt
        return FollowUp(earlier, self.prompts, self.memo.capture)

    @property
    def turn_prompt(self) -> TurnPrompt | None:
        """Renders earlier turns of the conversation in prompts."""
        seen = self.goal.conversation
        return TurnPrompt(seen, self.prompts, self.summaries, self.memo.capture) if seen is not None else None

    @property
    def earlier_ids(self) -> frozenset[str]:
        """The tasks of earlier turns that a plan can refer to."""
        seen = self.goal.conversation
        return seen.earlier_ids if seen is not None else frozenset()
