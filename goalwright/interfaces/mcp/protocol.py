"""Offers the tools of the server through the `mcp` package; imported only to serve."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import InputRequiredResult, ToolAnnotations

from goalwright.interfaces.mcp import asking
from goalwright.version import __version__
from goalwright_executor.stores.errors import UnknownRun
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright.interfaces.mcp.goal_runs import TaskProgress
    from goalwright.interfaces.mcp.goal_tools import GoalTools

_MAX_ROUNDS = 20
WAIT = 50.0  # clients end calls after 60 seconds

_INSTRUCTIONS = """goalwright plans a goal as a graph of tasks, runs them in parallel and answers. run_goal starts one.
If it takes longer than wait_seconds, the status is "running": it continues, and get_run waits for it. If the status is
"waiting", the run has a question or needs a person's approval: see "waiting", and answer questions with answer_run."""


def build(tools: GoalTools) -> MCPServer[Any]:
    """Build the server with its tools."""
    server: MCPServer[Any] = MCPServer("goalwright", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    for name in ("LiteLLM", "litellm", "httpx", "mcp"):
        logging.getLogger(name).setLevel(logging.ERROR)
    reads = ToolAnnotations(read_only_hint=True)

    @server.tool()
    async def run_goal(
        goal: str, ctx: Context[Any], skills: list[str] | None = None, wait_seconds: float = WAIT
    ) -> dict[str, Any] | InputRequiredResult:
        """Plan and run a goal. Returns the run, or after wait_seconds its run_id and the status "running".

        `skills` are names of skills that must be used. The run continues if you stop waiting: get_run has its answer.
        """
        begin = tools.run_goal(goal, skills or [], wait_seconds, _reporter(ctx))
        if ctx.request_state:
            begin.close()
            begin = _continued(tools, ctx, wait_seconds)
        return await _with_elicitation(tools, ctx, await _as_tool_errors(begin), wait_seconds)

    @server.tool(annotations=reads)
    async def get_run(run_id: str, ctx: Context[Any], wait_seconds: float = 0) -> dict[str, Any]:
        """Get the state of a run: its answer, tasks and open requests. Waits up to wait_seconds for its end."""
        return await _as_tool_errors(tools.get_run(run_id, wait_seconds, _reporter(ctx)))

    @server.tool()
    async def answer_run(
        run_id: str, answers: dict[str, Any], ctx: Context[Any], wait_seconds: float = WAIT
    ) -> dict[str, Any]:
        """Answer the questions of a waiting run, {id: answer}, and continue it. Approvals are for a person.

        An answer is a text, or an object of the fields if the question has a schema.
        """
        return await _as_tool_errors(tools.answer_run(run_id, answers, wait_seconds, _reporter(ctx)))

    @server.tool(annotations=reads)
    async def plan_goal(goal: str, skills: list[str] | None = None) -> dict[str, Any]:
        """Make a plan for a goal without running it."""
        return await _as_tool_errors(tools.plan_goal(goal, skills or []))

    @server.tool(annotations=reads)
    async def list_skills(query: str = "") -> dict[str, Any]:
        """List the skills of the workspace; with a query, the matching ones, best first."""
        return await _as_tool_errors(asyncio.to_thread(tools.list_skills, query))

    @server.tool(annotations=reads)
    async def list_runs(limit: int = 20) -> dict[str, Any]:
        """List the runs of the workspace, newest first."""
        return await _as_tool_errors(asyncio.to_thread(tools.list_runs, limit))

    return server


async def _continued(tools: GoalTools, ctx: Context[Any], wait: float) -> dict[str, Any]:
    """Continue a waiting run when the client repeats its call with the answers."""
    run = str(ctx.request_state)
    answers = asking.answers(asking.responses_of(ctx), await asyncio.to_thread(tools.waiting, run))
    if not answers:
        return await tools.get_run(run, 0, _reporter(ctx))
    return await tools.continue_run(run, answers, wait, _reporter(ctx))


async def _with_elicitation(
    tools: GoalTools, ctx: Context[Any], result: dict[str, Any], wait: float
) -> dict[str, Any] | InputRequiredResult:
    """Return the result of a run, after asking the client's user its open requests if the client can."""
    has_responses = bool(ctx.input_responses)
    for _ in range(_MAX_ROUNDS):
        waiting = asking.askable(ctx, result.get("waiting") or ())
        if result.get("status") != "waiting" or not waiting:
            break
        if not asking.in_call(ctx):
            is_new = not has_responses or {row["id"] for row in waiting}.isdisjoint(dict(asking.responses_of(ctx)))
            return asking.needed(result["run_id"], waiting) if is_new else result  # postponed: it still waits
        answers = asking.answers(await asking.ask_now(ctx, waiting), waiting)
        if not answers:
            break
        result = await _as_tool_errors(tools.continue_run(result["run_id"], answers, wait, _reporter(ctx)))
    return result


async def _as_tool_errors(answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """Await a result; GoalwrightError becomes a ToolError with its message and hint."""
    try:
        return await answer
    except UnknownRun as error:
        raise ToolError(f"{error.message}; list_runs lists them all") from error
    except GoalwrightError as error:
        raise ToolError(f"{error.message}; {error.hint}" if error.hint else error.message) from error


def _reporter(ctx: Any) -> Callable[[TaskProgress], Awaitable[None]]:
    async def report(progress: TaskProgress) -> None:
        with suppress(Exception):  # the client may have left
            await ctx.report_progress(progress.done, max(progress.total, progress.done), progress.last)

    return report
