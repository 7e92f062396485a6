"""Functions that run one goal or one recipe in a single call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright.runs.goal import Goal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record


async def run_goal(
    goal: Goal | str,
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    tools: Sequence[Callable[..., Any] | str] = (),
    schema: Any = None,
    record: Record | None = None,
    approve: Approve | None = None,
    after: str | None = None,
) -> Result:
    """Run one goal, as `goalwright run` does, and return its result.

    `settings` are as in goalwright.toml: a mapping overrides files and the environment, a Settings replaces them.
    `tools` are functions that plans and models may call, and names of built-in tools that are off by default. `schema`,
    a JSON Schema or a pydantic model, is the form of the answer, which is then in the result's `data`. `approve`
    answers requests for a person; without it, or if it returns None, the status is `waiting`. `after` is a run that the
    goal follows up, by its id or `last`.
    """
    async with Goalwright(workspace, with_model(settings, model), tools=tools) as goalwright:
        return await goalwright.run(_with_schema(goal, schema), record=record, approve=approve, after=after)


async def run_recipe(
    name: str,
    values: Mapping[str, str] | None = None,
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    tools: Sequence[Callable[..., Any] | str] = (),
    record: Record | None = None,
    approve: Approve | None = None,
) -> Result:
    """Run a recipe of the workspace with values for its parameters, and return its result."""
    async with Goalwright(workspace, with_model(settings, model), tools=tools) as goalwright:
        goal = await asyncio.to_thread(goalwright.from_recipe, name, values)
        return await goalwright.run(goal, record=record, approve=approve)


def run_goal_sync(
    goal: Goal | str,
    *,
    model: str | None = None,
    workspace: Path | str = ".",
    settings: Settings | Mapping[str, Any] | None = None,
    tools: Sequence[Callable[..., Any] | str] = (),
    schema: Any = None,
    record: Record | None = None,
    approve: Approve | None = None,
    after: str | None = None,
) -> Result:
    """Run one goal from a program without an event loop, as `run_goal` does."""
    _check_no_loop()
    options: dict[str, Any] = {"tools": tools, "schema": schema, "record": record, "approve": approve, "after": after}
    return asyncio.run(run_goal(goal, model=model, workspace=workspace, settings=settings, **options))


def _check_no_loop() -> None:
    """Raise if an event loop runs, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError("run_goal_sync cannot be called while an event loop runs", hint="use `await run_goal(…)`")


def _with_schema(goal: Goal | str, schema: Any) -> Goal | str:
    return goal if schema is None else replace(Goal.of(goal), schema=schema)


def with_model(settings: Settings | Mapping[str, Any] | None, model: str | None) -> Settings | Mapping[str, Any] | None:
    """Return the settings with this model, if it is given."""
    if model is None:
        return settings
    return replace(settings, model=model) if isinstance(settings, Settings) else {**(settings or {}), "model": model}
