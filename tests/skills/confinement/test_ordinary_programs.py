"""Ordinary programs run in the sandbox, because the allow-list of system calls suffices for them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.needs import need
from tests.skills.workbench import WALLS, Workbench, walls

if TYPE_CHECKING:
    from pathlib import Path

RUN = """
    import os, subprocess
    os.chdir(os.environ["HOME"])
    done = subprocess.run(arguments["argv"], capture_output=True, text=True, timeout=20)
    reply([done.returncode, done.stdout.strip(), done.stderr[-500:]])
"""
SHELL = """
set -e
mkdir -p a/b; echo one > a/b/f; cp -a a c; mv c/b/f c/g; ln -s g c/h; chmod 600 c/g; touch c/t; cat c/h
find . -type f | sort | xargs wc -l | tail -n 1 >/dev/null
seq 1 1000 | sort -rn | head -n 1
tar cf x.tar a && tar tf x.tar | grep -c f
(sleep 0.05 & wait); dd if=/dev/zero of=z bs=1024 count=4 2>/dev/null; ls -l z | cut -c1
date +%s >/dev/null; id -u >/dev/null; uname >/dev/null; nice true; timeout 5 true; mktemp >/dev/null; rm -r a c z x.tar
kill -TERM $$ & wait; echo not reached
"""
PYTHON = """
import asyncio, concurrent.futures, ctypes, hashlib, mmap, os, queue, select, signal, socket, sqlite3, subprocess
import tempfile, threading, time
async def work():
    process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    return (await process.communicate(b"echo"))[0]
assert asyncio.run(work()) == b"echo"
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda n: n, range(50))) == 1225
with tempfile.TemporaryDirectory() as folder:
    base = sqlite3.connect(folder + "/x.db"); base.execute("create table t (a)"); base.commit(); base.close()
    os.replace(folder + "/x.db", folder + "/y.db"); list(os.scandir(folder)); os.truncate(folder + "/y.db", 10)
child = subprocess.Popen(["sleep", "30"]); child.terminate(); assert child.wait() == -15
os.kill(os.getpid(), 0); signal.alarm(0); os.nice(0); os.sched_setaffinity(0, os.sched_getaffinity(0)); os.getloadavg()
pair = socket.socketpair(); pair[0].sendall(b"x"); assert pair[1].recv(1) == b"x"
memory = mmap.mmap(-1, 4096); memory[0] = 1; os.memfd_create("x"); os.urandom(4); os.eventfd(1); select.epoll().close()
pid = os.fork()
if pid == 0: os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print("fine")
"""
NODE = """
const fs = require("fs"), os = require("os"), cp = require("child_process"), { Worker } = require("worker_threads");
fs.writeFileSync("a.txt", "x"); fs.copyFileSync("a.txt", "b.txt"); fs.readdirSync("."); os.cpus(); os.totalmem();
require("crypto").randomBytes(8); require("zlib").gzipSync("x");
// Landlock alone cannot hide the names of changed files, so it refuses to watch.
try { fs.watch(".").close(); } catch (error) { if (error.code !== "ENOSYS") throw error; }
const shown = cp.execSync("echo child").toString().trim();
new Worker("require('worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", () => {
  cp.spawn("cat").on("close", () => console.log("fine " + shown)).stdin.end("x");
});
"""


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


async def output(bench: Workbench, *argv: str) -> list[object]:
    parameters = [{"name": "argv", "type": "array", "required": True}]
    envelope = await bench.tool(RUN, parameters=parameters).call({"argv": list(argv)})
    assert envelope.status == "success", (envelope, bench.logs)
    result: list[object] = envelope.data["output"]
    return result


async def test_shell_and_common_programs_run(bench: Workbench) -> None:
    status, out, err = await output(bench, "/bin/sh", "-c", SHELL)
    assert (status, out) == (-15, "one\n1000\n1\n-"), err


async def test_python_with_threads_processes_and_databases_runs(bench: Workbench) -> None:
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin") or ""
    if not python:
        python = "python3"
    status, out, err = await output(bench, python, "-c", PYTHON)
    assert (status, out) == (0, "fine"), err


async def test_node_with_workers_and_children_runs(bench: Workbench) -> None:
    need("node")
    status, out, err = await output(bench, "node", "-e", NODE)
    assert (status, out) == (0, "fine child"), err
