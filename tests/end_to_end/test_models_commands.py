"""`weft models` and `weft init`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.nursery import Ran

if TYPE_CHECKING:
    from pathlib import Path

Weft = Callable[..., Ran]


def test_a_users_gguf_file_is_installed_listed_found_and_removed(tmp_path: Path, weft: Weft) -> None:
    own = tmp_path / "Mine.Q4.gguf"
    own.write_bytes(b"GGUF" + bytes(2000))
    env = {"WEFT_MODELS_DIR": str(tmp_path / "models")}
    ran = weft("models", "pull", "mine", "--from", str(own), "--json", env=env)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["path"] == str(tmp_path / "models" / "mine.gguf")
    rows = {row["name"]: row for row in json.loads(weft("models", "list", "--json", env=env).out)}
    assert rows["mine"]["installed"]
    assert rows["qwen2.5-coder-0.5b"]["default"]
    assert "installed  mine" in weft("models", "list", env=env).out
    assert weft("models", "path", "mine", env=env).out.strip().endswith("mine.gguf")
    assert weft("models", "path", env=env).out.strip() == str(tmp_path / "models")
    assert weft("models", "remove", "mine", env=env).status == 0
    assert weft("models", "remove", "mine", "--json", env=env).status == 2
    assert weft("models", "path", "mine", env=env).status == 4


def test_a_file_that_is_not_gguf_is_refused_and_leaves_nothing(tmp_path: Path, weft: Weft) -> None:
    (tmp_path / "x.gguf").write_text("hello", encoding="utf-8")
    env = {"WEFT_MODELS_DIR": str(tmp_path / "models")}
    ran = weft("models", "pull", "x", "--from", str(tmp_path / "x.gguf"), "--json", env=env)
    assert ran.status == 4
    assert "not a GGUF file" in json.loads(ran.out)["error"]["message"]
    assert list((tmp_path / "models").glob("*.gguf")) == []


def test_init_writes_a_file_that_explains_everything_and_sets_nothing(tmp_path: Path, weft: Weft) -> None:
    ran = weft("init", "--skill", "status-mails", "--json", cwd=tmp_path)
    assert ran.status == 0, ran.err
    text = (tmp_path / "weft.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == {}
    assert "# max_cost = 1.00" in text
    uncommented = "\n".join(line.removeprefix("# ") for line in text.splitlines() if " = " in line or "[" in line)
    assert tomllib.loads(uncommented)["max_concurrency"] == 16
    assert (tmp_path / ".agents" / "skills" / "status-mails" / "SKILL.md").is_file()
    assert weft("init", cwd=tmp_path).status == 2
    (tmp_path / "weft.toml").write_text("max_cost = 2\n", encoding="utf-8")
    assert weft("init", "--skill", "minutes", "-q", cwd=tmp_path).status == 0
    assert (tmp_path / ".agents" / "skills" / "minutes" / "SKILL.md").is_file()
    assert (tmp_path / "weft.toml").read_text(encoding="utf-8") == "max_cost = 2\n"
