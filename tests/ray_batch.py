"""A batch on a test cluster, with its provider and its journal."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from goalwright_executor.stores.postgres.address import address_of
from tests.soaks.kill_batch import answering

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery, Process
    from tests.openai_server import Answer, Call, OpenAIServer, Script
    from tests.ray_cluster import RayCluster

_TWICE = (
    "SELECT run FROM events WHERE type = 'call_finished' GROUP BY run, body::json ->> 'request' HAVING count(*) > 1"
)


SLOTS = 8


class Swapped:
    """A replaceable script, because the environment of the workers names one server for all tests."""

    def __init__(self) -> None:
        self.script: Script = answering

    def __call__(self, call: Call) -> Answer:
        return self.script(call)


class RayBatch:
    """A batch of goals on the cluster."""

    def __init__(
        self, folder: Path, cluster: RayCluster, server: OpenAIServer, url: str, goals: int, nursery: Nursery
    ) -> None:
        self.folder, self.cluster, self.server, self.url, self.goals = folder, cluster, server, url, goals
        self._nursery = nursery
        self.out = folder / "out.jsonl"
        folder.mkdir()
        lines = [json.dumps({"id": f"g{number}", "goal": f"Goal number {number}"}) for number in range(goals)]
        (folder / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
        server.calls.clear()
        self.answer(answering)
        self._started: list[Process] = []

    def answer(self, script: Script) -> None:
        assert isinstance(self.server.script, Swapped)
        self.server.script.script = script

    def start(self, *more: str) -> Process:
        given = [
            "--model",
            "openai/test-model",
            "--engine",
            "ray",
            "--address",
            self.cluster.address,
            "--slots",
            str(SLOTS),
        ]
        command = ["-m", "goalwright", "batch", "goals.jsonl", "-o", "out.jsonl", *given, *more]
        self._started.append(
            self._nursery.start(command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        )
        return self._started[-1]

    @property
    def env(self) -> dict[str, str]:
        """The environment variables to use the cluster and the journal."""
        return {**os.environ, **self.cluster.env, "GOALWRIGHT_JOURNAL": self.url}

    @property
    def provider(self) -> dict[str, str]:
        """The further environment variables to make calls."""
        return {"OPENAI_API_BASE": self.server.base, "OPENAI_API_KEY": "sk-test"}

    def close(self) -> None:
        """Kill processes that a failed test left."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=120)

    def run(self, *more: str) -> tuple[int, str]:
        process = self.start(*more)
        out, err = process.communicate(timeout=600)
        return process.wait(), out + err

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()]

    def wait_for_calls(self, number: int, process: Process) -> None:
        self.wait(process, lambda: len(self.server.calls) >= number)

    def wait(self, process: Process, holds: Callable[[], bool], seconds: float = 600.0) -> None:
        """Wait for a condition while the batch runs."""
        until = time.monotonic() + seconds
        while not holds():
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                pytest.fail(f"{len(self.server.calls)} calls so far: {process.communicate(timeout=120)}")
            time.sleep(0.02)

    def wait_for_holders(self, process: Process, *spaces: str) -> None:
        """Wait until the processes of these PID namespaces hold as many runs as they can."""
        self.wait_for_calls(3 * SLOTS, process)
        self.wait(process, lambda: all(len(self.held(space)) == SLOTS for space in spaces))

    def repeated(self) -> int:
        return sum(times - 1 for times in Counter(call.user for call in self.server.calls).values())

    def ask(self, statement: str, *given: object) -> list[Any]:
        return self._execute(statement, *given).fetchall()

    def change(self, statement: str) -> None:
        self._execute(statement)

    def _execute(self, statement: str, *given: object) -> psycopg.Cursor[Any]:
        address = address_of(self.url)
        options = f"-c search_path={address.schema}"
        with psycopg.connect(**{**address.parameters, "options": options}, autocommit=True) as connection:
            return connection.execute(statement, given)

    def held(self, space: str) -> set[str]:
        """Return the runs held by the processes of a PID namespace."""
        found = self.ask("SELECT run_id, holder FROM runs WHERE holder IS NOT NULL")
        return {run_id for run_id, holder in found if json.loads(holder)["space"] == space}

    def writers(self) -> dict[str, list[int]]:
        """Return the processes that wrote each run, in order."""
        found = self.ask("SELECT r.run_id, e.writer FROM events e JOIN runs r ON r.id = e.run ORDER BY e.run, e.seq")
        grouped = groupby(found)
        return {run: [writer for (_, writer), _ in turns] for run, turns in groupby(grouped, key=lambda one: one[0][0])}

    def check(self) -> None:
        """Check that every goal has one line with its answer, and that no request was answered twice."""
        rows = self.rows()
        assert sorted(row["id"] for row in rows) == sorted(f"g{number}" for number in range(self.goals))
        assert {row["id"]: row["answer"] for row in rows} == {
            f"g{number}": f"did second of Goal number {number}" for number in range(self.goals)
        }
        self.check_journal()

    def check_journal(self) -> None:
        """Check that no request was answered twice and no run is held."""
        assert self.ask(_TWICE) == []
        assert self.ask("SELECT run_id FROM runs WHERE holder IS NOT NULL") == []
