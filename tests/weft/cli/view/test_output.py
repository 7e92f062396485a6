"""What is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("on_path", [True, False])
def test_printed_commands_name_a_weft_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool
) -> None:
    program = tmp_path / ".venv" / "bin" / "weft"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent) if on_path else "/nowhere")
    assert output.program(".venv/bin/weft") == ("weft" if on_path else ".venv/bin/weft")
    assert output.program("-m") == output.program("weft") == output.program("/gone/weft") == "weft"
