"""shell_run: timeouts, live output and allowed hosts."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from goalwright_skills.builtin.code.boxed_run import LONGEST, LiveOutput
from goalwright_skills.builtin.code.run_code import ShellRun
from goalwright_skills.builtin.tool_context import ShellRules
from tests.needs import needs_bubblewrap, needs_landlock
from tests.skills.workbench import WALLS, Workbench, landlocked, walls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope

GET = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())"
TRIES = """
import os, socket
def attempt(what, act):
    try:
        print(what, act())
    except Exception as error:
        print(what, type(error).__name__, error)
attempt("name", lambda: socket.getaddrinfo("example.org", 443))
attempt("address", lambda: socket.create_connection(("1.1.1.1", 443), 5))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), 5))
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", PORT), 5))
attempt("datagram", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("open files", lambda: [name for name in os.listdir("/proc/self/fd") if int(name) > 3])
"""


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    return Workbench(tmp_path, walls(request.param, tmp_path / "home"))


@pytest.fixture
async def site() -> AsyncIterator[tuple[int, list[web.Request]]]:
    """A site on loopback: its port, and the requests it received."""
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        return web.Response(text=f"served {request.path_qs} to {request.host}: {await request.text()}")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1], asked
    await runner.cleanup()


async def shell(bench: Workbench, command: str, *, rules: ShellRules | None = None, **more: Any) -> Envelope:
    return await ShellRun(bench.host, rules).call({"command": command, **more})


def code(envelope: Envelope) -> str:
    assert envelope.error is not None, envelope.text
    return envelope.error.code


async def test_timeout_argument_is_bounded_by_the_setting(bench: Workbench) -> None:
    slow = await shell(bench, "echo so far; sleep 600", timeout=4)
    assert (code(slow), "took longer than 4 s" in slow.text, "so far" in slow.text) == ("TIMEOUT", True, True)
    assert (await shell(bench, "sleep 1; echo done", timeout=600)).text == "done"
    for wrong in (0, -1, 601, "60", 1.5, True):
        refused = await shell(bench, "true", timeout=wrong)
        assert (code(refused), "from 1 to 600" in refused.text) == ("INVALID_PARAM", True)
    low = ShellRules(max_seconds=1)
    assert code(await shell(bench, "true", rules=low, timeout=2)) == "INVALID_PARAM"
    assert "longer than 1 s" in (await shell(bench, "sleep 60", rules=low)).text, "without one, no more than the limit"


async def test_output_is_shown_while_the_command_runs(bench: Workbench) -> None:
    seen: list[tuple[str, str]] = []
    first = asyncio.Event()

    def show(tool: str, text: str) -> None:
        seen.append((tool, text))
        first.set()

    host = replace(bench.host(), show=show)
    go = bench.artifacts / "go"
    bench.artifacts.mkdir(parents=True, exist_ok=True)
    command = "echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; printf 'grün \\xff\\n'"
    call = asyncio.create_task(ShellRun(lambda: host).call({"command": command}))
    async with asyncio.timeout(60):
        await first.wait()
    assert not call.done(), "it still waits"
    go.touch()
    done = await call
    text = "".join(text for _, text in seen)
    assert ("one\n" in text, "two\n" in text, "grün �\n" in text) == (True, True, True)
    assert {tool for tool, _ in seen} == {"shell_run"}
    assert "grün" in done.text, "and it is the result, too"


async def test_live_output_is_throttled_and_truncated() -> None:
    pieces: list[str] = []
    live = LiveOutput(pieces.append)
    for _ in range(1_000):
        live.hear(b"x" * 10_000)
    live.hear("é".encode()[:1])
    live.hear("é".encode()[1:])
    live.flush()
    assert (len(pieces), len(pieces[0]), pieces[0][-1]) == (1, LONGEST, "é")
    live.flush()
    assert len(pieces) == 1


@needs_bubblewrap
async def test_only_allowed_hosts_are_reached(tmp_path: Path, site: tuple[int, list[web.Request]]) -> None:
    port, asked = site
    bench = Workbench(tmp_path, walls("bubblewrap", tmp_path / "home"))
    rules = ShellRules(hosts=(f"127.0.0.1:{port}", "*.example.org"))
    get = f"{sys.executable} -c '{GET}'"
    done = await shell(bench, f"{get} http://127.0.0.1:{port}/a?b=c", rules=rules)
    assert (done.text.strip(), asked[0].method) == (f"served /a?b=c to 127.0.0.1:{port}:", "GET")
    assert done.data["network"] == {"reached": [f"127.0.0.1:{port}"], "refused": []}
    for url, why in {
        "http://evil.example/": "evil.example:80 is not among the hosts that the user allows",
        "http://example.org/": "example.org:80 is not among",
        f"http://localhost:{port}/": f"localhost:{port} is not among",
        "http://127.0.0.1:1/": "127.0.0.1:1 is not among",
        "http://169.254.169.254/latest/meta-data": "169.254.169.254:80 is not among",
    }.items():
        script = f"import urllib.request, urllib.error\ntry: urllib.request.urlopen({url!r}, timeout=60)\n"
        script += "except urllib.error.HTTPError as error: print(error.code, error.read().decode())"
        refused = await shell(bench, f'{sys.executable} - <<"END"\n{script}\nEND', rules=rules)
        assert (refused.status, "403" in refused.text, why in refused.text) == ("success", True, True), refused.text
    tunnel = await shell(bench, f"{get} https://evil.example/", rules=rules)
    assert (code(tunnel), "Tunnel connection failed: 403" in tunnel.text) == ("EXECUTION_ERROR", True)
    assert tunnel.data["network"] == {"reached": [], "refused": ["evil.example:443"]}
    direct = await shell(bench, f'{sys.executable} - <<"END"\n{TRIES.replace("PORT", str(port))}\nEND', rules=rules)
    assert direct.status == "success", direct.text
    said = dict(line.split(" ", 1) for line in direct.text.splitlines() if line.split(" ")[0] in TRIES)
    assert said["name"].startswith("gaierror")
    assert "unreachable" in said["address"], "there is no other way out"
    assert "unreachable" in said["metadata"]
    assert "refused" in said["loopback"], "its loopback is its own"
    assert "unreachable" in said["datagram"]
    assert said["unix"].startswith("PermissionError")
    assert direct.text.splitlines()[-1] == "open files []", "neither the bridge nor the proxy's socket is left inside"
    assert len(asked) == 1


@needs_bubblewrap
async def test_no_network_without_allowed_hosts(tmp_path: Path, site: tuple[int, list[web.Request]]) -> None:
    port, asked = site
    bench = Workbench(tmp_path, walls("bubblewrap", tmp_path / "home"))
    done = await shell(bench, f"env | grep -i proxy; {sys.executable} -c '{GET}' http://127.0.0.1:{port}/")
    assert (code(done), "network" in done.data, asked) == ("EXECUTION_ERROR", False, [])
    assert "proxy=" not in done.text.lower()


@needs_landlock
async def test_sandbox_without_proxy_reports_that_hosts_are_unreachable(
    tmp_path: Path, site: tuple[int, list[web.Request]]
) -> None:
    port, asked = site
    bench = Workbench(tmp_path, landlocked(tmp_path / "home"))
    rules = ShellRules(hosts=(f"127.0.0.1:{port}",))
    done = await shell(bench, f"{sys.executable} -c '{GET}' http://127.0.0.1:{port}/", rules=rules)
    assert (code(done), asked) == ("EXECUTION_ERROR", [])
    assert "only where bubblewrap works" in done.data["network"]["off"]
