"""The restrictions on a tool's process hold in every kind of confinement."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from goalwright_skills.confinement.bubblewrap import BubblewrapConfinement
from goalwright_skills.confinement.cgroup import Groups
from goalwright_skills.confinement.landlock_box import NoConfinement
from tests.needs import needs_counted_processes, needs_landlock, needs_listed_children
from tests.skills.workbench import WALLS, Workbench, landlocked, walls


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


def alive(marker: str) -> list[str]:
    """Return the processes whose command line contains the marker."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in words:
                processes.append(entry.name)
    return processes


def gone(marker: str) -> bool:
    """Whether all these processes end; the kernel may take a moment to reap a namespace."""
    for _ in range(1_200):
        if not alive(marker):
            return True
        time.sleep(0.05)
    return False


async def test_file_in_the_home_cannot_be_read(bench: Workbench) -> None:
    secret = bench.home / ".ssh" / "id"
    bench.workspace.mkdir(exist_ok=True)
    secret.parent.mkdir()
    secret.write_text("private")
    tool = bench.tool(f"""
        try:
            reply("read " + open({str(secret)!r}).read())
        except OSError as error:
            reply("wall " + type(error).__name__)
    """)
    envelope = await tool.call({})
    assert envelope.text.startswith("wall"), envelope


async def test_home_cannot_be_listed(bench: Workbench) -> None:
    (bench.workspace.parent / "letters.txt").write_text("dear")
    tool = bench.tool(f"""
        import os
        try:
            reply(",".join(os.listdir({str(bench.home)!r})))
        except OSError as error:
            reply("wall")
    """)
    assert "letters" not in (await tool.call({})).text


async def test_hidden_files_are_invisible_if_the_workspace_is_the_home(bench: Workbench) -> None:
    tool = bench.tool("""
        seen = []
        for name in (".netrc", "notes.txt"):
            try:
                seen.append(open(name).read())
            except OSError:
                seen.append("wall")
        reply(" ".join(seen))
    """)
    (bench.workspace / ".netrc").write_text("password")
    (bench.workspace / "notes.txt").write_text("notes")
    assert bench.confinement is not None
    bench.confinement = walls(bench.confinement.name, bench.workspace)
    assert (await bench.load(tool.manifest.folder).call({})).text == "wall notes"


async def test_password_hashes_cannot_be_read(bench: Workbench) -> None:
    tool = bench.tool("""
        try:
            reply(open("/etc/shadow").read())
        except OSError:
            reply("wall")
    """)
    assert (await tool.call({})).text == "wall"


async def test_workspace_is_the_working_directory_and_readable(bench: Workbench) -> None:
    (bench.workspace / "notes.txt").write_text("hello")
    tool = bench.tool("reply(open('notes.txt').read())")
    assert (await tool.call({})).text == "hello"


@pytest.mark.parametrize("where", ["workspace", "tool", "system", "tmp"])
async def test_paths_outside_the_scratch_folder_cannot_be_written(bench: Workbench, where: str) -> None:
    paths = {
        "workspace": bench.workspace / "made.txt",
        "tool": bench.folder() / "made.txt",
        "system": Path("/usr/made-by-a-tool.txt"),
        "tmp": Path("/tmp/made-by-a-tool.txt"),
    }
    tool = bench.tool(f"""
        try:
            open({str(paths[where])!r}, "w").write("x")
            reply("written")
        except OSError:
            reply("wall")
    """)
    assert (await tool.call({})).text == "wall"
    assert not paths[where].exists()


async def test_workspace_files_cannot_be_changed_or_removed(bench: Workbench) -> None:
    precious = bench.workspace / "precious.txt"
    precious.write_text("precious")
    precious.chmod(0o640)
    tool = bench.tool("""
        import os
        did = []
        for name, act in {
            "remove": lambda: os.remove("precious.txt"),
            "rename": lambda: os.rename("precious.txt", "other.txt"),
            "truncate": lambda: os.truncate("precious.txt", 0),
            "link": lambda: os.link("precious.txt", os.environ["HOME"] + "/x"),
            "mode": lambda: os.chmod("precious.txt", 0o777),
        }.items():
            try:
                act()
                did.append(name)
            except OSError:
                pass
        reply(",".join(did))
    """)
    envelope = await tool.call({})
    assert set(envelope.text.split(",")) <= {
        "mode",
        "",
    }  # under Landlock a change of mode succeeds without effect
    assert precious.read_text() == "precious"
    assert precious.stat().st_mode & 0o777 == 0o640


async def test_scratch_folder_is_writable_and_removed(bench: Workbench) -> None:
    tool = bench.tool("""
        import os, tempfile
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("x")
        os.mkdir(os.environ["HOME"] + "/closed", 0o000)
        reply(file.name)
    """)
    envelope = await tool.call({})
    assert envelope.status == "success"
    assert envelope.text.startswith(str(bench.scratch))
    assert list(bench.scratch.iterdir()) == []


