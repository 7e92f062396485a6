"""Runs are sent as spans when they end, and a collector that fails never costs a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright.telemetry.otlp import SpanExporter
from goalwright_planner.errors import ModelError
from goalwright_planner.events import Event, Warned
from tests.collector import collecting
from tests.fakes import ScriptedModel
from tests.goalwright.recorded import GOAL, answering, failing, prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from goalwright_planner.model import Reply, Request


def runtime(
    workspace: Path, script: Callable[[Request], Reply | Exception] = answering, *, send_spans: bool = True
) -> Goalwright:
    return Goalwright(workspace, Settings(model="m", send_spans=send_spans), open_model=lambda _: ScriptedModel(script))


async def test_every_ended_run_is_sent(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(workspace)
    with collecting() as (address, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        async with runtime(workspace) as goalwright:
            assert (await goalwright.run(GOAL)).status == "done"
        async with runtime(workspace, failing("survey", error=ModelError("no"))) as goalwright:
            assert (await goalwright.run(GOAL)).status != "done"
        async with runtime(workspace, send_spans=False) as goalwright:
            await goalwright.run(GOAL)
    names = [document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] for _, document in sent]
    assert len(names) == 2


async def test_without_a_collector_in_the_environment_nothing_is_sent(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(workspace)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    events: list[Event] = []
    async with runtime(workspace) as goalwright:
        await goalwright.run(GOAL, record=events.append)
    assert not [event for event in events if isinstance(event, Warned)]


async def test_a_failing_collector_causes_a_warning_and_a_pause(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(workspace)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    events: list[Event] = []
    async with runtime(workspace) as goalwright:
        results = [await goalwright.run(GOAL, record=events.append) for _ in range(2)]
    warnings = [event.message for event in events if isinstance(event, Warned)]
    assert [result.status for result in results] == ["done", "done"]
    assert len(warnings) == 1
    assert "did not accept the spans" in warnings[0]
    assert "export its trace later" in warnings[0]


async def test_the_collector_is_tried_again_after_the_pause() -> None:
    now = [0.0]
    exporter = SpanExporter({**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://nowhere"}, lambda: now[0])
    assert "not an HTTP URL" in str(await exporter.send(list))
    now[0] = 59
    assert await exporter.send(list) is None
    now[0] = 61
    assert "not an HTTP URL" in str(await exporter.send(list))
