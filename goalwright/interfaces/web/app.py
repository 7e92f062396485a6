"""The routes of `goalwright serve`, by path."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.guard import Guard, Hosts
from goalwright.interfaces.web.pages import Pages
from goalwright.interfaces.web.replies import compressed, error_reply
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from starlette.requests import Request

    from goalwright.interfaces.web.site import Site

Handler = Callable[["Site", "Request"], Awaitable[Response]]


class Path(NamedTuple):
    """One route; `handler` names a function in `routes/`, and `--read-only` leaves out a route with `changes`."""

    method: str
    path: str
    handler: str
    changes: bool = False


class Handlers:
    """The handlers of the routes; each is imported with its first request, so that the server starts quickly."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._loaded: dict[str, Handler] = {}

    def of(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """Return a function that imports the handler of that name and calls it."""

        async def answer(request: Request) -> Response:
            if name not in self._loaded:
                self._loaded[name] = await asyncio.to_thread(load, name)
            return await compressed(request, await self._loaded[name](self._site, request))

        return answer


def load(handler: str) -> Handler:
    """Import the handler of a route, such as `runs.list_runs`."""
    module, _, name = handler.partition(".")
    function: Handler = getattr(importlib.import_module(f"goalwright.interfaces.web.routes.{module}"), name)
    return function


ROUTES = (
    Path("GET", "/about", "live.about"),
    Path("GET", "/events", "live.all_events"),
    Path("GET", "/runs", "runs.list_runs"),
    Path("POST", "/runs", "steer.start", changes=True),
    Path("POST", "/runs/import", "traces.import_runs", changes=True),
    Path("GET", "/runs/{run}", "runs.show_run"),
    Path("DELETE", "/runs/{run}", "runs.delete_run", changes=True),
    Path("PUT", "/runs/{run}/tags", "runs.set_tags", changes=True),
    Path("PUT", "/runs/{run}/note", "runs.set_note", changes=True),
    Path("GET", "/snippets", "runs.show_snippets"),
    Path("GET", "/statistics", "runs.show_statistics"),
    Path("GET", "/runs/{run}/tasks/{task:path}", "runs.show_task"),
    Path("GET", "/runs/{run}/events", "live.run_events"),
    Path("GET", "/approvals", "approvals.list_approvals"),
    Path("POST", "/runs/{run}/answers", "approvals.answer", changes=True),
    Path("GET", "/runs/{run}/plan", "plans.run_plan_text"),
    Path("POST", "/runs/{run}/stop", "steer.stop", changes=True),
    Path("POST", "/runs/{run}/resume", "steer.resume", changes=True),
    Path("POST", "/runs/{run}/rerun", "steer.rerun", changes=True),
    Path("POST", "/runs/{run}/replan", "steer.replan", changes=True),
    Path("POST", "/runs/{run}/replay", "traces.replay_run"),
    Path("GET", "/runs/{run}/diff/{other}", "traces.diff_runs"),
    Path("GET", "/runs/{run}/export", "traces.export_run"),
    Path("POST", "/runs/{run}/otlp", "traces.send_spans", changes=True),
    Path("GET", "/runs/{run}/artifacts", "run_files.list_artifacts"),
    Path("GET", "/runs/{run}/artifacts/{path:path}", "run_files.artifact"),
    Path("GET", "/runs/{run}/images/{sha256}", "run_files.image"),
    Path("GET", "/runs/{run}/changes", "run_files.show_changes"),
    Path("POST", "/runs/{run}/changes/undo", "run_files.undo_changes", changes=True),
    Path("POST", "/replay", "traces.replay_selections"),
    Path("POST", "/plan", "plans.plan_goal", changes=True),
    Path("POST", "/plan/check", "plans.check_plan"),
    Path("POST", "/plan/edit", "plans.edit_plan"),
    Path("POST", "/preview", "plans.preview"),
    Path("POST", "/files", "skill_imports.upload_file", changes=True),
    Path("GET", "/skills", "skills.list_skills"),
    Path("POST", "/skills", "skills.add_skill", changes=True),
    Path("POST", "/skills/select", "skills.select"),
    Path("POST", "/skills/imports", "skill_imports.stage_import", changes=True),
    Path("POST", "/skills/imports/{key}", "skill_imports.commit_import", changes=True),
    Path("DELETE", "/skills/imports/{key}", "skill_imports.cancel_import", changes=True),
    Path("GET", "/skills/{name}", "skills.show_skill"),
    Path("DELETE", "/skills/{name}", "skills.delete_skill", changes=True),
    Path("POST", "/skills/{name}/copy", "skills.copy_skill", changes=True),
    Path("POST", "/skills/{name}/trust", "skills.trust_skill", changes=True),
    Path("GET", "/skills/{name}/files/{path:path}", "skills.read_file"),
    Path("PUT", "/skills/{name}/files/{path:path}", "skills.write_file", changes=True),
    Path("POST", "/skills/{name}/files/{path:path}", "skills.rename_file", changes=True),
    Path("DELETE", "/skills/{name}/files/{path:path}", "skills.delete_file", changes=True),
    Path("GET", "/conversations", "conversations.list_conversations"),
    Path("POST", "/conversations", "conversations.take_turn", changes=True),
    Path("GET", "/conversations/{conversation}", "conversations.show_conversation"),
    Path("POST", "/conversations/{conversation}/turns", "conversations.take_turn", changes=True),
    Path("POST", "/conversations/{conversation}/take-back", "conversations.take_back", changes=True),
    Path("GET", "/batches", "batches.list_batches"),
    Path("GET", "/batches/{batch:path}", "batches.show_batch"),
    Path("POST", "/batches/{batch:path}/stop", "batches.stop_batch", changes=True),
    Path("GET", "/evaluations", "batches.list_evaluations"),
    Path("GET", "/evaluations/{evaluation}", "batches.show_evaluation"),
    Path("GET", "/mcp", "mcp.list_servers"),
    Path("GET", "/mcp/{name}/login", "mcp.show_login"),
    Path("POST", "/mcp/{name}/login", "mcp.begin_login", changes=True),
    Path("DELETE", "/mcp/{name}/login", "mcp.end_login", changes=True),
    Path("GET", "/models", "setup.show_models"),
    Path("POST", "/models/pull", "setup.pull_model", changes=True),
    Path("PUT", "/settings/model", "setup.set_model", changes=True),
    Path("GET", "/settings", "setup.show_settings"),
    Path("GET", "/doctor", "setup.run_doctor"),
)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def make_app(site: Site, token: str, hosts: Hosts) -> Guard:
    """Build the application: the guard, then the routes, then the static files."""
    handlers = Handlers(site)
    routes = [
        Route(f"/api{route.path}", _reporting_errors(handlers.of(route.handler)), methods=[route.method])
        for route in ROUTES
        if not (site.read_only and route.changes)
    ]
    routes.append(Route("/api/{path:path}", _reporting_errors(_unknown_route), methods=_METHODS))
    routes.append(Route("/{path:path}", _reporting_errors(Pages().answer), methods=["GET"]))
    return Guard(Starlette(routes=routes, exception_handlers={HTTPException: _refused_by_router}), token, hosts)


def _reporting_errors(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn the errors of a handler into responses; an unexpected error shows only its class name."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except GoalwrightError as error:
            return error_reply(error)
        except ClientDisconnect:
            return Response(status_code=400)  # the client is gone
        except asyncio.CancelledError:  # the server shuts down before the response is ready
            return error_reply(HttpError(503, "ENDING", "the server is shutting down", hint="start it again"))
        except Exception as error:  # noqa: BLE001 - every request gets a response
            print(f"{request.method} {request.url.path}: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
            message = f"unexpected error: {type(error).__name__}"
            return error_reply(
                HttpError(500, "INTERNAL_ERROR", message, hint="this is a bug in goalwright; please report it")
            )

    return answer


async def _unknown_route(request: Request) -> Response:
    message = f"{request.method} {request.url.path[:80]} is not served here"
    raise HttpError(404, "NOT_FOUND", message, hint="see docs/serve.md; a read-only server changes nothing")


async def _refused_by_router(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return error_reply(HttpError(status, "NOT_FOUND", f"{request.method} is not served here", hint="start at /"))