async def test_artifacts_are_writable_only_if_the_manifest_allows_it(bench: Workbench) -> None:
    program = f"""
        import os
        place = os.environ.get("GOALWRIGHT_ARTIFACTS", {str(bench.artifacts)!r})
        try:
            open(place + "/chart.txt", "w").write("x")
            reply("written")
        except OSError:
            reply("wall")
    """
    bench.artifacts.mkdir(parents=True)
    assert (await bench.tool(program).call({})).text == "wall"
    assert (await bench.tool(program, writes=True).call({})).text == "written"
    assert (bench.artifacts / "chart.txt").read_text() == "x"


CONNECT = """
    import socket
    try:
        connection = socket.create_connection(("127.0.0.1", arguments["port"]), timeout=3)
        reply("connected")
    except OSError:
        reply("wall")
"""
PORT = [{"name": "port", "type": "integer", "required": True}]


async def test_connecting_requires_network_in_the_manifest(bench: Workbench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = {"port": server.getsockname()[1]}
        assert (await bench.tool(CONNECT, parameters=PORT).call(port)).text == "wall"
        assert (await bench.tool(CONNECT, parameters=PORT, network=True).call(port)).text == "connected"


@pytest.mark.parametrize("network", [False, True])
async def test_unix_socket_of_a_local_service_cannot_be_reached(bench: Workbench, network: bool) -> None:
    path = bench.workspace / "service.sock"
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(bench.workspace)
        server.bind("service.sock")
        os.chdir(bench.root)
        server.listen()
        tool = bench.tool(
            """
            import socket
            try:
                socket.socket(socket.AF_UNIX).connect("service.sock")
                reply("connected")
            except OSError:
                reply("wall")
            """,
            network=network,
        )
        assert (await tool.call({})).text == "wall"
    assert path.exists()


async def test_key_in_the_environment_is_hidden_unless_declared(bench: Workbench) -> None:
    bench.environ["OPENAI_API_KEY"] = "sk-secret"
    bench.environ["WEATHER_CITY"] = "Berlin"
    tool = bench.tool("import os; reply(json.dumps(dict(os.environ)))", env=["WEATHER_CITY"])
    text = (await tool.call({})).text
    assert "sk-secret" not in text
    assert "Berlin" in text


async def test_environment_of_another_process_cannot_be_read(bench: Workbench) -> None:
    tool = bench.tool("""
        import os
        leaked = []
        for pid in os.listdir("/proc") if os.access("/proc", os.R_OK) else map(str, range(1, 400)):
            try:
                leaked.append(open(f"/proc/{pid}/environ").read())
            except OSError:
                pass
        try:
            leaked.append(open(f"/proc/{os.getppid()}/environ").read())
        except OSError:
            pass
        reply(" ".join(leaked))
    """)
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE, env={"MARK": "sk-other"}
    )
    text = (await tool.call({})).text
    await other.communicate(b"\n")
    assert "sk-other" not in text
    assert "PYTEST" not in text


SLEEPER = """
    import os, subprocess, sys, time
    detached = {detached}
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "{marker}"],
        start_new_session=detached, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    time.sleep({pause})
    reply("started")
"""


@pytest.mark.parametrize("detached", [False, True])
async def test_no_process_outlives_the_call(bench: Workbench, detached: bool) -> None:
    marker = f"marker-{os.getpid()}-{bench.root.name}"
    tool = bench.tool(SLEEPER.format(marker=marker, detached=detached, pause=0))
    await tool.call({})
    assert gone(marker)


async def test_double_forked_daemon_does_not_outlive_the_call(bench: Workbench) -> None:
    marker = f"daemon-{os.getpid()}-{bench.root.name}"
    tool = bench.tool(f"""
        import os, sys
        if os.fork() == 0:
            if os.fork() == 0:
                for fd in (0, 1, 2):
                    os.close(fd)
                os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", {marker!r}])
            os._exit(0)
        reply("started")
    """)
    assert (await tool.call({})).text == "started"
    assert gone(marker)


async def test_timed_out_call_leaves_no_process_or_file(bench: Workbench) -> None:
    marker = f"slow-{os.getpid()}-{bench.root.name}"
    tool = bench.tool(SLEEPER.format(marker=marker, detached=False, pause=60), timeout=1)
    envelope = await tool.call({})
    assert envelope.error is not None
    assert envelope.error.code == "TIMEOUT"
    assert gone(marker)
    assert list(bench.scratch.iterdir()) == []


async def test_cancelled_call_leaves_no_process_or_file(bench: Workbench) -> None:
    marker = f"cancelled-{os.getpid()}-{bench.root.name}"
    tool = bench.tool(SLEEPER.format(marker=marker, detached=False, pause=60))
    call = asyncio.create_task(tool.call({}))
    for _ in range(1_200):
        if alive(marker):
            break
        await asyncio.sleep(0.05)
    assert alive(marker)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert gone(marker)
    assert list(bench.scratch.iterdir()) == []


