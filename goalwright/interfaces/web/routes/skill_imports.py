"""Skills from archives, which are kept only after the user confirms them, and files for goals."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies
from goalwright.interfaces.web.replies import json_reply
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright_skills.manage.install import Staged


async def stage_import(site: Site, request: Request) -> Response:
    """Unpack an archive and return its files and suspicious findings; nothing is kept yet."""
    upload = site.drafts.place()
    try:
        await bodies.save(request, upload, bodies.ARCHIVE)
        name = request.query_params.get("id") or None
        key, staged = await asyncio.to_thread(site.drafts.stage, upload, name)
    except BaseException:
        site.drafts.discard(upload)
        raise
    return json_reply({"key": key} | _shape(staged), 201)


async def commit_import(site: Site, request: Request) -> Response:
    """Keep a staged skill; over an existing one only with `replace`."""
    replace = bodies.flag(await bodies.document(request, "replace"), "replace")
    key = request.path_params["key"]
    staged = site.drafts.staged(key)

    def commit() -> dict[str, Any]:
        replaced = staged.exists
        path = staged.commit(replace=replace)
        site.workspace.skills.registry.scan()
        return {"id": staged.id, "name": staged.name, "path": str(path), "replaced": replaced}

    document = await asyncio.to_thread(commit)
    site.drafts.drop(key)
    return json_reply(document, 201)


async def cancel_import(site: Site, request: Request) -> Response:
    """Remove a staged skill."""
    site.drafts.drop(request.path_params["key"])
    return json_reply({})


async def upload_file(site: Site, request: Request) -> Response:
    """Keep a file for a goal; a run that starts with it gets a copy."""
    name = PurePosixPath(request.query_params.get("name") or "file").name
    if not name or name in (".", "..") or "\0" in name or "\\" in name or len(name.encode()) > 200:
        raise InputError(f"{name[:80]!r} is not a file name", hint="send ?name=report.csv")
    upload = site.drafts.place(name)
    try:
        size = await bodies.save(request, upload, bodies.FILE)
    except BaseException:
        site.drafts.discard(upload)
        raise
    return json_reply({"file": f"upload:{site.drafts.keep(upload)}", "name": name, "bytes": size}, 201)


def _shape(staged: Staged) -> dict[str, Any]:
    return {
        "id": staged.id,
        "name": staged.name,
        "description": staged.description,
        "exists": staged.exists,
        "files": list(staged.files),
        "problems": [
            {"line": problem.line, "rule": problem.rule, "message": problem.message} for problem in staged.problems
        ],
        "distrust": [asdict(finding) for finding in staged.distrust],
    }
