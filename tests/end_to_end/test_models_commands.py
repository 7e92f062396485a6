"""`goalwright models` and `goalwright init`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.local.backends import catalogue
from goalwright.models.local.backends.backend import library
from goalwright.models.local.backends.machine import cores
from goalwright.models.local.serving.server import speed_name
from goalwright.models.local.serving.speed import Speed, SpeedStore
from tests.goalwright.models.local import fake_llama_server
from tests.needs import needs_local
from tests.nursery import Ran

if TYPE_CHECKING:
    from pathlib import Path

Goalwright = Callable[..., Ran]


def test_a_users_gguf_file_is_installed_listed_found_and_removed(tmp_path: Path, goalwright: Goalwright) -> None:
    own = tmp_path / "Mine.Q4.gguf"
    own.write_bytes(b"GGUF" + bytes(2000))
    env = {"GOALWRIGHT_MODELS_DIR": str(tmp_path / "models")}
    ran = goalwright("models", "pull", "mine", "--from", str(own), "--json", env=env)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["path"] == str(tmp_path / "models" / "mine.gguf")
    rows = {row["name"]: row for row in json.loads(goalwright("models", "list", "--json", env=env).out)}
    assert rows["mine"]["installed"]
    assert rows["qwen2.5-coder-0.5b"]["default"]
    assert "installed  mine" in goalwright("models", "list", env=env).out
    assert goalwright("models", "path", "mine", env=env).out.strip().endswith("mine.gguf")
    assert goalwright("models", "path", env=env).out.strip() == str(tmp_path / "models")
    assert goalwright("models", "remove", "mine", env=env).status == 0
    assert goalwright("models", "remove", "mine", "--json", env=env).status == 2
    assert goalwright("models", "path", "mine", env=env).status == 4


def test_a_file_that_is_not_gguf_is_refused_and_leaves_nothing(tmp_path: Path, goalwright: Goalwright) -> None:
    (tmp_path / "x.gguf").write_text("hello", encoding="utf-8")
    env = {"GOALWRIGHT_MODELS_DIR": str(tmp_path / "models")}
    ran = goalwright("models", "pull", "x", "--from", str(tmp_path / "x.gguf"), "--json", env=env)
    assert ran.status == 4
    assert "not a GGUF file" in json.loads(ran.out)["error"]["message"]
    assert list((tmp_path / "models").glob("*.gguf")) == []


@needs_local
def test_doctor_says_which_backend_runs_why_and_how_fast_it_is(tmp_path: Path, goalwright: Goalwright) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"GGUF" + bytes(2000))
    env = {"GOALWRIGHT_MODELS_DIR": str(tmp_path / "models"), "GOALWRIGHT_MODEL": "local/mine"}
    goalwright("models", "pull", "mine", "--from", str(own), env=env)
    ran = goalwright("doctor", "--json", cwd=tmp_path, env=env)
    backend, speed = (one["found"] for one in json.loads(ran.out) if one["topic"] == "backend")
    assert re.fullmatch(r"xllamacpp [\d.]+: GOALWRIGHT_LOCAL_BACKEND says so", backend)
    assert speed == "mine: its speed is measured when it is first loaded"
    chosen = library()
    assert chosen is not None
    path = tmp_path / "models" / "mine.gguf"
    SpeedStore.of_user().keep(speed_name(path, chosen, len(cores())), Speed(0.1, 0.2))
    assert (
        "mine: 10 tokens of a prompt and 5.0 tokens of an answer a second"
        in goalwright("doctor", cwd=tmp_path, env=env).out
    )
    ran = goalwright("doctor", "--json", cwd=tmp_path, env={**env, "GOALWRIGHT_LOCAL_BACKEND": "abacus"})
    (wrong,) = (one for one in json.loads(ran.out) if one["topic"] == "backend")
    assert not wrong["ok"]
    assert "backends are: xllamacpp, llama-server" in wrong["found"]


@needs_local
@pytest.mark.needs("arm dot product")
def test_doctor_says_what_a_faster_backend_would_need_and_when_it_does_not_start(
    tmp_path: Path, goalwright: Goalwright
) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"GGUF" + bytes(2000))
    models = tmp_path / "models"
    env = {"GOALWRIGHT_MODELS_DIR": str(models), "GOALWRIGHT_MODEL": "local/mine"}
    goalwright("models", "pull", "mine", "--from", str(own), env=env)
    env["GOALWRIGHT_LOCAL_BACKEND"] = ""  # as it is for users
    backend, _ = _backend_lines(goalwright, tmp_path, env)
    assert backend["found"].endswith("llama-server is not fetched yet")
    assert "`goalwright models pull` fetches" in backend["remedy"]
    folder = catalogue.read()[0].folder(models)
    fake_llama_server.write(folder)
    backend, _ = _backend_lines(goalwright, tmp_path, env)
    assert (backend["ok"], backend["found"].split(":")[0]) == (True, "llama-server ggml 0.17.0")
    fake_llama_server.write(folder, version_status=127)
    (backend,) = _backend_lines(goalwright, tmp_path, env)
    assert "does not start (status 127" in backend["found"]
    assert str(folder) in backend["remedy"]


def _backend_lines(goalwright: Goalwright, folder: Path, env: dict[str, str]) -> list[dict[str, Any]]:
    return [
        one for one in json.loads(goalwright("doctor", "--json", cwd=folder, env=env).out) if one["topic"] == "backend"
    ]


def test_init_writes_a_file_that_explains_everything_and_sets_nothing(tmp_path: Path, goalwright: Goalwright) -> None:
    ran = goalwright("init", "--skill", "status-mails", "--json", cwd=tmp_path)
    assert ran.status == 0, ran.err
    text = (tmp_path / "goalwright.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == {}
    assert "# max_cost = 1.00" in text
    uncommented = "\n".join(line.removeprefix("# ") for line in text.splitlines() if " = " in line or "[" in line)
    assert tomllib.loads(uncommented)["max_concurrency"] == 16
    assert (tmp_path / ".agents" / "skills" / "status-mails" / "SKILL.md").is_file()
    assert goalwright("init", cwd=tmp_path).status == 2
    (tmp_path / "goalwright.toml").write_text("max_cost = 2\n", encoding="utf-8")
    assert goalwright("init", "--skill", "minutes", "-q", cwd=tmp_path).status == 0
    assert (tmp_path / ".agents" / "skills" / "minutes" / "SKILL.md").is_file()
    assert (tmp_path / "goalwright.toml").read_text(encoding="utf-8") == "max_cost = 2\n"
