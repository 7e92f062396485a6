"""The checks of `goalwright doctor`: the requirements of a run, and remedies for missing ones."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from goalwright.models.choice import ways
from goalwright.models.litellm import stored_keys
from goalwright.models.litellm.keys import KEYS
from goalwright.models.model_check import find_problem
from goalwright.runs.stored import records
from goalwright.runs.stored.requests import open_requests
from goalwright.settings import ollama, skill_lists
from goalwright.settings.default_model import explore, is_local, local_is_installed
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.stores.errors import UnknownRun
from goalwright_executor.stores.urls import without_password
from goalwright_skills import confinement
from goalwright_skills.errors import GoalwrightError, SetupError
from goalwright_skills.programs import toolchain
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from goalwright.settings.paths import Paths
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings
    from goalwright.workspace.workspace import Workspace

_PACKAGES = ("litellm", "networkx", "jinja2", "pyyaml", "tenacity", "click", "rich")
_REQUIRED = frozenset({"model", "packages", "prompts", "ray", "settings", "store"})


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of a check: `ok` is None for information only, `remedy` is the fix of a problem."""

    topic: str
    ok: bool | None
    found: str
    remedy: str = ""

    @property
    def prevents_runs(self) -> bool:
        """Whether no goal can run before this is fixed."""
        return self.ok is False and self.topic in _REQUIRED


def settings_fault(error: SetupError) -> Check:
    """Return the check for invalid settings files, which the other checks then ignore."""
    return Check("settings", False, error.message, "fix this; the checks below ignore the settings files")


def run_checks(paths: Paths, resolved: Resolved, workspace: Workspace, env: Mapping[str, str]) -> list[Check]:
    """Run all checks; no model is called and nothing is changed."""
    return [
        *_check_versions(),
        *_check_models(resolved.settings, env),
        _check_keys(env),
        *_check_settings(paths, resolved, env),
        *_check_skills(workspace),
        *_check_prompts(workspace),
        *_check_tools(workspace),
        *_check_search(resolved.settings, env),
        *_check_network(resolved.settings),
        *_check_mcp(workspace),
        *_check_sandbox(resolved.settings.unsafe_tools),
        _check_helper(paths, resolved.settings),
        _check_store(paths, resolved.settings),
        *_check_approvals(paths, resolved.settings),
    ]


def _check_helper(paths: Paths, settings: Settings) -> Check:
    from goalwright.models.call_process.socket_folder import SocketFolder

    if not settings.helper_minutes:
        return Check("helper", None, "off: every run loads litellm itself (helper_minutes = 0)")
    process = SocketFolder.of(paths.cache).served_by()
    idle = f"it ends {settings.helper_minutes:g} minutes after the last run"
    if process is None:
        return Check(
            "helper",
            None,
            f"not running: the next run at a terminal starts it, to keep litellm loaded for later ones; {idle}",
        )
    return Check("helper", None, f"process {process} keeps litellm loaded for runs at a terminal; {idle}")


def _check_versions() -> Iterator[Check]:
    from goalwright.version import __version__

    yield Check("goalwright", True, f"{__version__} on Python {platform.python_version()} ({sys.platform})")
    installed = []
    for name in _PACKAGES:
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield Check("packages", False, f"{name} is not installed", "reinstall goalwright: pip install goalwright")
    yield Check("packages", True, ", ".join(installed))


def _check_models(settings: Settings, env: Mapping[str, str]) -> Iterator[Check]:
    candidates = explore(env, settings.model, lambda: ollama.probe(env), local_is_installed())
    for candidate in candidates:
        yield Check("model", True if candidate.model else None, f"{candidate.name}: {candidate.found}")
    default = candidates[-1].model
    if default is None and not all((settings.decomposer, settings.task, settings.synthesis)):
        yield Check("model", False, "no model is set, and none was found", ways())
    for name in _models_in_use(settings, default or ""):
        if (problem := find_problem(name)) is not None:
            yield Check("model", False if problem.certain else None, problem.what, problem.remedy)
        elif is_local(name):
            yield from _describe_local(name)


def _models_in_use(settings: Settings, default: str) -> Iterable[str]:
    """Return the models in the settings and a local default; another default was verified by its key or server."""
    roles = (settings.decomposer, settings.task, settings.synthesis, settings.detector_model)
    named = [name for name in (settings.model, *roles, *settings.fallback) if name]
    return dict.fromkeys([*named, default] if is_local(default) else named)


