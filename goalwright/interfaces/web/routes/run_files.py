"""The files that a run made, and what it changed in the workspace."""

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
    """What a run changed in the workspace, as `goalwright changes --json` prints it."""
    return _changes(site, site.find(request.path_params["run"]).run_id)


@in_thread
def undo_changes(site: Site, request: Request) -> dict[str, Any]:
    """Put the files back that are unchanged since the run; `left` names those that are not."""
    run = site.find(request.path_params["run"])
    if site.held_by(run) is not None:
        raise HttpError(
            409, "RUN_HELD", f"run {run.run_id} is still running, and may change more", hint="stop it first"
        )
    left = run_changes.changes_of(site.paths, run.run_id).undo()
    return _changes(site, run.run_id) | {"left": left}


def _changes(site: Site, run_id: str) -> dict[str, Any]:
    return run_changes.read(site.reading(), run_id, site.paths).to_dict()


@in_thread
def list_artifacts(site: Site, request: Request) -> list[dict[str, Any]]:
    """The files that a run made."""
    folder = _artifacts(site, request)
    return [{"path": name, "bytes": file.lstat().st_size} for name, file in _files(folder)]


async def artifact(site: Site, request: Request) -> Response:
    """One file that a run made, never of a type that a browser would show; with `first`, so many bytes of it."""
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
            what = f"{name[:200]!r} cannot be read: {error.strerror or error}"
            raise HttpError(413, "TOO_LARGE", what, hint="open it in the workspace's folder") from error

    return attachment(await asyncio.to_thread(read), request.path_params["path"].rpartition("/")[2])


async def image(site: Site, request: Request) -> Response:
    """An image that a model was shown, by its hash, never of a type that a browser would show by itself."""
    run, sha256 = await asyncio.to_thread(site.find, request.path_params["run"]), request.path_params["sha256"]
    data = await asyncio.to_thread(kept_image, site.reading(), run.run_id, sha256)
    if data is None:
        raise HttpError(404, "NOT_FOUND", f"the run has no image {sha256[:64]!r} on record", hint="see its messages")
    return attachment(data, sha256[:16])


def _artifacts(site: Site, request: Request) -> Path:
    run = site.find(request.path_params["run"])
    folder = Artifacts.of(site.paths.workspace, run.run_id).folder
    safe_files.refuse_links(folder, below=site.paths.workspace)
    return folder


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The plain files below a folder; links are left out, since a tool may have planted them."""
    for name in islice(sorted(stamps(folder)), _MOST_ARTIFACTS):
        yield name, folder / name
