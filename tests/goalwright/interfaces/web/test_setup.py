"""Models, settings, doctor and batches over HTTP; keys are never shown, and a setting is changed safely."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright import BatchOptions, run_batch
from goalwright.settings.user_config import set_value
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.sqlite.store import SqliteStore
from goalwright_skills.errors import SetupError
from tests.executor.stores.runs import line, row
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.test_runs import ended
from tests.openai_server import Fail, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = "sk-secret-0123456789abcdef"


async def test_api_keys_are_shown_by_name_only(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GOALWRIGHT_API_BASE", f"http://user:{KEY}@gateway.example/v1")
    async with asking(workspace) as asked:
        models = (await asked.get("/models")).json()
        assert {"name": "OPENAI_API_KEY", "set": True} in models["keys"]
        assert models["chain"][-1]["model"] == models["model"]
        pages = [(await asked.get(path)).text for path in ("/models", "/settings", "/doctor", "/about")]
        assert [KEY in page for page in pages] == [False] * 4


async def test_settings_have_their_origins(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOALWRIGHT_MAX_TASKS", "7")
    (workspace / "goalwright.toml").write_text('max_cost = 0.5\nseed = "x"\n', encoding="utf-8")
    async with asking(workspace) as asked:
        found = (await asked.get("/settings")).json()
        rows = {one["name"]: one for one in found["settings"]}
        assert (rows["max_tasks"]["value"], rows["max_tasks"]["origin"]) == (7, "environment")
        assert rows["model"]["origin"] == "default"
        assert rows["seed"]["value"] is None
        assert any("seed" in warning for warning in found["warnings"])


async def test_the_default_model_is_set_only_in_the_user_configuration(workspace: Path, own_home: Path) -> None:
    config = own_home / ".config" / "goalwright" / "config.toml"
    async with asking(workspace) as asked:
        done = await asked.put("/settings/model", json={"model": "openai/gpt-x"})
        assert (done.status_code, done.json()["model"]) == (200, "openai/gpt-x")
        assert config.read_text(encoding="utf-8") == 'model = "openai/gpt-x"\n'
        for wrong in ("", "openai/x@http://evil.example", "http://evil.example/v1"):
            assert (await asked.put("/settings/model", json={"model": wrong})).status_code == 400
    assert not (workspace / "goalwright.toml").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'model = "m"\n'),
        ('# mine\nmodel = "old" # why\nmax_cost = 1\n', '# mine\nmodel = "m"\nmax_cost = 1\n'),
        ('max_cost = 1\n[models]\nmodel = "x"\n', 'model = "m"\nmax_cost = 1\n[models]\nmodel = "x"\n'),
    ],
)
def test_setting_a_value_keeps_the_other_settings(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "deep" / "config.toml"
    if before:
        path.parent.mkdir()
        path.write_text(before, encoding="utf-8")
    set_value(path, "model", "m")
    assert path.read_text(encoding="utf-8") == after


@pytest.mark.parametrize("before", ["model = ", 'model = """\na\n"""\n'])
def test_a_file_that_cannot_be_edited_safely_is_not_changed(tmp_path: Path, before: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(before, encoding="utf-8")
    with pytest.raises(SetupError):
        set_value(path, "model", "m")
    assert path.read_text(encoding="utf-8") == before


async def test_the_doctor_reports_its_checks(workspace: Path) -> None:
    async with asking(workspace) as asked:
        found = (await asked.get("/doctor")).json()
        assert {"goalwright", "packages", "skills", "store"} <= {check["topic"] for check in found}


async def test_a_batch_writes_the_result_of_a_run_resumed_on_the_page_without_new_calls(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    broken, plan = True, {"tasks": [{"id": "only", "action_type": "llm", "instruction": "do it"}]}
    server = serve(scripted(plan, task=lambda _: Fail(400, "no") if broken else Say("fine")))
    output = workspace / "answers.jsonl"
    await run_batch(["a goal"], output, model="openai/test-model", workspace=workspace)
    broken = False
    async with asking(workspace) as asked:
        (batch,) = (await asked.get("/batches")).json()
        (run,) = (await asked.get(f"/runs?batch={batch['batch']}&status=failed,partial")).json()["runs"]
        assert (await asked.post(f"/runs/{run['run_id']}/resume", json={})).status_code == 202
        await ended(asked, run["run_id"])
    assert json.loads(output.read_text(encoding="utf-8"))["status"] == "failed"
    server.calls.clear()
    again = BatchOptions(resume=True, retry_errors=True)
    await run_batch(["a goal"], output, model="openai/test-model", workspace=workspace, options=again)
    assert json.loads(output.read_text(encoding="utf-8"))["status"] == "done"
    assert server.calls == []


async def test_batches_are_counted_and_stopped(workspace: Path) -> None:
    (workspace / ".agents").mkdir()
    journal = SqliteStore(workspace / ".agents" / "journal.sqlite")
    runs = {
        name: replace(line(name, status), seconds=seconds, cost_usd=cost, batch="answers-1", batch_goal=name)
        for name, status, seconds, cost in [
            ("r1", "done", 4.0, 0.25),
            ("r2", "failed", 2.0, 0.5),
            ("r3", "running", 60.0, None),
        ]
    }
    rows = [row(name, 1, "run_started", batch_size=10) for name in runs]
    rows.append(
        row("r2", 2, "run_finished", status="failed", code="NO_PLAN", error="no plan was made" + " at all" * 100)
    )
    journal.append(rows, runs, Handover(myself(), taken=["r3"]))
    async with asking(workspace) as asked:
        (batch,) = (await asked.get("/batches")).json()
        assert (batch["batch"], batch["goals"], batch["runs"]) == ("answers-1", 10, 3)
        assert batch["statuses"] == {"done": 1, "failed": 1, "running": 1}
        assert (batch["seconds"], batch["cost_usd"]) == (66.0, None)
        assert batch["ended"] == {"runs": 2, "seconds": 6.0, "cost_usd": 0.75}  # a goal took half of that
        shown = (await asked.get("/batches/answers-1")).json()
        (failure,) = shown["failures"]
        assert (failure["kind"], failure["runs"], failure["error"][:16]) == ("NO_PLAN", 1, "no plan was made")
        assert failure["error"].endswith("…")  # it is cut, and says so
        assert (await asked.post("/batches/answers-1/stop")).json() == {"runs": ["r3"]}
        assert journal.stop_requests() == {"r3": "stop_batch"}
        journal.append([], {}, Handover(myself(), released=["r3"]))
        assert (await asked.post("/batches/answers-1/stop")).status_code == 409
        assert (await asked.get("/batches/none")).status_code == 404
        filtered = (await asked.get("/runs?batch=answers-1")).json()["runs"]
        assert [run["batch_goal"] for run in filtered] == ["r3", "r2", "r1"]
    journal.close()
    for file in (workspace / ".agents").glob("journal*"):  # its rows are no whole runs, which could be replayed
        file.unlink()
