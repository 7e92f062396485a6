"""Errors in a user's own template, through the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import trust
from tests.goalwright.interfaces.cli.test_main import ended

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "command", [["doctor"], ["run", "Say hello"], ["batch", "goals.txt", "-o", "out.jsonl"], ["plan", "Say hello"]]
)
def test_a_template_error_ends_a_command_with_line_and_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOALWRIGHT_MODEL", "openai/x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9")  # where nobody listens: a call would fail otherwise
    (tmp_path / "goals.txt").write_text("one\ntwo\n")
    template = tmp_path / ".agents" / "seed" / "decomposer.j2"
    template.parent.mkdir(parents=True)
    template.write_text('<% extends "seed/decomposer.j2" %>\n<% block again %><<fault>> <<super()>><% endblock %>\n')
    trust(tmp_path)
    assert ended(*command) == 4
    said = "".join(capsys.readouterr())
    assert f"{template}, line 2: there is no <<fault>>" in said
    assert "did you mean <<faults>>?" in said
    assert not (tmp_path / "out.jsonl").exists()
