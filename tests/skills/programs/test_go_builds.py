"""A Go tool's modules come from a proxy, and it is compiled without network; uses a fake `go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills.workbench import WALLS, Workbench, any_walls, walls

if TYPE_CHECKING:
    from pathlib import Path

# Records its calls, and builds a program that prints them.
GO = """#!/bin/sh
if [ "$1" = version ]; then echo go version go1.22; exit 0; fi
{ echo "call: $*"; echo "cwd: $(pwd)"; echo "module file: $(head -1 go.mod)"
  echo "secret file: $(cat .env 2>/dev/null)"; env | sort; } >> "$HOME/calls"
if [ "$1" = build ]; then
  { echo '#!/bin/sh'; echo 'read -r line'; printf "printf '%s'" '{"output": "'; echo; } > "$3"
  printf "cat <<'EOF' | tr '\\\\\\\\n\\"' '|_'\\n" >> "$3"
  cat "$HOME/calls" >> "$3"
  { echo EOF; printf "printf '%s'\\n" '", "error": ""}'; } >> "$3"
fi
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = any_walls(bench.home)
    go = tmp_path / "sdk" / "bin" / "go"
    go.parent.mkdir(parents=True)
    go.write_text(GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/local/bin:/usr/bin:/bin")
    bench.user = {
        "OPENAI_API_KEY": "sk-secret",
        "GOFLAGS": "-toolexec=/evil",
        "GOPROXY": "direct",
        "HTTPS_PROXY": "http://p:1",
    }
    return bench


async def calls(bench: Workbench, module: str, program: str = "package main\n") -> list[str]:
    folder = bench.folder()
    (folder / "skill.yaml").write_text("name: demo_run\ndescription: Run.\nruntime: go\nentry: main.go\n")
    (folder / "main.go").write_text(program)
    (folder / "go.mod").write_text(module)
    (folder / ".env").write_text("KEY=hidden")
    envelope = await bench.load(folder).call({})
    assert envelope.status == "success", envelope.text
    return ["call: " + one for one in envelope.text.split("call: ")[1:]]


@pytest.mark.parametrize("kind", WALLS)
async def test_modules_come_from_a_proxy_and_compile_offline(bench: Workbench, kind: str) -> None:
    bench.confinement = walls(kind, bench.home)
    fetch, build = await calls(bench, "module demo\n\nrequire example.org/x v1.0.0\n")
    assert fetch.startswith("call: mod download|")
    assert "|GOPROXY=https://proxy.golang.org|" in fetch
    assert "|HTTPS_PROXY=http://p:1|" in fetch
    assert build.startswith("call: build -o ")
    assert "|GOPROXY=off|" in build
    assert "HTTPS_PROXY" not in build
    for call in (fetch, build):
        for setting in ("GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off", "GOVCS=*:off", "CGO_ENABLED=0"):
            assert f"|{setting}|" in call
        assert "toolexec" not in call
        assert "sk-secret" not in call
        assert "|secret file: |" in call
        assert "|module file: module demo|" in call


async def test_without_modules_nothing_is_fetched(bench: Workbench) -> None:
    (build,) = await calls(bench, "module demo\n")
    assert build.startswith("call: build -o ")


async def test_a_program_is_built_again_when_it_changes(bench: Workbench) -> None:
    for program, steps in (("package main\n", 1), ("package main\n", 1), ("package main\n\n", 2)):
        await calls(bench, "module demo\n", program)
        assert len([step for step in bench.progress if "Go program: done" in step]) == steps


async def test_a_vendored_tool_fetches_nothing(bench: Workbench) -> None:
    (bench.folder() / "vendor").mkdir()
    (bench.folder() / "vendor" / "modules.txt").touch()
    (build,) = await calls(bench, "module demo\n\nrequire example.org/x v1.0.0\n")
    assert "GOFLAGS=-mod=vendor " in build


async def test_user_proxies_apply_and_version_control_is_off(bench: Workbench) -> None:
    bench.user["GOPROXY"] = "https://go.corp|https://proxy.golang.org,direct"
    fetch, _ = await calls(bench, "module demo\n\nrequire example.org/x v1.0.0\n")
    assert "|GOPROXY=https://go.corp,https://proxy.golang.org|" in fetch
