"""The files that a run created, and its changes of the workspace."""

from __future__ import annotations

import asyncio
import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import attachment, in_thread
from goalwright.runs.stored.restoring import kept_image
from goalwright.traces import run_changes
from goalwright_executor.results.artifacts import Artifacts
from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.tools.artifacts import stamps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site

_LARGEST = 2_000_000_000
_MOST_ARTIFACTS = 10_000


@in_thread
def show_changes(site: Site, request: Request) -> dict[str, Any]:
    """Return a run's changes of the workspace as `goalwright changes --json` prints them."""
    return _changes(site, site.find(request.path_params["run"]).run_id)


@in_thread
def undo_changes(site: Site, request: Request) -> dict[str, Any]:
    """Restore the files that are unchanged since the run; `left` lists the others."""
    run = site.find(request.path_params["run"])
    if site.held_by(run) is not None:
        raise HttpError(
            409, "RUN_HELD", f"run {run.run_id} is still running and may change more files", hint="stop it first"
        )
    left = run_changes.changes_of(site.paths, run.run_id).undo()
    return _changes(site, run.run_id) | {"left": left}


def _changes(site: Site, run_id: str) -> dict[str, Any]:
    return run_changes.read(site.reading(), run_id, site.paths).to_dict()


@in_thread
def list_artifacts(site: Site, request: Request) -> list[dict[str, Any]]:
    """Return the files that a run created."""
    folder = _artifacts(site, request)
    return [{"path": name, "bytes": file.lstat().st_size} for name, file in _files(folder)]


async def artifact(site: Site, request: Request) -> Response:
    """Return a file that a run created, as a download; with `first`, only that number of bytes."""
    first = bodies.number(request, "first", _LARGEST, _LARGEST)

    def read() -> bytes:
        folder, name = _artifacts(site, request), request.path_params["path"]
        file = next((file for known, file in _files(folder) if known == name), None)
        if file is None:
            raise HttpError(404, "NOT_FOUND", f"the run has no file {name[:200]!r}", hint="see the list")
        try:
            with os.fdopen(untrusted_files.open_regular(file, _LARGEST), "rb") as opened:
                return opened.read(first)
        except OSError as error:
            message = f"{name[:200]!r} cannot be read: {error.strerror or error}"
            raise HttpError(413, "TOO_LARGE", message, hint="open it in the workspace's folder") from error

    return attachment(await asyncio.to_thread(read), request.path_params["path"].rpartition("/")[2])


async def image(site: Site, request: Request) -> Response:
    """Return an image that was sent to a model, by its hash, as a download."""
    run, sha256 = await asyncio.to_thread(site.find, request.path_params["run"]), request.path_params["sha256"]
    data = await asyncio.to_thread(kept_image, site.reading(), run.run_id, sha256)
    if data is None:
        raise HttpError(
            404, "NOT_FOUND", f"the run has no image {sha256[:64]!r} in its record", hint="see its messages"
        )
    return attachment(data, sha256[:16])


def _artifacts(site: Site, request: Request) -> Path:
    run = site.find(request.path_params["run"])
    folder = Artifacts.of(site.paths.workspace, run.run_id).folder
    safe_files.refuse_links(folder, below=site.paths.workspace)
    return folder


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the regular files below a folder; links are left out, because a tool may have created them."""
    for name in islice(sorted(stamps(folder)), _MOST_ARTIFACTS):
        yield name, folder / name
