"""Starts, stops, resumes, replans and reruns runs."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.goal_files import GoalFiles, inside
from goalwright.interfaces.web.replies import json_reply
from goalwright.runs.callbacks import Callbacks
from goalwright.runs.goal import Goal
from goalwright.runs.plans import plan_check
from goalwright.runs.run_id import new_run_id
from goalwright.runs.stored import records
from goalwright.settings.default_model import is_local
from goalwright.settings.untrusted import check_recorded
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stop import Stop
    from goalwright_executor.history.result import Result
    from goalwright_planner.events import Record
    from goalwright_planner.plan.known import Known
    from goalwright_planner.plan.plan import Plan

# The keys of a request for a goal.
GOAL_KEYS = ("goal", "files", "skills", "answers", "plan", "settings", "parent")
_PULL = "pull it under Models, or set a provider's key and start `goalwright serve` again"


async def start(site: Site, request: Request) -> Response:
    """Start a run; respond once its first event is on disk."""
    body = await bodies.document(request, *GOAL_KEYS, limit=bodies.PLAN)
    resolved = site.resolved(bodies.mapping(body, "settings"))
    parent = bodies.text(body, "parent") or None
    if parent is not None:
        await asyncio.to_thread(site.find, parent)
    goalwright = await asyncio.to_thread(site.runtime, resolved.settings)
    files = await asyncio.to_thread(files_in, site, body)
    run_id = new_run_id()

    async def run(*, record: Record, stop: Stop) -> Result:
        def ready() -> Any:
            goal = goal_in(body, goalwright, files.copied(run_id))
            check_local(goalwright, goal.plan)
            return goalwright.new_run(goal, Callbacks(record), parent=parent, run_id=run_id)

        return await (await asyncio.to_thread(ready)).run(stop)  # type: ignore[no-any-return]

    with files.used_by(run_id):
        await site.work.begin(run)
    return json_reply({"run_id": run_id}, 202)


async def stop(site: Site, request: Request) -> Response:
    """Stop a run of any process."""
    await bodies.document(request)
    run = await asyncio.to_thread(site.find, request.path_params["run"])
    if not site.work.stop(run.run_id):
        await asyncio.to_thread(site.reading().request_stop, run.run_id, "stop")
    return json_reply({"run_id": run.run_id}, 202)


async def resume(site: Site, request: Request) -> Response:
    """Resume a run with its own settings, except the given ones."""
    body = await bodies.document(request, "settings")
    given = bodies.mapping(body, "settings")
    run_id = (await asyncio.to_thread(site.find, request.path_params["run"])).run_id
    goalwright = await asyncio.to_thread(runtime_of, site, run_id, given)
    await asyncio.to_thread(check_local, goalwright, None)
    return json_reply({"run_id": await site.work.begin(partial(goalwright.resume, run_id))}, 202)


async def replan(site: Site, request: Request) -> Response:
    """Have a model change a run's plan as the user asks, and resume the run with it."""
    instruction = bodies.text(await bodies.document(request, "text"), "text")
    run_id = (await asyncio.to_thread(site.find, request.path_params["run"])).run_id
    goalwright = await asyncio.to_thread(runtime_of, site, run_id, {})
    await asyncio.to_thread(check_local, goalwright, None)
    return json_reply({"run_id": await site.work.begin(partial(goalwright.replan, run_id, instruction))}, 202)


async def rerun(site: Site, request: Request) -> Response:
    """Rerun a part of a run as a new run; with `dry_run`, return the tasks that would be reused and executed."""
    body = await bodies.document(request, "from", "inputs", "use", "settings", "dry_run", limit=bodies.PLAN)
    given, begin = bodies.mapping(body, "settings"), bodies.texts(body, "from")
    inputs = bodies.text_mapping(body, "inputs")
    use = {name: inside(site.paths.workspace, path) for name, path in bodies.text_mapping(body, "use").items()}
    if not begin and not inputs:
        raise InputError("no task to start from was given", hint="name one in 'from', or give its output in 'inputs'")
    parent = (await asyncio.to_thread(site.find, request.path_params["run"])).run_id
    goalwright = await asyncio.to_thread(runtime_of, site, parent, given, use)
    planned = await asyncio.to_thread(goalwright.plan_rerun, parent, begin, inputs)
    if bodies.flag(body, "dry_run"):
        return json_reply(planned.to_dict())
    await asyncio.to_thread(check_local, goalwright, planned.plan)

    return json_reply({"run_id": await site.work.begin(partial(goalwright.rerun, parent, planned))}, 202)


def files_in(site: Site, body: Mapping[str, Any]) -> GoalFiles:
    """Return the files of a request for a goal."""
    return GoalFiles.of(site.paths.workspace, site.drafts, bodies.texts(body, "files"))


def goal_in(body: Mapping[str, Any], goalwright: Goalwright, files: GoalFiles) -> Goal:
    """Return the goal of a request, with its files and its plan."""
    plan, goal_of_plan, repairs = _plan_in(body, goalwright.workspace.known())
    return Goal(
        bodies.text(body, "goal") or goal_of_plan,
        skills=bodies.texts(body, "skills"),
        files=files.paths,
        plan=files.named_in(plan) if plan is not None else None,
        answers=bodies.texts(body, "answers"),
        stream=True,
        repairs=repairs,
    )


def _plan_in(body: Mapping[str, Any], known: Known) -> tuple[Plan | None, str, tuple[str, ...]]:
    """Return the plan in a request, given as text or as an object, its goal and repairs; report all faults at once."""
    given = body.get("plan")
    if given is None:
        return None, "", ()
    if isinstance(given, str):
        text = given
    elif isinstance(given, dict):
        text = json.dumps(given)
    else:
        raise InputError("'plan' must be an object, or YAML or JSON text", hint="see docs/plans.md")
    checked = plan_check.check(text, known)
    if checked.plan is None:
        lines = "; ".join(f"line {fault.line}: {fault.message}" for fault in checked.faults)
        raise HttpError(422, "PLAN_FAULTS", f"the plan cannot run: {lines}", hint="fix the plan and run it again")
    return checked.plan, checked.goal, checked.repairs


def runtime_of(site: Site, run_id: str, given: Mapping[str, Any], use: Mapping[str, Path] | None = None) -> Goalwright:
    """Return a runtime with a recorded run's settings, except the given ones."""
    now = site.resolved(given).settings
    recorded = records.first_event(site.reading(), run_id, site.paths)
    settings = records.tightened(records.settings_of(recorded.settings, now, given), now)
    check_recorded(settings, now, site.paths)
    return site.runtime(settings, records.substitutes(recorded) | dict(use or {}))


def check_local(goalwright: Goalwright, plan: Plan | None) -> None:
    """Raise if a local model would have to be downloaded first."""
    from goalwright.models.local import model as local_model  # slow to import, and rarely needed

    if goalwright.models.needed_for(plan):
        for name in goalwright.models.names:
            if is_local(name):
                try:
                    local_model.installed(name)
                except SetupError as error:
                    raise SetupError(error.message, hint=_PULL) from error