def test_killing_the_caller_leaves_no_orphan(bench: Workbench) -> None:
    marker = f"orphan-{os.getpid()}-{bench.root.name}"
    detached = isinstance(bench.confinement, BubblewrapConfinement)
    bench.tool(SLEEPER.format(marker=marker, detached=detached, pause=60))
    script = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from tests.skills.workbench import Workbench, walls
        bench = Workbench(Path({str(bench.root)!r}))
        bench.confinement = walls({("bubblewrap" if detached else "landlock")!r}, bench.home)
        asyncio.run(bench.load(bench.folder()).call({{}}))
    """)
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[3]) as caller:
        for _ in range(1_200):
            if alive(marker):
                break
            time.sleep(0.05)
        assert alive(marker)
        caller.send_signal(signal.SIGKILL)
    assert gone(marker)
    assert gone(str(bench.folder() / "main.py"))


@pytest.mark.parametrize(
    ("resource", "program"),
    [
        ("memory", "x = bytearray(64 * 1024**3); reply('done')"),
        ("file size", "open('big', 'wb').truncate(1024**4); reply('done')"),
        ("cpu", "import resource; reply(str(resource.getrlimit(resource.RLIMIT_CPU)[0] > 100))"),
    ],
)
async def test_resource_limits_hold(bench: Workbench, resource: str, program: str) -> None:
    tool = bench.tool(f"import os; os.chdir(os.environ['HOME']); {program}", timeout=10)
    assert (await tool.call({})).text != "done", resource
    assert (await tool.call({})).text != "True", resource


@needs_counted_processes
async def test_number_of_processes_is_limited(bench: Workbench) -> None:
    tool = bench.tool("""
        import subprocess, sys
        started = []
        try:
            for _ in range(400):
                started.append(subprocess.Popen(["sleep", "20"]))
            reply("unlimited")
        except OSError:
            reply("wall")
    """)
    assert (await tool.call({})).text == "wall"


BOMB = """
    import os, time
    try:
        for _ in range(400):
            if os.fork() == 0:
                try:
                    os.fork()
                finally:
                    time.sleep(60)
                    os._exit(0)
        reply("unlimited")
    except OSError:
        reply("wall")
"""


@needs_landlock
@needs_listed_children
async def test_launcher_limits_processes_without_control_groups(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, confinement=replace(landlocked(tmp_path / "home"), groups=Groups(None)))
    assert (await bench.tool(BOMB).call({})).text == "wall"
    assert gone(str(bench.folder() / "main.py"))


@needs_listed_children
async def test_too_many_processes_are_killed_without_confinement(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, confinement=NoConfinement(groups=Groups(None)))
    tool = bench.tool("""
        import os, time
        for _ in range(8):
            os.fork()
        time.sleep(60)
    """)
    envelope = await tool.call({})
    assert envelope.error is not None
    assert "processes" in envelope.error.message
    assert "more than 128 processes" in bench.logs[0].stderr
    assert gone(str(bench.folder() / "main.py"))


@needs_landlock
async def test_processes_within_the_limit_are_not_killed(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, confinement=replace(landlocked(tmp_path / "home"), groups=Groups(None)))
    tool = bench.tool("""
        import subprocess
        started = [subprocess.Popen(["sleep", "0.3"]) for _ in range(40)]
        reply(sum(process.wait() for process in started))
    """)
    assert (await tool.call({})).data["output"] == 0


@needs_listed_children
async def test_detached_process_ends_with_the_call_without_confinement(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, confinement=NoConfinement())
    marker = f"daemon-{os.getpid()}-{tmp_path.name}"
    tool = bench.tool(SLEEPER.format(marker=marker, detached=True, pause=0))
    assert (await tool.call({})).text == "started"
    assert gone(marker)


async def test_root_has_no_capabilities_in_the_sandbox(bench: Workbench) -> None:
    tool = bench.tool("""
        fields = ("CapEff", "NoNewPrivs")
        reply([line.split()[1] for line in open("/proc/self/status") if line.startswith(fields)])
    """)
    data = (await tool.call({})).data["output"]
    assert int(data[0], 16) == 0
    assert data[1] == "1"


async def test_new_namespaces_cannot_be_created(bench: Workbench) -> None:
    tool = bench.tool("""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        reply(libc.unshare(0x10000000))
    """)
    assert (await tool.call({})).data["output"] == -1


async def test_process_group_ends_with_the_call_without_confinement(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, confinement=NoConfinement())
    marker = f"unsafe-{os.getpid()}-{tmp_path.name}"
    tool = bench.tool(SLEEPER.format(marker=marker, detached=False, pause=0))
    assert (await tool.call({})).text == "started"
    assert gone(marker)