def _describe_local(name: str) -> Iterator[Check]:
    from goalwright.models.local import model
    from goalwright.models.local.backends.choose import choose
    from goalwright.models.local.backends.install import fault
    from goalwright.models.local.serving.server import known_speed

    installed = model.installed(name)
    yield Check("model", True, f"{installed.record.name}: {installed.path}")
    try:
        choice = choose()
    except GoalwrightError as error:
        yield Check("backend", False, error.message, error.hint)
        return
    program = choice.backend.program
    if program is not None and (problem := fault(program)):
        found = f"{choice.backend} does not start ({problem}), so xllamacpp runs"
        yield Check("backend", None, found, f"delete {program.parent}, then `goalwright models pull`")
        return
    remedy = f"faster here: {choice.faster}" if choice.faster else ""
    yield Check("backend", None if remedy else True, f"{choice.backend}: {choice.why}", remedy)
    speed = known_speed(installed.path, choice.backend)
    yield Check("backend", None, f"{installed.record.name}: {speed or 'its speed is measured when it is first loaded'}")


def _check_keys(env: Mapping[str, str]) -> Check:
    store = stored_keys.KeyStore.of(env)
    try:
        stored = {provider: place for provider, place in store.kept().items() if store.counts(provider, env)}
    except SetupError as error:
        return Check("keys", False, error.message, error.hint)
    own = {
        KEYS[provider][0]: f"{KEYS[provider][0]} ({place} of `goalwright keys`)" for provider, place in stored.items()
    }
    found = {name: name for name, value in env.items() if name.endswith("_API_KEY") and value} | own
    none = "no provider key is set in the environment or kept by `goalwright keys`"
    return Check("keys", True if found else None, ", ".join(found[name] for name in sorted(found)) or none)


def _check_settings(paths: Paths, resolved: Resolved, env: Mapping[str, str]) -> Iterator[Check]:
    for path in (paths.user_config, paths.workspace / "goalwright.toml"):
        if path in resolved.files:
            yield Check("settings", True, f"{path}: read")
        else:
            yield Check("settings", None, f"{path}: {'not used' if path.exists() else 'not found'}")
    secrets = Secrets.of(env)
    for name, origin in resolved.origins.items():
        value = secrets.redact(without_password(_format_value(getattr(resolved.settings, name))))
        key = skill_lists.name_in_file(name) if name in skill_lists.LISTS else name
        yield Check("settings", None, f"{key} = {value} (from {origin})")
    for warning in resolved.warnings:  # information only: goals run without that setting
        yield Check("settings", None, warning)


