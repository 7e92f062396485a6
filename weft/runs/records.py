"""Between a run and its record: where the journal is, how a goal is written down, and how it is read back."""

from __future__ import annotations

import os
import platform
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from executor.capture.capture import Capture
from executor.capture.named_roots import NamedRoots
from executor.capture.secrets import Secrets
from executor.journal import codec
from executor.journal.event_check import fits
from executor.journal.journal import Journal
from executor.journal.open_store import open_store
from executor.stores.errors import BadStore, UnknownRun
from executor.stores.urls import normal, url_of
from executor.tasks.artifacts import Artifacts, make_home
from planner.events import RunResumed, RunStarted
from skills.discovery.locations import locations
from skills.errors import InputError
from weft.runs.goal import Goal
from weft.runs.pipeline import today
from weft.settings.settings import Settings
from weft.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from executor.history.run_history import RunHistory
    from executor.stores.store import Store
    from weft.settings.paths import Paths
    from weft.workspace.workspace import Workspace

# What belongs to where a run is carried out, not to the run.
_OF_THE_PLACE = frozenset({"journal", "api_base", "unsafe_tools"})


def url(paths: Paths, settings: Settings) -> str:
    """Where the journal is: as set, else in the workspace."""
    if settings.journal:
        return normal(settings.journal, Path.cwd())
    return url_of(paths.agents / "journal.sqlite")


def opened(paths: Paths, settings: Settings) -> Journal:
    """The journal, made where there is none; says at once where it cannot be written."""
    if not settings.journal:
        try:
            make_home(paths.agents)
        except OSError as error:
            raise BadStore(
                f"{paths.agents} cannot be written: {error.strerror or error}",
                hint="make the folder writable, or put the journal elsewhere with --journal sqlite:///path",
            ) from error
    return Journal(url(paths, settings))


def kept(paths: Paths, settings: Settings) -> Store:
    """The store of earlier runs, for looking only."""
    return open_store(url(paths, settings), create=False)


def begun(store: Store, run: str, paths: Paths) -> RunStarted:
    """The first event of a stored run, with paths as they are here and the settings of its last sitting."""
    summary = store.find(run)
    here = capture(paths, summary.run_id)
    first: RunStarted | None = None
    for row in store.rows(summary.run_id, types=("run_started", "run_resumed")):
        match codec.event(row.type, here.local(row.body)):
            case RunStarted() as event:
                first = event
            case RunResumed(settings=settings) if first is not None:
                first = replace(first, settings=settings)
            case _:
                pass
    if first is None:
        raise UnknownRun(f"run {summary.run_id} has no beginning on record", hint="run its goal anew")
    return first


def substitutes(begun: RunStarted) -> dict[str, Path]:
    """The files that stood in the place of skills; one that is gone is left out."""
    return {name: Path(path) for name, path in begun.use.items() if Path(path).is_file()}


def capture(paths: Paths, run_id: str, env: Mapping[str, str] = os.environ) -> Capture:
    """How this run's texts are written down: which folders have names, and what must not be written."""
    run = Artifacts.of(paths.workspace, run_id).folder.parent
    roots, secrets = _surrounding(paths, tuple(env.items()), Path.home())
    return Capture(NamedRoots.of(run, paths.workspace, roots), secrets)


@lru_cache(maxsize=8)
def _surrounding(
    paths: Paths, env: tuple[tuple[str, str], ...], home: Path
) -> tuple[tuple[tuple[str, Path], ...], Secrets]:
    """What all runs of a process share: the roots other than their own, and what must not be written."""
    variables = dict(env)
    return tuple(_roots(paths, variables, home)), Secrets.of(variables)


def started(run_id: str, goal: Goal, workspace: Workspace, *, parent: str | None, date: str) -> RunStarted:
    """The first event of a run."""
    return RunStarted(
        run_id=run_id,
        goal=goal.text,
        workspace=str(workspace.paths.workspace),
        settings=plain(workspace.settings),
        date=date or today(),
        asked_skills=goal.skills,
        files=tuple(str(path) for path in goal.files),
        answers=goal.answers,
        parent=parent,
        versions={"weft": __version__, "python": platform.python_version()},
        use={name: str(path) for name, path in workspace.skills.use.items()},
        plan=goal.plan,
    )


def goal_of(history: RunHistory) -> Goal:
    """The goal as it was given then; its files may be gone by now."""
    begun = history.started
    if begun is None:
        raise UnknownRun("the record has no beginning", hint="export the whole run")
    plan = begun.plan
    if (
        plan is None and history.planned is not None and history.planned.attempts == 0
    ):  # as earlier versions recorded it
        plan = history.planned.plan
    files = tuple(Path(path) for path in begun.files)
    return Goal.recorded(begun.goal, tuple(begun.asked_skills), files, plan, tuple(begun.answers))


def plain(settings: Settings) -> dict[str, Any]:
    """The settings that were set, as plain values."""
    values = ((one, getattr(settings, one.name)) for one in fields(Settings))
    return {one.name: value for one, value in values if value != one.default}


def settings_of(recorded: Mapping[str, Any], now: Settings, flags: Mapping[str, Any]) -> Settings:
    """The settings for going on with a run: as recorded, save what belongs to the place and what is asked for now."""
    names = {one.name for one in fields(Settings)} - _OF_THE_PLACE
    then = {key: tuple(value) if isinstance(value, list) else value for key, value in recorded.items() if key in names}
    hints = get_type_hints(Settings)
    wrong = [f"{key} = {value!r}" for key, value in then.items() if not fits(value, hints[key])]
    if wrong:
        raise InputError(f"the record's settings are not as they can be: {', '.join(wrong)}", hint="export it again")
    own = {name: getattr(now, name) for name in _OF_THE_PLACE}
    asked = {key: getattr(now, key) for key, value in flags.items() if value not in (None, ()) and key in names}
    return replace(Settings(), **{**then, **own, **asked})


def _roots(paths: Paths, env: Mapping[str, str], home: Path) -> Iterator[tuple[str, Path]]:
    counts: dict[str, int] = {}
    for location in locations(paths.workspace, env=env, home=home):
        # What weft ships is not the workspace's, even where the one lies inside the other.
        if location.source == "bundled" or not location.path.is_relative_to(paths.workspace):
            counts[location.source] = counts.get(location.source, 0) + 1
            yield f"{location.source}-skills-{counts[location.source]}", location.path
    yield "home", home
