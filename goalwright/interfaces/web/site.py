"""The state that the routes share: the workspace, its settings and skills, the journal, and the runs started here."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright.interfaces.web.changes import Changes, Recent
from goalwright.interfaces.web.drafts import Drafts
from goalwright.interfaces.web.logins import WebLogins
from goalwright.interfaces.web.streams import Streams
from goalwright.interfaces.web.work import Work
from goalwright.settings.paths import Paths
from goalwright.settings.resolve import resolve
from goalwright.settings.untrusted import is_trusted
from goalwright_executor.stores.errors import UnknownRun
from goalwright_skills.errors import GoalwrightError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from goalwright.models.local.downloads.pull import PullOptions
    from goalwright.models.open import OpenModel
    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings
    from goalwright.workspace.workspace import Workspace
    from goalwright_executor.journal.journal import Journal
    from goalwright_executor.stores.row import Row, RunSummary
    from goalwright_executor.stores.store import Store

# The settings that a page may change for a run; guarded settings and the addresses of models are left out.
GIVEN = frozenset(
    {
        "model", "fallback", "decomposer", "task", "synthesis", "detector", "strict_skills", "max_concurrency",
        "max_cost", "max_tokens", "timeout", "task_timeout", "tool_calls", "max_tasks",
    }
)  # fmt: skip

# Seconds for which all streams share a check of the skills, and a list of the newest runs; and the length of the list.
_SKILLS_SECONDS = 1.5
_RUNS_SECONDS = 0.4
_NEWEST = 200
# Seconds that a request waits for runs to be indexed.
_INDEX_SECONDS = 0.5


class Site:
    """One workspace; `flags` are settings from the command line, and `open_model` and `pulls` are for tests."""

    def __init__(
        self,
        workspace: Path,
        flags: Mapping[str, Any] | None = None,
        *,
        read_only: bool = False,
        open_model: OpenModel | None = None,
        pulls: PullOptions | None = None,
    ) -> None:
        self.paths = Paths.of(workspace, os.environ)
        self.read_only = read_only
        self._flags = {key: value for key, value in (flags or {}).items() if value is not None}
        self._open_model = open_model
        self.pulls = pulls
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._journal: Journal | None = None
        self._workspace: Workspace | None = None
        self._indexing: threading.Thread | None = None
        self.selecting = threading.Lock()
        self.turning = asyncio.Lock()  # turns of conversations start one at a time
        self.changes = Changes(self.store)
        self.streams = Streams()
        self.skills_stamp = Recent(self._skills_stamp, _SKILLS_SECONDS)
        self.newest = Recent(self._newest, _RUNS_SECONDS)
        self.drafts = Drafts(self.paths.workspace)
        self.work = Work(self.journal)
        self.logins = WebLogins()

    def _newest(self) -> list[RunSummary]:
        store = self.store()
        return [self.local(run) for run in store.summaries(_NEWEST)] if store is not None else []

    def _skills_stamp(self) -> int:
        """Return a number that changes when a skill is added, changed or deleted."""
        registry = self.workspace.skills.registry
        registry.refresh()
        return hash(tuple((skill.file, skill.stamp, skill.state) for skill in registry.list_skills(all=True)))

    def resolved(self, given: Mapping[str, Any] | None = None) -> Resolved:
        """Return the current settings, with those that a page gives for one run."""
        given = {key: value for key, value in (given or {}).items() if value not in (None, "", [])}
        if unknown := sorted(set(given) - GIVEN):
            raise InputError(f"a page cannot set {', '.join(unknown)}", hint=f"it can set {', '.join(sorted(GIVEN))}")
        here = self.paths
        flags = self._flags | {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
        return resolve(flags, os.environ, here.workspace, here.user_config, trusted=is_trusted(here))

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self.resolved().settings

    def store(self) -> Store | None:
        """Return the recorded runs; None if nothing has been run here."""
        with self._opening:
            if self._store is None:
                settings = self.settings
                if not settings.journal and not (self.paths.agents / "journal.sqlite").exists():
                    return None
                from goalwright.runs.stored import (
                    records,
                )  # late, for a quick first page

                self._store = records.recorded_runs(self.paths, settings)
            return self._store

    def catch_up(self) -> bool:
        """Index new runs, and return whether all are indexed; a long backlog is indexed in a thread."""
        from goalwright_executor.history.indexer import catch_up

        store = self.reading()
        if self._indexing is not None and self._indexing.is_alive():
            return False
        try:
            if catch_up(store, _INDEX_SECONDS):
                return True
        except GoalwrightError:  # a read-only journal is searched with its present index
            return True

        def work() -> None:
            with suppress(GoalwrightError):
                while not self.streams.closing and not catch_up(store, _INDEX_SECONDS) and store.unindexed(_NEWEST):
                    pass

        self._indexing = threading.Thread(target=work, name="index", daemon=True)
        self._indexing.start()
        return False

    def reading(self) -> Store:
        """Return the recorded runs; raise if there are none."""
        store = self.store()
        if store is None:
            raise UnknownRun("nothing has been run in this workspace yet", hint="start with a new goal")
        return store

    def journal(self) -> Journal:
        """Return the journal for runs started here, opened when first needed."""
        with self._opening:
            if self._journal is None:
                from goalwright.runs.stored import records

                self._journal = records.open_journal(self.paths, self.settings)
            return self._journal

    def find(self, run_id: str) -> RunSummary:
        """Return the run of exactly this id."""
        run = self.reading().find(run_id)
        if run.run_id != run_id:
            raise UnknownRun(f"there is no run {run_id!r}", hint="see the list of runs")
        return self.local(run)

    def rows(self, run_id: str, *, types: Collection[str] = (), after: int = 0) -> Iterator[Row]:
        """Return a run's events with the paths of this checkout."""
        from goalwright.runs.stored import records

        return records.local_rows(self.reading().rows(run_id, types=types, after=after), self.paths)

    def local(self, run: RunSummary) -> RunSummary:
        """Return a run's summary with the paths of this checkout."""
        from goalwright.runs.stored import records

        return records.local_summary(run, self.paths)

    def held_by(self, run: RunSummary) -> str | None:
        """Return which process runs it: `here`, `elsewhere` or None."""
        if self.work.holds(run.run_id):
            return "here"
        return "elsewhere" if run.status == "running" else None

    def run_status(self, run_id: str) -> dict[str, Any] | None:
        """Return a run's status and which process runs it; None if it was deleted."""
        try:
            run = self.find(run_id)
        except UnknownRun:
            return None
        return {"run_id": run_id, "status": run.status, "held_by": self.held_by(run)}

    @property
    def workspace(self) -> Workspace:
        """The workspace's skills and tools, with the current settings."""
        from goalwright.workspace.workspace import Workspace

        settings = self.settings
        workspace = self._workspace
        if workspace is None or workspace.settings != settings:
            workspace = self._workspace = Workspace(self.paths, settings)
        return workspace

    def runtime(self, settings: Settings, use: Mapping[str, Path] | None = None, *, record: bool = True) -> Goalwright:
        """Return a runtime for one run; recording runtimes share one journal."""
        from goalwright.models.litellm import lifecycle
        from goalwright.runs.runtime import Goalwright

        if self._open_model is None:
            lifecycle.preload()
        return Goalwright(
            self.paths.workspace,
            replace(settings, journal=self.settings.journal),
            open_model=self._open_model,
            use=use,
            journal=self.journal() if record else None,
        )

    async def close(self) -> list[str]:
        """Interrupt the runs here, close everything, and return the ids of the interrupted runs."""
        self.streams.closing = True
        self.changes.wake()
        interrupted = await self.work.close()
        self.changes.close()
        self.drafts.close()
        if self._indexing is not None:
            await asyncio.to_thread(self._indexing.join, 5 * _INDEX_SECONDS)
        if self._journal is not None:
            self._journal.close()
        if self._store is not None:
            self._store.close()
        if (provider := sys.modules.get("goalwright.models.litellm.lifecycle")) is not None:
            await provider.close()
        return interrupted
