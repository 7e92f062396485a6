"""Models, settings and the checks of `goalwright doctor`; API keys appear by name only."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, errors
from goalwright.interfaces.web.replies import RETRY, event, in_thread, json_reply, stream_reply
from goalwright.models.choice import ways
from goalwright.models.litellm import stored_keys
from goalwright.models.local import model_list
from goalwright.models.local.store import ModelStore, models_dir
from goalwright.settings import ollama, user_config
from goalwright.settings.default_model import explore, is_local, local_is_installed, providers
from goalwright.settings.resolve import resolve_without_files
from goalwright.settings.settings import FLAGS_ONLY, Settings
from goalwright.settings.untrusted import is_trusted
from goalwright.workspace.workspace import Workspace
from goalwright_executor.capture.secrets import Secrets
from goalwright_skills.errors import GoalwrightError, InputError, SetupError
from goalwright_skills.text.untrusted import carries_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright.models.local.downloads.progress import Progress, Report
    from goalwright.models.local.downloads.pull import PullOptions
    from goalwright.models.local.store import Installed


@in_thread
def show_models(site: Site, request: Request) -> dict[str, Any]:
    """Return the model in use and the reason, the chain of choices, API keys by name, and local models."""
    from goalwright.models.model_check import find_problem

    stored_keys.load(os.environ)
    check = request.query_params.get("check", "") not in ("", "0", "false")
    settings = site.settings
    chain = explore(os.environ, settings.model, lambda: ollama.probe(os.environ), local_is_installed())
    model = chain[-1].model
    problem = find_problem(model) if check and model else None
    catalogue = site.pulls.catalogue if site.pulls is not None else None
    return {
        "model": model,
        "chain": [asdict(link) for link in chain],
        "problem": asdict(problem) if problem is not None else None,
        "hint": ways() if model is None else "",
        "keys": [{"name": provider.key, "set": bool(os.environ.get(provider.key))} for provider in providers()],
        "local": model_list.rows(ModelStore(models_dir()), catalogue) if local_is_installed() else [],
        "local_installed": local_is_installed(),
        "missing": bool(model and is_local(model) and not _is_downloaded(model)),
        "configured": settings.model,
    }


def _is_downloaded(model: str) -> bool:
    from goalwright.models.local.model import entry_name  # slow to import, and rarely needed

    return ModelStore(models_dir()).find(entry_name(model)) is not None


async def pull_model(site: Site, request: Request) -> Response:
    """Download a local model; stream the progress, which ends with `done` or `error`."""
    name = bodies.text(await bodies.document(request, "name"), "name") or None
    site.streams.check()
    return stream_reply(_pulling(site, name))


async def _pulling(site: Site, name: str | None) -> AsyncIterator[bytes]:
    from goalwright.models.local.downloads.pull import PullOptions  # slow to import, and rarely needed

    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Progress | None] = asyncio.Queue()

    def report(progress: Progress) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, progress)

    with site.streams.one():
        yield RETRY
        options = site.pulls or PullOptions()
        work = asyncio.ensure_future(asyncio.to_thread(_pull, name, report, options))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        while (progress := await queue.get()) is not None:
            while not queue.empty() and (later := queue.get_nowait()) is not None:
                progress = later  # send only the newest
            yield event("progress", asdict(progress))
            if work.done():
                break
        try:
            installed = await work
        except GoalwrightError as error:
            yield event("error", errors.to_dict(error))
        else:
            yield event("done", {"name": installed.record.name, "bytes": installed.record.bytes})


def _pull(name: str | None, report: Report, options: PullOptions) -> Installed:
    """Download the model, and the backend that runs it faster on this machine."""
    from goalwright.models.local.backends.install import install_faster
    from goalwright.models.local.downloads.pull import pull

    store = ModelStore(models_dir())
    model = pull(name, store=store, report=report, options=options)
    install_faster(store.root, report)
    return model


async def set_model(site: Site, request: Request) -> Response:
    """Set the default model in the user's own configuration."""
    model = bodies.text(await bodies.document(request, "model"), "model").strip()
    if not model or carries_address(model):
        raise InputError(
            "'model' must be a model's name, without an address",
            hint=f"to set an address, edit {site.paths.user_config}",
        )
    await asyncio.to_thread(user_config.set_value, site.paths.user_config, "model", model)
    return json_reply({"model": site.settings.model, "file": str(site.paths.user_config)})


def _chosen() -> str | None:
    """Return the model that is used if none is set."""
    return explore(os.environ, None, lambda: ollama.probe(os.environ), local_is_installed())[-1].model


@in_thread
def show_settings(site: Site, _: Request) -> dict[str, Any]:
    """Return each setting with its value, origin and meaning."""
    resolved, secrets = site.resolved(), Secrets.of(os.environ)
    rows = []
    for setting in fields(Settings):
        if setting.name in FLAGS_ONLY:
            continue
        value = getattr(resolved.settings, setting.name)
        shown = secrets.redact(value) if isinstance(value, str) else value
        origin = resolved.origins.get(setting.name, "default")
        rows.append({"name": setting.name, "value": shown, "origin": origin, **setting.metadata})
    return {
        "settings": rows,
        "model": resolved.settings.model or _chosen(),
        "warnings": list(resolved.warnings),
        "files": [str(path) for path in resolved.files],
        "trusted": is_trusted(site.paths),
        "user_config": str(site.paths.user_config),
    }


@in_thread
def run_doctor(site: Site, _: Request) -> list[dict[str, Any]]:
    """Run the checks of `goalwright doctor`."""
    from goalwright.interfaces.doctor import checks

    results: list[checks.Check] = []
    try:
        resolved = site.resolved()
    except SetupError as error:
        results.append(checks.settings_fault(error))
        resolved = resolve_without_files({}, os.environ)
    results += checks.run_checks(site.paths, resolved, Workspace(site.paths, resolved.settings), os.environ)
    return [asdict(check) for check in results]
