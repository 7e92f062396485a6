"""Lists, shows, adds, edits, deletes, trusts and tries the skills of the workspace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web import bodies, skill_rights
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import in_thread, json_reply
from goalwright.workspace import skill_list
from goalwright_skills import check as checks
from goalwright_skills.errors import InputError, UnknownSkill
from goalwright_skills.manage import edit, install
from goalwright_skills.programs.fingerprint import fingerprint
from goalwright_skills.programs.trust import OWN
from goalwright_skills.text.formatting import nearest_names

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from goalwright.interfaces.web.site import Site
    from goalwright_skills.skill import Skill


@in_thread
def list_skills(site: Site, request: Request) -> list[dict[str, Any]]:
    """Return the skills as `skills list --json` prints them, with whether they are editable and their tools trusted.

    `decided` lists what settings and authors say about when a skill is used. The tools of MCP servers are listed with
    the servers.
    """
    everything = request.query_params.get("all", "") not in ("", "0", "false")
    workspace = site.workspace
    workspace.skills.registry.refresh()
    rows = workspace.skills.registry.list_skills(all=everything)
    tools = workspace.tools
    scripts = [row for row in tools.scripted() if not tools.trusts(row)]
    untrusted = {row.base_dir for row in (*tools.untrusted(), *scripts)}
    others = skill_list.installed_tools(workspace.skills.preferences, everything=everything)
    writes = skill_rights.may_write_project(site)
    more = {"editable": False, "locked": skill_rights.installed(), "trusted": True, "decided": []}
    return [_line(site, row, trusted=row.base_dir not in untrusted, writes=writes) for row in rows] + [
        skill.to_dict() | more for skill in others
    ]


@in_thread
def show_skill(site: Site, request: Request) -> dict[str, Any]:
    """Return one skill with its files, check results and trust; nothing of it is run."""
    skill = _find(site, request.path_params["name"])
    files = [{"path": path, "bytes": size} for path, size in install.files(skill)]
    tools = site.workspace.tools
    is_program = (skill.base_dir / "skill.yaml").is_file() and skill.source not in OWN
    needed = is_program or tools.has_scripts(skill)
    trusted = not needed or tools.trusts(skill)
    trust = {"needed": needed, "trusted": trusted, "fingerprint": fingerprint(skill.base_dir) if needed else None}
    reports = asyncio.run(checks.review(skill.base_dir, None, root=skill.source == "root"))
    check = [report.to_dict() for report in reports]
    line = _line(site, skill, trusted=trusted, writes=skill_rights.may_write_project(site))
    return line | {"files": files, "trust": trust, "check": check}


async def add_skill(site: Site, request: Request) -> Response:
    """Create a minimal skill."""
    body = await bodies.document(request, "id", "name", "description")
    name = bodies.text(body, "id") or bodies.text(body, "name")
    title = bodies.text(body, "name") if body.get("id") else ""

    def add() -> str:
        path = install.add(site.paths.workspace, name, bodies.text(body, "description"), title)
        site.workspace.skills.registry.scan()
        return str(path)

    return json_reply({"name": name, "path": await asyncio.to_thread(add)}, 201)


@in_thread
def copy_skill(site: Site, request: Request) -> dict[str, str]:
    """Copy a skill of another source into the workspace, so that it can be edited."""
    name = request.path_params["name"]
    return {"name": name, "path": str(install.copy(site.workspace.skills.registry, _find(site, name)))}


@in_thread
def delete_skill(site: Site, request: Request) -> dict[str, str]:
    """Delete a skill of the workspace."""
    name = request.path_params["name"]
    return {"name": name, "deleted": str(install.delete(site.workspace.skills.registry, name))}


async def read_file(site: Site, request: Request) -> Response:
    """Return a file of a skill as text; its `ETag` is its hash."""

    def read() -> edit.SkillText:
        return edit.read(_find(site, request.path_params["name"]), request.path_params["path"])

    file = await asyncio.to_thread(read)
    return json_reply({"path": request.path_params["path"], "text": file.text}, headers={"etag": f'"{file.sha256}"'})


async def write_file(site: Site, request: Request) -> Response:
    """Write a file of a skill if it is unchanged since it was read; a new file has the empty tag."""
    tag = _tag(request)
    text = bodies.text(await bodies.document(request, "text", limit=4 * bodies.BODY), "text")
    name, path = request.path_params["name"], request.path_params["path"]
    registry, project = site.workspace.skills.registry, skill_rights.may_write_project(site)
    written = await asyncio.to_thread(edit.write, registry, name, path, text, tag, project=project)
    return json_reply({"path": path}, headers={"etag": f'"{written.sha256}"'})


async def delete_file(site: Site, request: Request) -> Response:
    """Delete a file of a skill if it is unchanged since it was read."""
    name, path = request.path_params["name"], request.path_params["path"]
    registry, project = site.workspace.skills.registry, skill_rights.may_write_project(site)
    await asyncio.to_thread(edit.remove, registry, name, path, _tag(request), project=project)
    return json_reply({"deleted": path})


async def rename_file(site: Site, request: Request) -> Response:
    """Rename a file of a skill if it is unchanged since it was read."""
    name, path, tag = request.path_params["name"], request.path_params["path"], _tag(request)
    to = bodies.text(await bodies.document(request, "to"), "to")
    registry, project = site.workspace.skills.registry, skill_rights.may_write_project(site)
    await asyncio.to_thread(edit.rename, registry, name, path, to, tag, project=project)
    return json_reply({"path": to})


def _tag(request: Request) -> str:
    """Return the hash that the client read the file with; empty for a new file."""
    tag = request.headers.get("if-match")
    if tag is None:
        raise HttpError(412, "NO_IF_MATCH", "If-Match is missing", hint="send the ETag that the file was read with")
    return tag.strip().strip('"')


async def trust_skill(site: Site, request: Request) -> Response:
    """Trust a skill's tools if their fingerprint is the one that was shown."""
    approved = bodies.text(await bodies.document(request, "fingerprint"), "fingerprint")
    if not approved:
        raise InputError("'fingerprint' is missing", hint="send the one that was shown with the skill's files")

    def trust() -> None:
        skill = _find(site, request.path_params["name"])
        site.workspace.tools.trust.trust(skill.base_dir, approved)

    await asyncio.to_thread(trust)
    return json_reply({"trusted": True})


