"""Output on terminals without UTF-8."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.cli.view import output
from tests.terminal import start_at_terminal, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery
    from tests.openai_server import OpenAIServer, Script


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LANG": "en_US"}, None),
        ({"LC_ALL": "C"}, "ascii"),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, None),
        ({"LANG": "de_DE.ISO-8859-1"}, "iso8859-1"),
        ({"LC_CTYPE": "ja_JP.eucJP@x", "LANG": "C"}, "euc_jp"),
        ({"LANG": "x.nonsense"}, None),
        ({"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}, None),
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, None),
    ],
)
def test_encoding_of_the_locale_is_used(env: dict[str, str], expected: str | None) -> None:
    assert output.terminal_encoding(env) == expected


@pytest.mark.parametrize(
    ("encoding", "text"), [("ascii", "+ 3/3 - x2 ~ \\xfc \\u4e2d"), ("latin-1", "+ 3/3 · ×2 ~ ü \\u4e2d")]
)
def test_marks_become_ascii_and_other_characters_are_escaped(encoding: str, text: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=output.register_ascii_marks())
    stream.write("✓ 3/3 · ×2 … ü 中")
    stream.seek(0)
    assert stream.read() == text


def test_run_on_an_ascii_terminal_prints_only_ascii(
    serve: Callable[[Script], OpenAIServer], nursery: Nursery, workspace: Path
) -> None:
    from tests.openai_server import scripted

    tasks = [{"id": "one", "action_type": "llm"}, {"id": "two", "action_type": "llm", "depends_on": ["one"]}]
    serve(scripted({"tasks": tasks}))
    env = {"LC_ALL": "C", "COLUMNS": "80"}
    process, terminal = start_at_terminal(nursery, ["run", "--model", "openai/x", "Do one thing"], workspace, env)
    shown = until(terminal, None)
    os.close(terminal)
    assert process.wait(60) == 0, shown
    assert "+ one" in shown
    assert "done - 2/2 tasks" in shown
    assert "\\u" not in shown
    assert shown.isascii()
