"""python_run, shell_run and run_script in each sandbox, with ordinary and hostile code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills.builtin.code import boxed_run
from goalwright_skills.builtin.code.run_code import PythonRun, ShellRun
from goalwright_skills.builtin.code.run_script import RunScript, ScriptHost
from goalwright_skills.builtin.toolset import narrowed, unknown
from goalwright_skills.programs.trust import Trust
from goalwright_skills.skill import Skill
from tests.skills.workbench import WALLS, Workbench, walls

if TYPE_CHECKING:
    from goalwright_skills.tools.envelope import Envelope


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, walls(request.param, tmp_path / "home"))
    (found.workspace / "data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (found.workspace / ".env").write_text("KEY=SECRET", encoding="utf-8")
    (found.workspace / ".agents").mkdir()
    (found.workspace / ".agents/journal.sqlite").write_text("SECRET", encoding="utf-8")
    (found.home / "notes.txt").write_text("SECRET", encoding="utf-8")
    return found


async def python(bench: Workbench, code: Any) -> Envelope:
    return await PythonRun(bench.host).call({"code": code})


async def shell(bench: Workbench, command: Any) -> Envelope:
    return await ShellRun(bench.host).call({"command": command})


def code_of(envelope: Envelope) -> str:
    assert envelope.error is not None, envelope.text
    return envelope.error.code


async def test_code_runs_in_artifacts_and_reports_new_files(bench: Workbench) -> None:
    done = await python(
        bench,
        "import os, pathlib\n"
        "rows = pathlib.Path(os.environ['GOALWRIGHT_WORKSPACE'], 'data.csv').read_text().splitlines()\n"
        "pathlib.Path('out').mkdir(); pathlib.Path('out/n.txt').write_text(rows[1])\nprint(len(rows), os.getcwd())",
    )
    assert (done.status, done.text) == ("success", f"2 {bench.artifacts}")
    assert [(one["path"], one["bytes"]) for one in done.data["artifacts"]] == [("out/n.txt", 3)]
    done = await shell(bench, "cat out/n.txt; echo oops >&2; ls -a; exit 3")
    assert (code_of(done), done.data["exit_status"]) == ("EXECUTION_ERROR", 3)
    assert "exit status 3" in done.text
    assert "1,2" in done.text
    assert "[stderr]\noops" in done.text
    assert "artifacts" not in done.data, "it changed nothing"


async def test_sandbox_confines_code(bench: Workbench) -> None:
    tries = f"""
import os, pathlib, socket
def attempt(what, act):
    try:
        print(what, act())
    except Exception as error:
        print(what, type(error).__name__)
work = pathlib.Path(os.environ["GOALWRIGHT_WORKSPACE"])
for path in (work / ".env", work / ".agents/journal.sqlite", {str(bench.home / "notes.txt")!r}, "/etc/shadow"):
    attempt("read", lambda: pathlib.Path(path).read_text())
