"""A server whose backend is a program: a stand-in for llama-server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goalwright.models.local.backends.backend import Backend
from goalwright.models.local.backends.choose import gave_way
from goalwright.models.local.serving.endpoint import call, count_tokens
from goalwright.models.local.serving.server import Load, Server, known_speed
from goalwright_skills.errors import SetupError
from tests.goalwright.models.local import fake_llama_server as fake
from tests.needs import needs_listed_children, needs_local


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    return path


def backend(tmp_path: Path, start: str = "") -> Backend:
    return Backend("llama-server", "of the tests", fake.write(tmp_path / "program", start))


def test_a_program_serves_behind_the_same_interface(tmp_path: Path, model: Path) -> None:
    with Server(Load(model), backend(tmp_path)) as server:
        endpoint = server.endpoint()
        assert (endpoint.context, endpoint.model) == (2048, "openai/goalwright-local")
        assert count_tokens(endpoint, [{"role": "user", "content": "hi"}]) == 3
        assert server.loaded
    assert not server.running


def test_key_is_not_on_the_command_line_of_the_program(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGML_BACKEND_PATH", "/tmp/anything.so")
    monkeypatch.setenv("LLAMA_ARG_HOST", "0.0.0.0")  # noqa: S104 - what must not reach it
    with Server(Load(model, threads=1), backend(tmp_path)) as server:
        endpoint = server.endpoint()
        seen = call(endpoint.base_url.removesuffix("/v1"), endpoint.api_key, "POST", "/seen", {})
    assert endpoint.api_key not in " ".join(seen["argv"])
    assert seen["argv"][seen["argv"].index("--host") + 1] == "127.0.0.1"
    assert not {name for name in seen["env"] if name.startswith(("GGML_", "LLAMA_ARG_", "LD_", "HOME"))}
    assert seen["folder"] == str(tmp_path / "program")


def test_address_is_parsed_only_from_the_programs_own_line(tmp_path: Path, model: Path) -> None:
    with Server(Load(model), backend(tmp_path, fake.LIES)) as server:
        assert not server.endpoint().base_url.startswith("http://127.0.0.1:9/")


def test_verbose_program_is_not_blocked_and_its_log_is_bounded(tmp_path: Path, model: Path) -> None:
    with Server(Load(model), backend(tmp_path, fake.CHATTERS)) as server:
        server.endpoint()
        assert len(server.log()) <= 60
        assert server.log()[-1].endswith("line 19999")


@needs_local
def test_failing_program_is_replaced_by_the_library(tmp_path: Path, model: Path) -> None:
    with Server(Load(model), backend(tmp_path, fake.REFUSES)) as server:
        with pytest.raises(SetupError, match=r"model\.gguf could not be loaded"):  # it is no model at all
            server.endpoint()
        assert server.backend.name == "xllamacpp"


def test_fallback_to_the_library_warns_about_the_program(tmp_path: Path) -> None:
    program = backend(tmp_path)
    said = gave_way(program, Backend("xllamacpp", "1.0"), "its process ended with status 3: failed to load model")
    assert "runs with xllamacpp 1.0, several times slower than it could" in said
    assert "llama-server of the tests did not start (its process ended with status 3: failed to load model)" in said
    assert f"delete {tmp_path / 'program'}, then `goalwright models pull` fetches it again" in said


def test_without_the_library_the_programs_log_is_in_the_error(tmp_path: Path, model: Path) -> None:
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from pathlib import Path\n"
        "from goalwright_skills.errors import SetupError\n"
        "from goalwright.models.local.backends.backend import Backend\n"
        "from goalwright.models.local.serving.server import Load, Server\n"
        "with Server(Load(Path(sys.argv[1])), Backend('llama-server', '1', Path(sys.argv[2]))) as server:\n"
        "    try: server.endpoint()\n"
        "    except SetupError as error: print(error.message)\n"
    )
    program = fake.write(tmp_path / "program", fake.REFUSES)
    ran = subprocess.run(
        [sys.executable, "-c", code, str(model), str(program)], capture_output=True, text=True, check=True
    )
    assert "ended with status 3: srv load_model: failed to load model" in ran.stdout


def test_program_that_never_listens_is_stopped(tmp_path: Path, model: Path) -> None:
    server = Server(Load(model, start_seconds=0.5), backend(tmp_path, fake.HANGS))
    with server, pytest.raises(SetupError):
        server.endpoint()
    assert not server.running


def test_abandoned_load_stops_the_program(tmp_path: Path, model: Path) -> None:
    async def give_up() -> None:
        hung = backend(tmp_path, fake.HANGS)
        with Server(Load(model), hung) as server:
            waiting = asyncio.create_task(asyncio.to_thread(server.endpoint))
            await asyncio.sleep(0.1)
            server.close()
            with pytest.raises(SetupError, match=r"status -9"):
                await waiting
            assert server.backend == hung, "a closed server is not started again"

    asyncio.run(give_up())


@needs_listed_children
def test_a_program_ends_with_its_parent_even_when_that_is_killed(tmp_path: Path, model: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from goalwright.models.local.backends.backend import Backend\n"
        "from goalwright.models.local.serving.server import Load, Server\n"
        "server = Server(Load(Path(sys.argv[1])), Backend('llama-server', '1', Path(sys.argv[2])))\n"
        "server.endpoint(); print(server.pid, flush=True); time.sleep(3600)\n"
    )
    program = fake.write(tmp_path / "program")
    command = [sys.executable, "-c", code, str(model), str(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = parent.stdout.readline().strip()
        assert "llama-server" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
        parent.kill()
    deadline = time.monotonic() + 60
    while _runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_speed_is_measured_at_the_first_load_and_kept(tmp_path: Path, model: Path) -> None:
    chosen = backend(tmp_path)
    assert known_speed(model, chosen, 1) is None
    with Server(Load(model, threads=1), chosen) as server:
        first = server.endpoint().speed
    assert first is not None
    # The clock said 2 s and 4 s a token; of that, only the process's own CPU time counts.
    assert 0 < first.prompt < 2
    assert first.answer == pytest.approx(2 * first.prompt)
    assert known_speed(model, chosen, 1) == first
    assert known_speed(model, chosen, 2) is None, "other threads are another speed"
    with Server(Load(model, threads=1), chosen) as server:
        assert server.endpoint().speed == first


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
