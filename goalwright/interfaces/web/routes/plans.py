"""Plans a goal, checks and edits the text of a plan, and previews a goal."""

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

# The events of planning that a page shows, without prompts and replies.
_SHOWN = ("skills_selected", "call_started", "call_retried", "call_finished", "call_failed", "plan_refused", "warned")


async def plan_goal(site: Site, request: Request) -> Response:
    """Plan a goal without running it; stream the events, which end with `plan` or `error`."""
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
    """Return the faults of a plan's text, the plan if there are none, and the tasks that can be read."""
    text = bodies.text(await bodies.document(request, "text", limit=bodies.PLAN), "text")

    def check() -> dict[str, Any]:
        return plan_check.check(text, site.workspace.known()).to_dict()

    return json_reply(await asyncio.to_thread(check))


async def edit_plan(site: Site, request: Request) -> Response:
    """Make one change to the text of a plan, and check the result; nothing is stored."""
    body = await bodies.document(request, "text", "change", "task", "to", limit=bodies.PLAN)
    text, change, task, to = (bodies.text(body, key) for key in ("text", "change", "task", "to"))

    def edit() -> dict[str, Any]:
        edited, task_id = _edited(text, change, task, to)
        return {"text": edited, "task": task_id} | plan_check.check(edited, site.workspace.known()).to_dict()

    return json_reply(await asyncio.to_thread(edit))


def _edited(text: str, change: str, task: str, to: str) -> tuple[str, str | None]:
    """Return the changed text and the id of the task concerned, None if it was removed."""
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
            raise InputError(
                f"there is no change {change[:40]!r}", hint="known changes: add, rename, link, unlink, remove"
            )


@in_thread
def run_plan_text(site: Site, request: Request) -> dict[str, Any]:
    """Return the plan of a recorded run as a file to edit, as `goalwright plan --of` writes it."""
    run = site.find(request.path_params["run"])
    rows = site.reading().rows(run.run_id)
    plan = plan_in_hand(RunHistory.of(rows, records.capture(site.paths, run.run_id))).plan
    return {"goal": run.goal, "text": plan_file.dump(plan, "yaml", run.goal)}


async def preview(site: Site, request: Request) -> Response:
    """Return the selected skills, the prompt's size and the model of a goal; no model is called."""
    body = await bodies.document(request, *GOAL_KEYS)
    resolved = site.resolved(bodies.mapping(body, "settings"))
    goalwright = await asyncio.to_thread(site.runtime, resolved.settings, record=False)
    goal = await asyncio.to_thread(lambda: goal_in(body, goalwright, files_in(site, body)))
    try:
        document = (await goalwright.preview(goal)).to_dict()
    except GoalwrightError as error:  # skills are selected even without a model
        selected = await asyncio.to_thread(_selected, site, goal)
        return json_reply(
            {"goal": goal.text, "selected": selected, "estimate": None, "model": None} | errors.to_dict(error)
        )
    document.pop("prompt")
    default = goalwright.models.default
    missing = await asyncio.to_thread(_missing, goalwright, goal)
    return json_reply({"goal": goal.text} | document | {"model": default.model, "why": default.why, "missing": missing})


def _missing(goalwright: Goalwright, goal: Goal) -> str | None:
    """Return what must be downloaded before this goal can run, if anything."""
    try:
        check_local(goalwright, goal.plan)
    except GoalwrightError as error:
        return error.message
    return None


def _selected(site: Site, goal: Goal) -> list[dict[str, Any]]:
    skills = site.workspace.skills
    with site.selecting:
        selected = skills.select(skills.request(goal.text, goal.skills))
    return [selection.to_dict() for selection in selected]
