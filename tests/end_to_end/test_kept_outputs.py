"""What goalwright keeps itself is an artifact like any other: listed, copied, on record and on the page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.goalwright.interfaces.cli.test_main import ended
from tests.mcp_workspace import PLAIN, configure

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = "import json, sys\nsys.stdin.readline()\nprint(json.dumps({'output': 'long ' * 3000}))\n"
MANIFEST = "name: talk_long\ndescription: Says much.\nruntime: python\nentry: main.py\n"


def program(workspace: Path) -> str:
    folder = workspace / "skills/talk"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    (folder / "skill.yaml").write_text(MANIFEST)
    return "talk_long"


def picture(workspace: Path) -> str:
    text = PLAIN.read_text().replace('"starts.txt"', '"/dev/null"')  # else it changes the folder that it was trusted in
    shown = '{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}'
    (workspace / "server").mkdir()
    said = '{"content": [{"type": "text", "text": got}]}'
    (workspace / "server/main.py").write_text(text.replace(said, f'{{"content": [{shown}]}}'))
    configure(workspace, pics={"command": sys.executable, "args": ["server/main.py"]})
    return "mcp__pics__add"


@pytest.mark.parametrize("kind", [program, picture])
def test_a_long_output_and_a_server_s_picture_are_artifacts(
    kind: Callable[[Path], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = kind(tmp_path)
    arguments = {"a": 1} if tool.startswith("mcp") else {}
    Path("plan.json").write_text(
        json.dumps({"tasks": [{"id": "t", "action_type": "tool", "name": tool, "arguments": arguments}]})
    )

    assert ended("run", "--plan", "plan.json", "--trust", "--json", "--approve-all", "-o", "out/") == 0

    (artifact,) = json.loads(capsys.readouterr().out)["artifacts"]
    assert artifact["task"] == "t"
    assert len(Path("out", artifact["path"]).read_bytes()) == artifact["bytes"]
    assert ended("trace", "export") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["path"] for event in events if event["type"] == "file_kept"] == [artifact["path"]]
