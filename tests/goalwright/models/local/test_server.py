from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.models.local.serving.endpoint import Endpoint, count_tokens
from goalwright.models.local.serving.server import Load, Server, shared
from goalwright_planner.errors import Unreachable
from goalwright_skills.errors import SetupError
from tests.needs import needs_local

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.nursery import Nursery

SCRIPT = Path(__file__).with_name("smoke.py")


def test_a_missing_extra_is_reported_with_the_command_that_installs_it() -> None:
    # None in sys.modules makes the import fail as if the package were not installed.
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from pathlib import Path\n"
        "from goalwright_skills.errors import SetupError\n"
        "from goalwright.models.local.serving.server import Load, Server\n"
        "try: Server(Load(Path('x.gguf')))\n"
        "except SetupError as error: print(error.message, error.hint, error.exit_status)\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "xllamacpp, which is not installed" in output
    assert "pip install 'goalwright[local]'" in output
    assert output.rstrip().endswith("4")


def test_importing_the_module_does_not_load_the_native_library() -> None:
    code = "import sys, goalwright.models.local.serving.server, goalwright.models.local.downloads.pull"
    code += "; print('xllamacpp' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "False\n"


@needs_local
def test_invalid_model_file_is_refused_with_a_hint(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with Server(Load(broken)) as server:
        for _ in range(2):
            with pytest.raises(SetupError, match=r"broken\.gguf could not be loaded") as caught:
                server.endpoint()
            assert "goalwright models pull" in caught.value.hint


@needs_local
async def test_abandoned_load_is_stopped_at_once(tmp_path: Path) -> None:
    endless = tmp_path / "endless.gguf"
    os.mkfifo(endless)  # opening it blocks until someone writes, which nobody does
    before = children()
    first, second = (asyncio.create_task(shared(Load(endless))) for _ in range(2))
    await until(lambda: any(map(loads, children() - before)))
    (host,) = children() - before
    first.cancel()
    assert isinstance((await asyncio.gather(first, return_exceptions=True))[0], asyncio.CancelledError)
    assert children() - before == {host}, "the other still waits for it"
    second.cancel()
    assert isinstance((await asyncio.gather(second, return_exceptions=True))[0], asyncio.CancelledError)
    assert children() == before


@needs_local
def test_a_load_ends_with_its_parent_even_when_that_is_killed(tmp_path: Path) -> None:
    endless = tmp_path / "endless.gguf"
    os.mkfifo(endless)
    code = (
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from goalwright.models.local.serving.server import Load, Server\n"
        "server = Server(Load(Path(sys.argv[1])))\n"
        "print(server._process.pid, flush=True)\n"
        "server.endpoint()\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", code, str(endless)], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    host = asking.stdout.readline().strip()
    asyncio.run(until(lambda: loads(host)))
    asking.kill()
    asking.communicate()
    asyncio.run(until(lambda: not loads(host)))


@needs_local
def test_a_process_that_dies_while_loading_is_reported(tmp_path: Path) -> None:
    endless = tmp_path / "endless.gguf"
    os.mkfifo(endless)
    with Server(Load(endless)) as server:
        server._process.kill()
        with pytest.raises(SetupError, match=r"its process ended with status -9"):
            server.endpoint()
        assert not server.running


@needs_local
def test_loading_server_is_retried_without_a_restart() -> None:
    tries: list[str] = []

    class Hesitant(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tries.append(self.path)
            body = b'[{"n_ctx": 2048}]'
            self.send_response(503 if len(tries) == 1 else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Hesitant)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    # Prints its address once and ends at the next line, as the real one does.
    code = "import json, sys; input(); print(json.dumps({'address': sys.argv[1]}), flush=True); sys.stdin.readline()"
    command = [sys.executable, "-c", code, f"http://127.0.0.1:{http.server_port}"]
    try:
        with Server(
            Load(Path("x.gguf")), spawn=lambda: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ) as server:
            with pytest.raises(Unreachable):
                server.endpoint()
            assert server.endpoint().context == 2048
            assert tries == ["/slots", "/slots"]
    finally:
        http.shutdown()
        http.server_close()


def test_dead_server_is_a_transient_failure() -> None:
    with pytest.raises(Unreachable, match="the embedded model does not answer"):
        count_tokens(Endpoint("http://127.0.0.1:9/v1", "key", "alias", 100), [{"role": "user", "content": "x"}])


def children() -> set[str]:
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {pid for path in listed for pid in path.read_text(encoding="utf-8").split()}


def loads(pid: str) -> bool:
    """Whether the process has loaded the native library, which happens before it loads the model."""
    try:
        return "xllamacpp.abi3" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    except OSError:
        return False


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.02)


@pytest.mark.local_model
@needs_local
@pytest.mark.parametrize(
    "backend", ["xllamacpp", pytest.param("llama-server", marks=pytest.mark.needs("arm dot product"))]
)
def test_a_real_model_is_pulled_plans_answers_and_ends_cleanly(tmp_path: Path, backend: str, nursery: Nursery) -> None:
    """Run in a separate process, so that leftover processes and files are visible."""
    done = nursery.run_python([str(SCRIPT), str(tmp_path)], {**os.environ, "GOALWRIGHT_LOCAL_BACKEND": backend})
    assert done.err == ""
    assert done.status == 0
    assert done.out.splitlines()[-2:] == [backend, "clean"]
