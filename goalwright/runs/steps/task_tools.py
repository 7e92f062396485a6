"""The tools of a run's tasks: by name for plans, and for each task the tools that its model may call."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from goalwright.workspace.builtin_tools import ToolPlace
from goalwright_executor.results.kept_files import writers_of
from goalwright_planner.events import ToolLogged, ToolOutput, Warned
from goalwright_skills.builtin.writing.write_place import Claims
from goalwright_skills.tools.effects import changed_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.runs.run_context import RunContext
    from goalwright.workspace.workspace import Catalogue
    from goalwright_executor.scheduling.expand import CurrentPlan
    from goalwright_planner.plan.task import Task
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.tools.envelope import CallLog
    from goalwright_skills.tools.tool import Tool


class TaskTools:
    """The tools of one run; `callable_by_plan` are the tools that a task can call without a model."""

    def __init__(self, context: RunContext, catalogue: Catalogue, current: CurrentPlan) -> None:
        self._context, self._current = context, current
        self._listing, self._withheld = catalogue.skill_listing, catalogue.withheld
        self._by_name = context.workspace.tools.by_name(
            context.artifacts.folder,
            log=self._log,
            progress=lambda text: context.record(Warned(text)),
            mcp=catalogue.goal.mcp.tools,
        )
        self.server_prompts = context.workspace.tools.server_prompts(
            catalogue.goal.mcp.prompts, context.artifacts.folder
        )
        self._claims = Claims(writers_of(context.memo.finished.files))
        by_name = self._by_name.items()
        self.callable_by_plan = {n: tool for n, tool in by_name if not changed_file(getattr(tool, "function", None))}

    def for_task(self, task: Task) -> Sequence[Tool]:
        """Return the tools that a task's model may call."""
        from goalwright_skills.builtin.writing.function_write import (
            bound,  # imported when a task has tools
        )
        from goalwright_skills.builtin.writing.write_place import WritePlace

        context, builtin = self._context, self._context.workspace.builtin
        folder, writes = context.artifacts.folder, context.settings.workspace_writes
        before = partial(self._comes_before, task.id)
        disk = context.workspace.tools.disk
        writing = WritePlace(context.artifacts.workspace, folder, writes, task.id, before, self._claims, disk)
        for name in builtin.unknown_in(task, list(self._by_name)):
            context.record(
                Warned(
                    f"allowed-tools of the skill {task.name!r} names {name}, which is not a tool here; it is ignored"
                )
            )
        loaded = context.memo.loaded
        place = ToolPlace(
            task,
            self._listing,
            context.goal.files,
            writing,
            lambda: replace(self._host, show=partial(self._show, task.id)),
            lambda: tuple(loaded.get(task.id, ())),
            self._withheld,
            self.server_prompts,
        )
        return context.workspace.task_tools(context.tool_set, place, bound(self._by_name, writing))

    @cached_property
    def _host(self) -> ToolHost:
        """The host that runs code; looking for sandboxes takes a moment, so it is created when first needed."""
        return self._context.workspace.tools.host(self._context.artifacts.folder, self._log)

    def _comes_before(self, task: str, other: str) -> bool:
        """Return whether a task is done before another one starts."""
        import networkx as nx

        graph = self._current.plan.graph
        return other in graph and task in graph and nx.has_path(graph, other, task)

    def _show(self, task: str, tool: str, text: str) -> None:
        self._context.record(ToolOutput(task, tool, text))

    def _log(self, call: CallLog) -> None:
        self._context.record(ToolLogged(call.tool, call.log, call.stderr, call.exit_status, call.seconds))
