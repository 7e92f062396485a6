"""What models and tools send and JSON or a database cannot hold is recorded, exported, imported and replayed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.runs.runtime import Goalwright
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.transfer import import_runs
from goalwright_executor.journal import trace_file
from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import url_of
from goalwright_planner.model import Reply, Request, ToolCall
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import replayed

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.history.result import Result
    from tests.postgres import PostgresServer

DEEP = "[" * 10_000 + "]" * 10_000
# As JSON text, and what of it is sure to be in the record.
ODD = {
    "half a character": ('"half \\ud83d of it"', "of it"),
    "a whole one": ('"\\ud83d\\ude00"', "😀"),
    "NUL": ('"nul \\u0000 here"', "here"),
    "70 digits": ("1" + "0" * 69, "1" + "0" * 69),
    "NaN": ('[NaN, "still here"]', "still here"),
    "Infinity": ('[-Infinity, 1e999, "still here"]', "still here"),
    "10,000 lists": (DEEP, ""),
}


def deep_list() -> list[Any]:
    value: list[Any] = []
    for _ in range(9_999):
        value = [value]
    return value


def plan_of(text: str) -> str:
    """A plan in which the value stands too, unless it is nested deeper than a plan may be."""
    given, after = ("0", "[]") if text == DEEP else (text, '["make"]')
    return (
        '{"tasks": [{"id": "make", "action_type": "tool", "name": "odd_make", "arguments": {"value": {"x": '
        + given
        + "}}},"
        '{"id": "use", "action_type": "llm", "instruction": "Use it", "depends_on": ' + after + "}]}"
    )


class Stranger:
    """A model and a tool that send a value wherever they can."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.value = deep_list() if text == DEEP else json.loads(text)

    def make(self, value: object) -> Any:
        return {"given": str(value)[:50].encode("ascii", "replace").decode(), "made": self.value}

    def answer(self, request: Request) -> Reply:
        if request.role == "decomposer":
            return Reply(plan_of(self.text))
        if request.messages[-1].role != "tool":
            call = ToolCall("c1", "odd_make", f'{{"value": {{"x": {self.text}}}}}')
            return Reply(f"first {self.said}", (call,), finish="tool_calls")
        return Reply(f"the answer: {self.said}")

    @property
    def said(self) -> str:
        return self.value if isinstance(self.value, str) else self.text[:100]


async def run(stranger: Stranger, workspace: Path, journal: str) -> tuple[Result, list[str]]:
    """The result of the run, and its exported lines."""

    def odd_make(value: dict[str, object]) -> Any:
        """Make something odd."""
        return stranger.make(value)

    settings = Settings(model="scripted", journal=journal)
    model = ScriptedModel(stranger.answer)
    async with Goalwright(workspace, settings, open_model=lambda _: model, tools=[odd_make]) as runtime:
        result = await runtime.run("Do something odd")
    store = open_store(journal, create=False)
    try:
        return result, list(trace_file.lines(store.rows(result.run_id)))
    finally:
        store.close()


async def check(name: str, workspace: Path, first: str, second: str, tmp_path: Path) -> None:
    text, kept = ODD[name]
    result, exported = await run(Stranger(text), workspace, first)
    # A list that is nested too deeply to be read is an error of the tool that answers with it.
    assert result.status == ("partial" if text == DEEP else "done"), result.error
    assert any(kept in line for line in exported)
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join(exported) + "\n", encoding="utf-8")
    there = open_store(second)
    try:
        (run_id,) = import_runs([file], there, Paths.of(workspace, os.environ))
        rows = list(there.rows(run_id))
    finally:
        there.close()
    replay = await replayed(workspace, rows)
    assert replay.drift == ()
    assert (replay.result.status, replay.result.answer) == (result.status, result.answer)
    assert [task.output for task in replay.result.tasks] == [task.output for task in result.tasks]


@pytest.mark.parametrize("name", ODD)
async def test_unusual_value_is_recorded_and_replayed(name: str, workspace: Path, tmp_path: Path) -> None:
    await check(name, workspace, url_of(tmp_path / "here.sqlite"), url_of(tmp_path / "there.sqlite"), tmp_path)


@pytest.mark.parametrize("name", ODD)
async def test_unusual_value_survives_postgresql(
    name: str, workspace: Path, tmp_path: Path, postgres: PostgresServer
) -> None:
    await check(name, workspace, postgres.new_url(), postgres.new_url(), tmp_path)
