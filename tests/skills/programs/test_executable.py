"""A call: for every end of its process, the envelope has a next step."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.confinement.choose import RefusingConfinement
from goalwright_skills.programs.process import STDERR_LIMIT
from tests.skills.workbench import WALLS, Workbench, any_walls, walls

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """For tests that do not depend on the sandbox."""
    bench = Workbench(tmp_path)
    bench.confinement = any_walls(bench.home)
    return bench


@pytest.fixture(params=WALLS)
def walled(request: pytest.FixtureRequest, bench: Workbench) -> Workbench:
    """For tests of the start and end of a process."""
    bench.confinement = walls(request.param, bench.home)
    return bench


async def test_the_output_is_the_text_as_written(bench: Workbench) -> None:
    envelope = await bench.tool("reply('Grüße,\\n世界')").call({})
    assert (envelope.status, envelope.text) == ("success", "Grüße,\n世界")


async def test_json_output_is_text_for_the_model_and_data_for_programs(bench: Workbench) -> None:
    envelope = await bench.tool("reply({'rows': [1, 2]})").call({})
    assert json.loads(envelope.text) == {"rows": [1, 2]}
    assert envelope.data["output"] == {"rows": [1, 2]}


async def test_arguments_arrive_with_their_defaults(bench: Workbench) -> None:
    parameters = [{"name": "a", "required": True}, {"name": "b", "type": "integer", "default": 7}]
    envelope = await bench.tool("reply(arguments)", parameters=parameters).call({"a": "é"})
    assert envelope.data["output"] == {"a": "é", "b": 7}


async def test_invalid_arguments_start_no_process(bench: Workbench) -> None:
    parameters = [{"name": "path", "required": True, "description": "Path of the book"}]
    envelope = await bench.tool("reply('ran')", parameters=parameters).call({"pth": 1})
    assert envelope.error is not None
    assert envelope.error.code == "INVALID_PARAM"
    assert "path" in envelope.error.message
    assert "Path of the book" in envelope.error.message
    assert bench.logs == []


async def test_output_before_the_answer_is_logged(bench: Workbench) -> None:
    envelope = await bench.tool("print('loading'); print('{}'); reply('x'); print()").call({})
    assert envelope.text == "x"
    assert bench.logs[0].log == "loading\n{}"


async def test_stderr_is_truncated_and_not_shown_to_the_model(bench: Workbench) -> None:
    envelope = await bench.tool("sys.stderr.write('e' * 10**6 + 'end'); reply('x')").call({})
    assert bench.logs[0].stderr.endswith("end")
    assert len(bench.logs[0].stderr) < STDERR_LIMIT + 100
    assert "eee" not in envelope.to_json()


@pytest.mark.parametrize(
    ("program", "code", "says"),
    [
        ("reply(error='no such file: a — list files first')", "EXECUTION_ERROR", "no such file: a"),
        ("raise ValueError('secret detail')", "EXECUTION_ERROR", "crashed (exit status 1)"),
        ("import os; os.kill(os.getpid(), 11)", "EXECUTION_ERROR", "signal 11"),
        ("reply('x'); sys.exit(3)", "EXECUTION_ERROR", "exit status 3"),
        ("pass", "EXECUTION_ERROR", "without an answer line"),
        ("print('hello')", "EXECUTION_ERROR", "not JSON: hello"),
        ("print('[1]')", "EXECUTION_ERROR", "is not {"),
        ("print(json.dumps({'result': 1}))", "EXECUTION_ERROR", "is not {"),
        ("print('x' * 20_000_000)", "EXECUTION_ERROR", "wrote more than 8 MB"),
        ("import time; time.sleep(30)", "TIMEOUT", "longer than 1 s"),
    ],
)
async def test_each_failure_has_its_error(walled: Workbench, program: str, code: str, says: str) -> None:
    envelope = await walled.tool(program, timeout=1 if code == "TIMEOUT" else 20).call({})
    assert envelope.status == "error"
    assert envelope.error is not None
    assert envelope.error.code == code
    assert says in envelope.error.message
    assert "—" in envelope.error.message
    assert "Traceback" not in envelope.to_json()
    assert "secret detail" not in envelope.to_json()


async def test_long_output_is_truncated_and_saved_as_an_artifact(bench: Workbench) -> None:
    envelope = await bench.tool("reply('é' * 9_000)").call({})
    assert envelope.status == "partial"
    assert len(envelope.text) == 8_000
    (kept,) = bench.artifacts.iterdir()
    assert envelope.data["artifact"] == str(kept)
    assert kept.read_text(encoding="utf-8") == "é" * 9_000


@pytest.mark.parametrize(
    ("line", "text", "value"),
    [
        ('{"output": {"mean": NaN}}', '{"mean": null}', {"mean": None}),
        ('{"output": "a\\ud800b"}', "a\ufffdb", None),
        ('{"output": "\\ud83d\\ude00"}', "\U0001f600", None),
    ],
)
async def test_unencodable_text_is_replaced(bench: Workbench, line: str, text: str, value: object) -> None:
    envelope = await bench.tool(f"print({line!r})").call({})
    assert (envelope.text, envelope.data.get("output")) == (text, value)
    assert json.loads(envelope.to_json().encode())["text"] == text


async def test_lone_surrogates_in_arguments_are_replaced(bench: Workbench) -> None:
    tool = bench.tool("reply(arguments['text'])", parameters=[{"name": "text"}])
    assert (await tool.call({"text": "a\ud800"})).text == "a\ufffd"


async def test_long_errors_and_logs_are_truncated(bench: Workbench) -> None:
    envelope = await bench.tool("print('c' * 10**6); reply(error='e' * 10**6)").call({})
    assert len(envelope.text) == 8_000
    assert len(bench.logs[0].log) < STDERR_LIMIT + 100


async def test_variables_and_network_need_a_declaration(walled: Workbench) -> None:
    walled.environ["CITY"] = "Berlin"
    program = """
        import os, socket
        try:
            socket.socket(socket.AF_INET).bind(("127.0.0.1", 0))
            net = any(name != "lo" for _, name in socket.if_nameindex())
        except OSError:
            net = False
        reply([os.environ.get("CITY"), net])
        """
    assert (await walled.tool(program).call({})).data["output"] == [None, False]
    assert (await walled.tool(program, env=["CITY"], network=True).call({})).data["output"][0] == "Berlin"


async def test_untrusted_tool_does_not_run(bench: Workbench) -> None:
    bench.trusted = False
    envelope = await bench.tool("reply('ran')").call({})
    assert envelope.error is not None
    assert envelope.error.code == "ACCESS_DENIED"
    assert "trust its program first" in envelope.error.message
    assert bench.logs == []


async def test_nothing_runs_without_a_sandbox(bench: Workbench) -> None:
    bench.confinement = RefusingConfinement("nothing here can confine it — install bubblewrap")
    envelope = await bench.tool("reply('ran')").call({})
    assert envelope.error is not None
    assert "install bubblewrap" in envelope.error.message
    assert bench.logs == []


async def test_concurrent_calls_leave_nothing_behind(walled: Workbench) -> None:
    tool = walled.tool("reply(arguments['n'])", parameters=[{"name": "n", "type": "integer"}])
    envelopes = await asyncio.gather(*(tool.call({"n": n}) for n in range(8)))
    assert [envelope.data["output"] for envelope in envelopes] == list(range(8))
    assert list(walled.scratch.iterdir()) == []


async def test_program_can_import_modules_beside_it(walled: Workbench) -> None:
    (walled.folder() / "neighbour.py").write_text("VALUE = 'near'")
    assert (await walled.tool("import neighbour; reply(neighbour.VALUE)").call({})).text == "near"


async def test_standard_input_can_be_opened_as_a_file(walled: Workbench) -> None:
    assert (await walled.tool("reply(open('/dev/stdin').read()[:12])").call({})).text == '{"arguments"'


def test_description_contains_when_to_use_and_when_not(bench: Workbench) -> None:
    docs = {"when_to_use": ["a demo is wanted"], "when_not_to_use": ["it is serious"]}
    description = bench.tool("reply()", docs=docs).description
    assert description == ("Run a demo.\nUse it when: a demo is wanted\nDo not use it when: it is serious")


@pytest.mark.parametrize("planted", ["a link", "a folder for all", "a file"])
async def test_scratch_folder_of_another_user_is_not_used(bench: Workbench, planted: str) -> None:
    theirs = bench.root / "theirs"
    theirs.mkdir()
    if planted == "a link":
        bench.scratch.symlink_to(theirs)
    elif planted == "a file":
        bench.scratch.touch()
    else:
        bench.scratch.mkdir()
        bench.scratch.chmod(0o777)

    envelope = await bench.tool("import os; reply(os.environ['GOALWRIGHT_SCRATCH'])").call({})

    place = envelope.text.rpartition("/")[0]
    assert place == str(bench.root.resolve())
    assert list(theirs.iterdir()) == []


async def test_scratch_folder_is_private(bench: Workbench) -> None:
    envelope = await bench.tool("import os; reply(os.environ['GOALWRIGHT_SCRATCH'])").call({})
    assert envelope.text.rpartition("/")[0] == str(bench.scratch.resolve())
    assert bench.scratch.stat().st_mode & 0o077 == 0
