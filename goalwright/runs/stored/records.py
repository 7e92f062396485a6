"""Opens the journal, records goals and settings, and reads them back."""

from __future__ import annotations

import os
import platform
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright.runs.goal import Goal
from goalwright.runs.run_id import today
from goalwright.settings.journal_place import recorded_runs as recorded_runs
from goalwright.settings.journal_place import refuse_links
from goalwright.settings.journal_place import url as url
from goalwright.settings.settings import Settings, setting_types
from goalwright.version import __version__
from goalwright_executor.approvals.policy import MODES, ApprovalRule, as_floors, stricter
from goalwright_executor.capture.capture import Capture
from goalwright_executor.capture.named_roots import NamedRoots, is_marked
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.capture.shared_lists import SharedLists
from goalwright_executor.history.indexer import Indexer
from goalwright_executor.journal.journal import Journal
from goalwright_executor.results.artifacts import Artifacts, make_home
from goalwright_executor.stores.errors import BadStore, UnknownRun
from goalwright_executor.stores.urls import without_password
from goalwright_planner.events import RunResumed, RunStarted, decode
from goalwright_skills.builtin import toolset
from goalwright_skills.discovery.locations import locations
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from goalwright.settings.paths import Paths
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.history.run_history import RunHistory
    from goalwright_executor.stores.row import Row, RunSummary
    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import Event, TaskReused
    from goalwright_skills.builtin.writing.targets import WorkspaceWrites

_WEB = ("allow_web", "web_proxy", "search", "allow_network_hosts")
# Settings of the machine, and permissions that only the user gives: a record cannot grant tools.
_LOCAL = frozenset(
    {"journal", "api_base", "unsafe_tools", "helper_minutes", "send_spans", "allow_programs", toolset.KEY, *_WEB}
    | {"prices", "allow_unknown_cost"}
)


def open_journal(paths: Paths, settings: Settings) -> Journal:
    """Open the journal, created if missing; raises if it cannot be written."""
    if not settings.journal:
        try:
            make_home(paths.agents)
        except OSError as error:
            raise BadStore(
                f"{paths.agents} cannot be written: {error.strerror or error}",
                hint="make the folder writable, or name another journal",
                journal=str(paths.agents),
            ) from error
    refuse_links(paths, settings)
    return Journal(url(paths, settings), Indexer)


def first_event(store: Store, run: str, paths: Paths) -> RunStarted:
    """Return the first event of a stored run, with local paths and the settings of the last resume."""
    summary = store.find(run)
    here = capture(paths, summary.run_id)
    first: RunStarted | None = None
    for row in store.rows(summary.run_id, types=("run_started", "run_resumed")):
        match decode(row.type, here.local(row.body)):
            case RunStarted() as event:
                first = event
            case RunResumed(settings=settings) if first is not None:
                first = msgspec.structs.replace(first, settings=settings)
            case _:
                pass
    if first is None:
        raise UnknownRun(f"run {summary.run_id} has no first event on record", hint="run its goal again")
    return first


def event_of(row: Row, paths: Paths) -> Event | None:
    """Decode a stored row with local paths; None if this version does not know its type."""
    return decode(row.type, capture(paths, row.run_id).local(row.body))


def local_rows(rows: Iterable[Row], paths: Paths) -> Iterator[Row]:
    """Yield stored rows with the paths of this checkout in place of named folders."""
    here: dict[str, Capture] = {}
    for row in rows:
        if row.run_id not in here:
            here[row.run_id] = capture(paths, row.run_id)
        yield row._replace(body=here[row.run_id].local(row.body))


def local_text(text: str, run_id: str, paths: Paths) -> str:
    """Return a text of a run with the paths of this checkout."""
    return capture(paths, run_id).local(text) if is_marked(text) else text


def local_summary(run: RunSummary, paths: Paths) -> RunSummary:
    """Return the summary of a run with the paths of this checkout."""
    if not any(map(is_marked, (run.goal, run.note, *run.tags))):
        return run
    here = capture(paths, run.run_id)
    return replace(run, goal=here.local(run.goal), note=here.local(run.note), tags=tuple(map(here.local, run.tags)))


def substitutes(started: RunStarted) -> dict[str, Path]:
    """Return the existing files that replaced skills."""
    return {name: Path(path) for name, path in started.use.items() if Path(path).is_file()}


def capture(paths: Paths, run_id: str, env: Mapping[str, str] = os.environ) -> Capture:
    """Return the capture of a run: its named folders, and the secrets to redact."""
    run = Artifacts.of(paths.workspace, run_id).folder.parent
    roots, secrets, shared = _surrounding(paths, tuple(env.items()), Path.home())
    return Capture(NamedRoots.of(run, paths.workspace, roots), secrets, shared)


@lru_cache(maxsize=8)
def _surrounding(
    paths: Paths, env: tuple[tuple[str, str], ...], home: Path
) -> tuple[tuple[tuple[str, Path], ...], Secrets, SharedLists]:
    """Return the shared parts of the captures of a process: named roots, secrets and captured lists."""
    variables = dict(env)
    return tuple(_roots(paths, variables, home)), Secrets.of(variables), SharedLists()


