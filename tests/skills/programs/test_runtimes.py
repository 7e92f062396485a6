"""Each runtime starts a program that speaks the protocol; what it needs is built once.

TypeScript is run in test_executable_docs.py.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.programs.toolchain import available
from tests.needs import needs_go, needs_node
from tests.skills.workbench import WALLS, Workbench, any_walls, walls

if TYPE_CHECKING:
    from pathlib import Path


JAVASCRIPT = """
const line = require("fs").readFileSync(0, "utf8").split("\\n")[0];
const { name } = JSON.parse(line).arguments;
console.log(JSON.stringify({ output: `hello ${name}`, error: "" }));
"""
# It reads no arguments, because encoding/json would have to be compiled too.
GO = """
package main

import "os"

func main() {
	os.Stdout.WriteString(`{"output": "hello ada", "error": ""}`)
}
"""
SHELL = """#!/bin/sh
read -r line
echo '{"output": "hello '$(echo "$line" | sed 's/.*"name": "\\([a-z]*\\)".*/\\1/')'", "error": ""}'
"""


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


@pytest.fixture
def plain_bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = any_walls(bench.home)
    return bench


def tool_folder(bench: Workbench, runtime: str, entry: str, program: str) -> Path:
    folder = bench.folder("greet")
    (folder / entry).write_text(program, encoding="utf-8")
    (folder / "skill.yaml").write_text(
        textwrap.dedent(f"""
            name: greet_say
            description: Greet someone.
            runtime: {runtime}
            entry: {entry}
            timeout: 60
            parameters: [{{name: name, required: true}}]
        """)
    )
    return folder


async def answer(bench: Workbench, folder: Path) -> str:
    return (await bench.load(folder).call({"name": "ada"})).text


@needs_node
async def test_javascript_runs(bench: Workbench) -> None:
    assert await answer(bench, tool_folder(bench, "node", "main.js", JAVASCRIPT)) == "hello ada"


@needs_node
async def test_node_modules_of_the_folder_are_used(bench: Workbench) -> None:
    program = JAVASCRIPT.replace("hello ${name}", "${require('shout')(name)}")
    folder = tool_folder(bench, "node", "main.js", program)
    package = folder / "node_modules" / "shout"
    package.mkdir(parents=True)
    (package / "index.js").write_text("module.exports = (text) => text.toUpperCase();")
    (folder / "package.json").write_text('{"dependencies": {"shout": "1"}}')
    assert await answer(bench, folder) == "ADA"


@needs_go
@pytest.mark.usefixtures("warm_go")
async def test_go_is_built_once(bench: Workbench) -> None:
    folder = tool_folder(bench, "go", "main.go", GO)
    (folder / "go.mod").write_text("module greet\n\ngo 1.18\n")
    assert await answer(bench, folder) == "hello ada"
    built = len(bench.progress)
    assert await answer(bench, folder) == "hello ada"
    assert len(bench.progress) == built
    assert not (folder / "tool").exists()


@needs_go
@pytest.mark.usefixtures("warm_go")
async def test_go_compile_error_names_the_line(plain_bench: Workbench) -> None:
    folder = tool_folder(plain_bench, "go", "main.go", "package main\nfunc main() { nonsense }\n")
    (folder / "go.mod").write_text("module greet\n\ngo 1.18\n")
    text = await answer(plain_bench, folder)
    assert "go build" in text
    assert "nonsense" in text


@needs_go
async def test_go_without_go_mod_is_an_error(bench: Workbench) -> None:
    assert "go mod init" in await answer(bench, tool_folder(bench, "go", "main.go", GO))


async def test_a_binary_runs(bench: Workbench) -> None:
    folder = tool_folder(bench, "binary", "greet", SHELL)
    assert "chmod +x" in await answer(bench, folder)
    (folder / "greet").chmod(0o755)
    assert await answer(bench, folder) == "hello ada"


async def test_missing_toolchain_is_an_error(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bench.root))
    text = await answer(bench, tool_folder(bench, "node", "main.js", JAVASCRIPT))
    assert "node is not installed" in text
    assert "install Node.js" in text


def test_lists_installed_toolchains() -> None:
    found = {toolchain.runtime: toolchain for toolchain in available()}
    assert set(found) == {"python", "node", "go"}
    assert found["python"].version.startswith("3.")
    assert all(toolchain.path or toolchain.hint for toolchain in found.values())


async def test_program_in_usr_local_does_not_expose_its_neighbours(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = bench.home / ".local"
    for folder in (local / "bin", local / "share/goalwright"):
        folder.mkdir(parents=True)
    (local / "share/goalwright/token").write_text("s3cret", encoding="utf-8")
    reading = f"read -r line; said=$(cat {local}/share/goalwright/token 2>/dev/null || echo refused)"
    (local / "bin/node").write_text(f'#!/bin/sh\n{reading}\necho "{{\\"output\\": \\"$said\\"}}"\n', encoding="utf-8")
    (local / "bin/node").chmod(0o755)
    monkeypatch.setenv("HOME", str(bench.home))
    monkeypatch.setenv("PATH", f"{local}/bin:/usr/bin:/bin")
    tool = bench.tool("", runtime="node", entry="main.py")

    assert (await tool.call({})).text == "refused"
