"""What a run needs and what is there of it: the checks behind `weft doctor`."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from executor.capture.secrets import Secrets
from skills import confinement
from skills.errors import WeftError
from skills.programs import toolchain
from weft.models.model_check import find_problem
from weft.settings import ollama
from weft.settings.default_model import choices, explore, is_local, local_is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from weft.settings.paths import Paths
    from weft.settings.settings import Resolved, Settings
    from weft.workspace.workspace import Workspace

_PACKAGES = ("litellm", "networkx", "jinja2", "pyyaml", "tenacity", "click", "rich")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: `ok` is None where it is neither good nor bad."""

    topic: str
    ok: bool | None
    found: str
    remedy: str = ""


def run_checks(paths: Paths, resolved: Resolved, workspace: Workspace, env: Mapping[str, str]) -> list[Check]:
    """Look at everything; nothing is called or changed."""
    return [
        *_versions(),
        *_model(resolved, env),
        *_settings(paths, resolved, env),
        *_skills(workspace),
        *_prompts(workspace),
        *_tools(workspace),
        *_sandbox(resolved.settings.unsafe_tools),
        _store(paths),
    ]


def _versions() -> Iterator[Check]:
    from weft.version import __version__

    yield Check("weft", True, f"{__version__} on Python {platform.python_version()} ({sys.platform})")
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield Check("packages", False, f"{name} is not installed", "install weft anew: pip install weft")
    yield Check("packages", True, ", ".join(found))


def _model(resolved: Resolved, env: Mapping[str, str]) -> Iterator[Check]:
    chain = explore(env, resolved.settings.model, lambda: ollama.probe(env), local_is_installed())
    for link in chain:
        yield Check("model", True if link.model else None, f"{link.name}: {link.found}")
    own = (resolved.settings.decomposer, resolved.settings.task, resolved.settings.synthesis)
    if chain[-1].model is None and not all(own):
        yield Check("model", False, "none is named, and none was found", choices())
    for name in _looked_at(resolved.settings, chain[-1].model or ""):
        if (found := find_problem(name)) is not None:
            yield Check("model", False if found.certain else None, found.what, found.remedy)
        elif is_local(name):
            yield _local(name)
    keys = sorted(name for name, value in env.items() if name.endswith("_API_KEY") and value)
    yield Check("keys", True if keys else None, ", ".join(keys) or "no provider's key is in the environment")


def _looked_at(settings: Settings, chosen: str) -> Iterable[str]:
    """The models that are named somewhere; one that was found has its key, unless it is local and yet to be fetched."""
    roles = (settings.decomposer, settings.task, settings.synthesis, settings.detector_model)
    named = [name for name in (settings.model, *roles, *settings.fallback) if name]
    return dict.fromkeys([*named, chosen] if is_local(chosen) else named)


def _local(name: str) -> Check:
    from weft.local import model

    found = model.installed(name)
    return Check("model", True, f"{found.record.name}: {found.path}")


def _settings(paths: Paths, resolved: Resolved, env: Mapping[str, str]) -> Iterator[Check]:
    for path in (paths.user_config, paths.workspace / "weft.toml"):
        if path in resolved.files:
            yield Check("settings", True, f"{path}: read")
        else:
            yield Check("settings", None, f"{path}: {'not used' if path.exists() else 'not there'}")
    secrets = Secrets.of(env)
    for name, origin in resolved.origins.items():
        value = secrets.redact(str(getattr(resolved.settings, name)))
        yield Check("settings", None, f"{name} = {value} (from {origin})")
    for warning in resolved.warnings:  # a goal runs all the same, without that setting
        yield Check("settings", None, warning)


def _skills(workspace: Workspace) -> Iterator[Check]:
    rows = workspace.skills.registry.list_skills(all=True)
    counts = {state: sum(row.state == state for row in rows) for state in ("active", "shadowed", "disabled", "broken")}
    text = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none"
    yield Check(
        "skills", counts["active"] > 0, text, "" if counts["active"] else "add one under skills/<name>/SKILL.md"
    )
    if counts["broken"]:
        yield Check("skills", False, f"{counts['broken']} are broken", "weft skills list --all says why")


def _prompts(workspace: Workspace) -> Iterator[Check]:
    try:
        workspace.prompts.check()
    except WeftError as error:
        yield Check("prompts", False, error.message, error.hint)
    else:
        yield Check("prompts", True, "all templates can be used")


def _sandbox(unsafe: bool) -> Iterator[Check]:
    force = confinement.in_force(unsafe=unsafe)
    yield Check("sandbox", bool(force.holds), f"{force.name}: {'; '.join(force.holds) or 'none'}", force.hint)
    for wall in force.lacks:
        yield Check("sandbox", None, f"not held: {wall}")
    for one in toolchain.available():
        found = f"{one.runtime}: {one.version or one.path}" if one.path else f"{one.runtime}: not there"
        yield Check("runtime", True if one.path else None, found, "" if one.path else one.hint)


def _tools(workspace: Workspace) -> Iterator[Check]:
    tools = workspace.tools
    names = sorted(tools.by_name())
    yield Check("tools", None, ", ".join(names) or "none")
    if waiting := sorted({row.name for row in tools.untrusted()}):
        yield Check("tools", None, f"not trusted yet: {', '.join(waiting)}", "read them, then run with --trust")


def _store(paths: Paths) -> Check:
    folder = next(path for path in (paths.agents, paths.workspace) if path.exists())
    writable = os.access(folder, os.W_OK)
    remedy = "" if writable else "make the workspace writable, or choose another with --workspace"
    return Check(
        "store",
        writable,
        f"{folder} ({'writable' if writable else 'read-only'}), SQLite {sqlite3.sqlite_version}",
        remedy,
    )