def started(
    run_id: str,
    goal: Goal,
    workspace: Workspace,
    settings: Settings,
    *,
    parent: str | None = None,
    reused: tuple[TaskReused, ...] = (),
    date: str = "",
) -> RunStarted:
    """Return the first event of a run."""
    return RunStarted(
        run_id=run_id,
        goal=goal.text,
        workspace=str(workspace.paths.workspace),
        settings=plain(settings),
        date=date or today(),
        asked_skills=goal.skills,
        files=tuple(str(path) for path in goal.files),
        answers=goal.answers,
        parent=parent,
        reused=reused,
        versions={"goalwright": __version__, "python": platform.python_version()},
        use={name: str(path) for name, path in workspace.skills.use.items()},
        plan=goal.plan,
        batch=goal.place.batch if goal.place else None,
        batch_goal=goal.place.goal if goal.place else None,
        batch_size=goal.place.size if goal.place else None,
        after=goal.after,
        conversation=goal.conversation,
        schema=goal.data.document if goal.data else None,
        recipe=goal.recipe,
    )


def goal_of(history: RunHistory) -> Goal:
    """Return the original goal of a run; its files may no longer exist."""
    begun = history.started
    if begun is None:
        raise UnknownRun("the record has no first event", hint="export the whole run")
    files = tuple(Path(path) for path in begun.files)
    return Goal.recorded(
        begun.goal,
        tuple(begun.asked_skills),
        files,
        begun.plan,
        tuple(begun.answers),
        begun.schema,
        begun.after,
        begun.conversation,
        begun.recipe,
    )


def plain(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from their defaults, and the set of built-in tools."""
    values = ((field, getattr(settings, field.name)) for field in fields(Settings))
    changed = {field.name: value for field, value in values if value != field.default}
    if settings.journal:
        changed["journal"] = without_password(settings.journal)
    return changed | {toolset.KEY: settings.tool_set}


def settings_of(recorded: Mapping[str, Any], now: Settings, flags: Mapping[str, Any]) -> Settings:
    """Return the recorded settings of a run, except settings of the machine and the flags of this command."""
    names = {field.name for field in fields(Settings)} - _LOCAL
    values = {
        key: tuple(value) if isinstance(value, list) else value for key, value in recorded.items() if key in names
    }
    hints = setting_types()
    wrong = [f"{key} = {value!r}" for key, value in values.items() if not _fits(value, hints[key])]
    if wrong:
        raise InputError(f"the record has invalid settings: {', '.join(wrong)}", hint="export the run again")
    values |= _policy(values, now) | {"workspace_writes": writes_of(recorded, now)}
    own = {name: getattr(now, name) for name in _LOCAL}
    asked = {key: getattr(now, key) for key, value in flags.items() if value not in (None, ()) and key in names}
    return replace(Settings(), **{**values, **own, **asked})


def tightened(settings: Settings, now: Settings) -> Settings:
    """Return recorded settings without the skills that the user has switched off since."""
    return replace(settings, skills_off=tuple(dict.fromkeys((*settings.skills_off, *now.skills_off))))


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a recorded setting has its declared type."""
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


def writes_of(recorded: Mapping[str, Any], now: Settings) -> WorkspaceWrites:
    """Return `workspace_writes` of a resumed run: the current setting, or `ask` if only the record allows writes."""
    if now.workspace_writes != "deny":
        return now.workspace_writes
    return "ask" if recorded.get("workspace_writes") in ("ask", "allow") else "deny"


def _policy(values: Mapping[str, Any], now: Settings) -> dict[str, Any]:
    """Return the approval policy of a resumed run: the stricter of the user's current one and the recorded one.

    A record may be untrusted, and must not lose rules because a variable is no longer set.
    """
    mode, rows = values.get("approve", now.approve), values.get("approvals", ())
    try:
        rules = tuple(ApprovalRule.of(row, number) for number, row in enumerate(rows, 1))
    except ValueError as error:
        raise InputError(f"the record has invalid settings: {error}", hint="export the run again") from error
    added = (rule for rule in dict.fromkeys(as_floors(rules)) if rule not in now.approvals)
    return {"approve": stricter(mode, now.approve) if mode in MODES else mode, "approvals": (*now.approvals, *added)}


def _roots(paths: Paths, env: Mapping[str, str], home: Path) -> Iterator[tuple[str, Path]]:
    counts: dict[str, int] = {}
    for location in locations(paths.workspace, **{"home": home, **paths.skill_roots(env)}):
        # Bundled skills do not belong to the workspace, even if they are inside it, as in goalwright's own checkout.
        if location.source == "bundled" or not location.path.is_relative_to(paths.workspace):
            counts[location.source] = counts.get(location.source, 0) + 1
            yield f"{location.source}-skills-{counts[location.source]}", location.path
    yield "home", home