async def select(site: Site, request: Request) -> Response:
    """Return the skills that a goal would select, and why; with `top`, the best ones without a threshold."""
    body = await bodies.document(request, "goal", "top")
    goal, top = bodies.text(body, "goal"), body.get("top")
    if not goal.strip():
        raise InputError("the goal is empty", hint="type one")
    if top is not None and (type(top) is not int or top < 1):
        raise InputError(f"'top' must be a positive integer, not {top!r:.40}", hint="see docs/serve.md")

    def read() -> list[dict[str, Any]]:
        skills = site.workspace.skills
        with site.selecting:
            if top is not None:
                selected = skills.rank(skills.request(goal, limit=min(top, 100)))
            else:
                selected = skills.select(skills.request(goal))
        return [
            {"name": selection.name, "score": selection.score, "reason": selection.reason} for selection in selected
        ]

    return json_reply({"goal": goal, "selected": await asyncio.to_thread(read)})


def _find(site: Site, name: str) -> Skill:
    """Return the skill or tool of that name; an active one precedes a broken or shadowed one."""
    registry = site.workspace.skills.registry
    registry.refresh()
    active = registry.get(name)
    if active is not None:
        return active
    rows = registry.list_skills(all=True)
    for row in rows:
        if row.name == name:
            return row
    near = nearest_names(name, [row.name for row in rows])
    raise UnknownSkill(f"there is no skill {name[:80]!r}; known skills: {near}", hint="use one of these names")


def _line(site: Site, skill: Skill, *, trusted: bool, writes: bool) -> dict[str, Any]:
    locked = skill_rights.lock(site, skill, writes=writes)
    rights = {"editable": locked is None, "deletable": locked is None and skill.source == "workspace", "locked": locked}
    decided = site.workspace.skills.preferences.notes(skill) if skill.state == "active" else []
    return skill.to_dict() | rights | {"trusted": trusted, "decided": decided}