def _format_value(value: object) -> str:
    """Format the value of a setting."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _check_skills(workspace: Workspace) -> Iterator[Check]:
    rows = workspace.skills.registry.list_skills(all=True)
    counts = {state: sum(row.state == state for row in rows) for state in ("active", "shadowed", "disabled", "broken")}
    found = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none"
    remedy = "" if counts["active"] else "add one as skills/<name>/SKILL.md"
    yield Check("skills", counts["active"] > 0, found, remedy)
    if counts["broken"]:
        yield Check("skills", False, f"broken: {counts['broken']}", "`goalwright skills list --all` shows why")
    yield from _check_origins(workspace.paths.workspace)


def _check_origins(workspace: Path) -> Iterator[Check]:
    """Check whether imported skills have been changed."""
    from goalwright_skills.manage import lock_file

    try:
        origins = lock_file.read(workspace)
    except GoalwrightError as error:
        yield Check("skills", None, error.message, error.hint)
        return
    folder = workspace / ".agents" / "skills"
    changed = [name for name, origin in origins.items() if lock_file.fingerprint(folder / name) != origin.sha256]
    if changed:
        yield Check(
            "skills",
            None,
            f"changed since import: {', '.join(changed)}",
            "`goalwright skills update` shows the differences",
        )


def _check_prompts(workspace: Workspace) -> Iterator[Check]:
    try:
        workspace.prompts().check()
    except GoalwrightError as error:
        yield Check("prompts", False, error.message, error.hint)
    else:
        yield Check("prompts", True, "all templates are valid")


def _check_sandbox(unsafe: bool) -> Iterator[Check]:
    force = confinement.describe(unsafe=unsafe)
    yield Check("sandbox", bool(force.holds), f"{force.name}: {'; '.join(force.holds) or 'none'}", force.hint)
    for limit in force.lacks:
        yield Check("sandbox", None, f"not enforced: {limit}")
    for tool in toolchain.available():
        found = f"{tool.runtime}: {tool.version or tool.path}" if tool.path else f"{tool.runtime}: not found"
        yield Check("runtime", True if tool.path else None, found, "" if tool.path else tool.hint)


def _check_tools(workspace: Workspace) -> Iterator[Check]:
    tools = workspace.tools
    names = sorted(tools.by_name())
    yield Check("tools", None, ", ".join(names) or "none")
    if untrusted := sorted({row.name for row in tools.untrusted()}):
        yield Check("tools", None, f"not trusted yet: {', '.join(untrusted)}", "review them, then run with --trust")


def _check_network(settings: Settings) -> Iterator[Check]:
    """Check which hosts commands may reach, and whether the sandbox supports it."""
    hosts = ", ".join(settings.allow_network_hosts)
    if hosts and confinement.choose(unsafe=settings.unsafe_tools).bridges:
        yield Check("network", True, f"commands may reach {hosts}")
    elif hosts:
        yield Check("network", False, f"commands have no network, so they do not reach {hosts}", "install bubblewrap")


def _check_search(settings: Settings, env: Mapping[str, str]) -> Iterator[Check]:
    """Check the configured web search, without a request."""
    provider = settings.search
    if provider is None:
        return
    names, key = provider.key_names, provider.key(env)
    remedy = f"set {names[0]} in the environment" if names and not key else ""
    yield Check("search", not remedy, f"{provider}{', no key is set' if remedy else ''}", remedy)


def _check_mcp(workspace: Workspace) -> Iterator[Check]:
    """Check the configuration of MCP servers, without starting them."""
    if not workspace.tools.has_mcp:
        return
    states, warnings = workspace.tools.mcp.states()
    for warning in warnings:
        yield Check("mcp", None, warning)
    for state in states:
        tools = f", {counted(len(state.tools), 'tool')}" if state.tools else ""
        found = f"{state.entry.name}: {state.state}{tools}"
        ok = True if state.state == "active" else False if state.state == "broken" else None
        yield Check("mcp", ok, found, state.reason or "")
    started = [state.entry for state in states if not state.entry.raw.get("url")]
    if unconfined := [entry.name for entry in started if not entry.confined]:
        hint = 'add "confined": true to an entry to run it in the sandbox of tools'
        yield Check("mcp", None, f"not confined, so they can do whatever you can: {', '.join(unconfined)}", hint)
    if confined := [entry.name for entry in started if entry.confined]:
        yield Check("mcp", None, f"confined as tools are: {', '.join(confined)}")


def _check_store(paths: Paths, settings: Settings) -> Check:
    if settings.journal and not records.url(paths, settings).startswith("sqlite:"):
        return _check_database(paths, settings)
    folder = next(path for path in (paths.agents, paths.workspace) if path.exists())
    writable = os.access(folder, os.W_OK)
    found = f"{folder} ({'writable' if writable else 'read-only'}), SQLite {sqlite3.sqlite_version}"
    remedy = "" if writable else "make the workspace writable, or choose another with --workspace"
    return Check("store", writable, found, remedy)


def _check_database(paths: Paths, settings: Settings) -> Check:
    place = without_password(records.url(paths, settings))
    try:
        with closing(records.recorded_runs(paths, settings)) as store:
            found = store.status()
    except UnknownRun:
        return Check("store", True, f"{place}: no journal yet; the first run creates it")
    except GoalwrightError as error:
        return Check("store", False, error.message, error.hint)
    return Check("store", True, f"{place}: schema {found.schema}, {counted(found.runs, 'run')}")


def _check_approvals(paths: Paths, settings: Settings) -> Iterator[Check]:
    """Count the open requests of this workspace."""
    if not settings.journal and not (paths.agents / "journal.sqlite").exists():
        return
    try:
        store = records.recorded_runs(paths, settings)
    except GoalwrightError:  # no journal yet, or _check_store reports the error
        return
    with closing(store):
        waiting = open_requests(store, paths)
    if waiting:
        runs = len({opened.run.run_id for opened in waiting})
        found = f"{counted(len(waiting), 'request')} of {counted(runs, 'run')} waiting for your answer"
        yield Check("approvals", None, found, "`goalwright approvals` lists them")