attempt("write", lambda: (work / "data.csv").write_text("x"))
attempt("net", lambda: socket.create_connection(("127.0.0.1", 1), 1))
attempt("env", lambda: [name for name in os.environ if "KEY" in name])
"""
    bench.environ["OPENAI_API_KEY"] = "sk-0123456789abcdefSECRET"
    done = await python(bench, tries)
    assert done.status == "success", done.text
    assert "SECRET" not in done.to_json()
    assert "root:" not in done.text
    assert "env []" in done.text
    assert (bench.workspace / "data.csv").read_text(encoding="utf-8") == "a,b\n1,2\n"
    assert "ConnectionRefusedError" not in done.text, "the network is not there at all"


async def test_child_processes_end_with_the_call(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    started = await shell(
        bench, "(setsid sh -c 'sleep 2; touch late' &) ; (nohup sleep 60 >/dev/null 2>&1 &) ; echo up"
    )
    assert "up" in started.text
    monkeypatch.setattr(boxed_run, "SECONDS", 5.0)
    slow = await python(bench, "import time\nprint('so far', flush=True)\ntime.sleep(60)")
    assert code_of(slow) == "TIMEOUT"
    assert "so far" in slow.text
    assert not (bench.artifacts / "late").exists()


async def test_errors_describe_the_cause(bench: Workbench) -> None:
    assert code_of(await python(bench, "")) == "INVALID_PARAM"
    assert code_of(await python(bench, 7)) == "INVALID_PARAM"
    assert code_of(await python(bench, "x" * 100_001)) == "INVALID_PARAM"
    missing = await python(bench, "import no_such_module")
    assert code_of(missing) == "EXECUTION_ERROR"
    assert "module 'no_such_module' is not installed" in missing.text
    flood = await shell(bench, "yes")
    assert "wrote more than" in flood.text
    long = await shell(bench, "seq 1 5000")
    assert (long.status, len(long.text)) == ("partial", 8000)
    assert "5000" in Path(long.data["artifact"]).read_text(encoding="utf-8")


def scripts(bench: Workbench, *, trusted: bool = True) -> RunScript:
    folder = bench.folder("brewing")
    (folder / "scripts/lib").mkdir(parents=True, exist_ok=True)
    for name, text in {
        "SKILL.md": "---\nname: brewing\ndescription: d\n---\n",
        "scripts/count.py": "import sys, helper, scripts.helper\nprint(helper.twice(len(sys.argv)), sys.argv[1:])",
        "scripts/helper.py": "def twice(n): return 2 * n",
        "scripts/lib/hello.sh": 'echo "hello $1" | tee hello.txt',
        "scripts/say.js": "console.log('js', process.argv.slice(2))",
        "scripts/tool.rb": "puts 1",
        "secret.py": "print('SECRET')",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "scripts/link.py").unlink(missing_ok=True)
    (folder / "scripts/link.py").symlink_to(folder / "secret.py")
    skill = Skill("brewing", "d", str(folder / "SKILL.md"), "project")
    trust = Trust(bench.root / "trust.json")
    if trusted:
        trust.trust(folder)
    host = bench.host()
    return RunScript(ScriptHost(lambda: host, lambda: [skill], lambda one: trust.is_trusted(one.base_dir, one.source)))


async def test_scripts_run_only_if_the_skill_is_trusted(bench: Workbench) -> None:
    tool = scripts(bench, trusted=False)
    refused = await tool.call({"path": "scripts/count.py"})
    assert (code_of(refused), "trust them first" in refused.text) == ("ACCESS_DENIED", True)
    tool = scripts(bench)
    assert (await tool.call({"path": "scripts/count.py", "args": ["a", "-b"]})).text == "6 ['a', '-b']"
    absolute = str(bench.folder("brewing") / "scripts/lib/hello.sh")
    done = await tool.call({"path": absolute, "args": ["$HOME; ls"]})
    assert (done.text, done.data["artifacts"][0]["path"]) == ("hello $HOME; ls", "hello.txt")
    assert (await tool.call({"path": "count.py"})).status == "success"
    (bench.folder("brewing") / "references.md").write_text("new", encoding="utf-8")
    assert code_of(await tool.call({"path": "scripts/count.py"})) == "ACCESS_DENIED", "any change asks again"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "scripts/tool.rb"}, "INVALID_PARAM"),
        ({"path": "scripts/count.py", "args": "a"}, "INVALID_PARAM"),
        ({"path": "scripts/count.py", "args": [1]}, "INVALID_PARAM"),
        ({"path": "scripts/count.py", "args": ["x"] * 101}, "INVALID_PARAM"),
        ({"path": "scripts/count.py", "cwd": "/"}, "INVALID_PARAM"),
        ({"path": ""}, "INVALID_PARAM"),
        ({"path": "scripts/link.py"}, "ACCESS_DENIED"),
        ({"path": "scripts/lib"}, "IS_DIRECTORY"),
        ({"path": "secret.py"}, "NOT_FOUND"),
        ({"path": "scripts/../secret.py"}, "NOT_FOUND"),
        ({"path": "/usr/bin/env"}, "NOT_FOUND"),
        ({"path": "scripts/none.py"}, "NOT_FOUND"),
    ],
)
async def test_only_regular_files_below_scripts_run(tmp_path: Path, arguments: dict[str, Any], expected: str) -> None:
    refused = await scripts(Workbench(tmp_path)).call(arguments)
    assert code_of(refused) == expected
    assert "SECRET" not in refused.text


async def test_missing_interpreter_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = scripts(Workbench(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = await tool.call({"path": "scripts/say.js"})
    assert (code_of(refused), "node is not installed" in refused.text) == ("EXECUTION_ERROR", True)
    assert os.environ["PATH"] == str(tmp_path)


def test_allowed_tools_never_adds_tools() -> None:
    offered = ("Skill", "ReadFile", "ListFiles", "Grep", "WriteFile", "run_script")
    assert narrowed(offered, {}) == offered
    assert narrowed(offered, {"allowed-tools": "Read, Bash(git:*) Grep"}) == ("Skill", "ReadFile", "Grep", "run_script")
    assert narrowed(offered, {"allowed-tools": ["WebFetch", "python_run"]}) == ("Skill",), "nothing is added"
    assert narrowed(offered, {"allowed-tools": 7}) == offered
    assert unknown({"allowed-tools": "Read TodoWrite excel_read"}, ["excel_read"]) == ["TodoWrite"]
