"""What the steps of one run share, and what of it comes from a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from goalwright.runs.conversations.remarks import Remarks
from goalwright.runs.conversations.turn_prompt import TurnPrompt
from goalwright.runs.stored.follow_up import FollowUp
from goalwright.workspace.mcp_choice import McpChoice
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
    """What a run takes from its record as given: nothing, if it is new.

    `tool_set` and `mcp` are the tools that it was offered, `files` what its tasks read, `outputs`
    the results of earlier turns that they did, `fixed` the tasks that its
    planner must keep. The steps in the `history` of a resumed run are not taken again. A replay takes all of them, and
    makes the `changes` of its plan again; `growth` gives the limits that it came to, and `file_changed` hears of files
    that differ today, as `image_changed` does of `images` that came with the goal. A run that `is_begun` takes no
    others. `selections` are those of its sub-goals, by their ids.
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
        """What a resumed run takes from its history; that of a new one has its first event alone."""
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
        """What the replay of a run takes from that run's history."""
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
        """How the plan was changed so far, and what decides about further changes."""
        return self.changes or self.history.replans


def _tool_set(history: RunHistory) -> tuple[str, ...] | None:
    return toolset.recorded(history.started.settings) if history.started is not None else None


def _mcp(history: RunHistory) -> McpChoice | None:
    taken = history.inputs.catalogues.get(None)
    return McpChoice(taken.mcp, prompts=taken.prompts) if taken is not None else None


@dataclass(frozen=True, slots=True)
class RunContext:
    """What all steps of one run share; `kept` finds results of other runs, if they may be used again.

    Of a turn of a conversation, `summaries` are of earlier turns, `read_output` reads their results, and `remarks` are
    what a person says while it runs.
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
        """Takes the run's events."""
        return self.memo.record

    @property
    def history(self) -> RunHistory:
        """The steps on record that are not taken again."""
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
        """What is said in prompts of the run that this one follows up, or of earlier turns."""
        earlier = self.goal.after
        if earlier is None:
            return self.turn_prompt
        return FollowUp(earlier, self.prompts, self.memo.capture)

    @property
    def turn_prompt(self) -> TurnPrompt | None:
        """What is said in prompts of earlier turns of the conversation."""
        seen = self.goal.conversation
        return TurnPrompt(seen, self.prompts, self.summaries, self.memo.capture) if seen is not None else None

    @property
    def earlier_ids(self) -> frozenset[str]:
        """The tasks of earlier turns that a plan can refer to."""
        seen = self.goal.conversation
        return seen.earlier_ids if seen is not None else frozenset()
