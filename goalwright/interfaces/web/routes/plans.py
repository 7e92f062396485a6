"""Planning a goal, checking the text of a plan, and previewing what a goal would start with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, errors
from goalwright.interfaces.web.replies import RETRY, event, in_thread, json_reply, stream_reply
from goalwright.interfaces.web.routes.steer import GOAL_KEYS, check_local, files_in, goal_in
from goalwright.runs.plans import plan_check, plan_file, plan_text
from goalwright.runs.plans.plan_edit import plan_in_hand
from goalwright.runs.stored import records
from goalwright_executor.history.run_history import RunHistory
from goalwright_planner.events import Event, TextStreamed
from goalwright_planner.events import to_dict as event_dict
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.runs.goal import Goal
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.plan.plan import Plan

# What a page shows of planning; prompts and replies are left out.
_SHOWN = ("skills_selected", "call_started", "call_retried", "call_finished", "call_failed", "plan_refused", "warned")


async def plan_goal(site: Site, request: Request) -> Response:
    """Plan a goal without running it: a stream of what happens, which ends with `plan` or `error`."""
    body = await bodies.document(request, *GOAL_KEYS)
    resolved = site.resolved(bodies.mapping(body, "settings"))
    goalwright = await asyncio.to_thread(site.runtime, resolved.settings, record=False)
    goal = await asyncio.to_thread(lambda: goal_in(body, goalwright, files_in(site, body)))
    site.streams.check()
    return stream_reply(_planning(site, goalwright, goal))


async def _planning(site: Site, goalwright: Goalwright, goal: Goal) -> AsyncIterator[bytes]:
    with site.streams.one():
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(goalwright.plan(goal, record=queue.put_nowait))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            yield RETRY
            while (chunk := await queue.get()) is not None:
                if not isinstance(chunk, TextStreamed) and (shown := event_dict(chunk))["type"] in _SHOWN:
                    yield event(shown["type"], {key: shown[key] for key in shown if key not in ("messages", "reply")})
            yield _planned(work, goal)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


def _planned(work: asyncio.Future[Plan], goal: Goal) -> bytes:
    try:
        plan = work.result()
    except GoalwrightError as error:
        return event("error", errors.to_dict(error))
    return event("plan", {"plan": plan.to_dict(), "text": plan_file.dump(plan, "yaml", goal.text)})


async def check_plan(site: Site, request: Request) -> Response:
    """Every fault of a plan's text, with its line; the plan if there is none; and its tasks as far as they are read."""
    text = bodies.text(await bodies.document(request, "text", limit=bodies.PLAN), "text")

    def check() -> dict[str, Any]:
        return plan_check.check(text, site.workspace.known()).to_dict()

    return json_reply(await asyncio.to_thread(check))


async def edit_plan(site: Site, request: Request) -> Response:
    """The text of a plan with one change, and what a check of it finds; nothing is kept."""
    body = await bodies.document(request, "text", "change", "task", "to", limit=bodies.PLAN)
    text, change, task, to = (bodies.text(body, key) for key in ("text", "change", "task", "to"))

    def edit() -> dict[str, Any]:
        now, made = _edited(text, change, task, to)
        return {"text": now, "task": made} | plan_check.check(now, site.workspace.known()).to_dict()

    return json_reply(await asyncio.to_thread(edit))


def _edited(text: str, change: str, task: str, to: str) -> tuple[str, str | None]:
    """The text with a change, and the id of the task that it is about; None if that one is gone."""
    match change:
        case "add":
            return plan_text.add_task(text, (task,) if task else ())
        case "rename":
            return plan_text.rename_task(text, task, to), to
        case "link":
            return plan_text.link_task(text, task, to), task
        case "unlink":
            return plan_text.unlink_task(text, task, to), task
        case "remove":
            return plan_text.remove_task(text, task), None
        case _:
            known = "add, rename, link, unlink, remove"
            raise InputError(f"there is no change {change[:40]!r}", hint=f"known changes: {known}")


@in_thread
def run_plan_text(site: Site, request: Request) -> dict[str, Any]:
    """The plan of a recorded run, as a file to edit: the one that `goalwright plan --of` writes."""
    run = site.find(request.path_params["run"])
    rows = site.reading().rows(run.run_id)
    plan = plan_in_hand(RunHistory.of(rows, records.capture(site.paths, run.run_id))).plan
    return {"goal": run.goal, "text": plan_file.dump(plan, "yaml", run.goal)}


async def preview(site: Site, request: Request) -> Response:
    """What a goal would start with: selected skills, how long the prompt is, which model; no model is called."""
    body = await bodies.document(request, *GOAL_KEYS)
    resolved = site.resolved(bodies.mapping(body, "settings"))
    goalwright = await asyncio.to_thread(site.runtime, resolved.settings, record=False)
    goal = await asyncio.to_thread(lambda: goal_in(body, goalwright, files_in(site, body)))
    try:
        found = (await goalwright.preview(goal)).to_dict()
    except GoalwrightError as error:  # without a model, skills are selected all the same
        selected = await asyncio.to_thread(_selected, site, goal)
        return json_reply(
            {"goal": goal.text, "selected": selected, "estimate": None, "model": None} | errors.to_dict(error)
        )
    found.pop("prompt")
    default = goalwright.models.default
    missing = await asyncio.to_thread(_missing, goalwright, goal)
    return json_reply({"goal": goal.text} | found | {"model": default.model, "why": default.why, "missing": missing})


def _missing(goalwright: Goalwright, goal: Goal) -> str | None:
    """What has to be downloaded before this goal can run."""
    try:
        check_local(goalwright, goal.plan)
    except GoalwrightError as error:
        return error.message
    return None


def _selected(site: Site, goal: Goal) -> list[dict[str, Any]]:
    skills = site.workspace.skills
    with site.selecting:
        found = skills.select(skills.request(goal.text, goal.skills))
    return [selection.to_dict() for selection in found]
