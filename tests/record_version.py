"""Records the files of this version for tests of later versions: `python -m tests.record_version FOLDER`.

It runs the real command line against a scripted server, with every way for a run to end, and keeps the journal, the
exported traces, the workspace, a killed batch and the trust file. `tests/test_recorded_versions.py` reads, resumes and
replays them. To record an earlier commit, copy this file, `recorded_scenarios.py` and `recorded_plans.py` to its tree.
"""

from __future__ import annotations

import asyncio
import getpass
import gzip
import json
import lzma
import os
import shutil
import signal
import socket
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from tests.nursery import Nursery, Ran, open_nursery
from tests.openai_server import Call, OpenAIServer, Say, chunks, instruction
from tests.recorded_plans import GROWN, ITEMS, LATE_TASK, adapting
from tests.recorded_scenarios import FILES, GOAL, LATE, MODEL, Scenario, batch, chain, scenarios, skilled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Some absolute paths are recorded, so this one must not depend on the machine.
PLACE = Path("/tmp/goalwright-recorded")
ROOT = Path(__file__).parent.parent
KEY = "sk-test-0123456789abcdef"


class WritingServer(OpenAIServer):
    """A server that writes the last task of some plans slowly, so that earlier tasks start early."""

    pause = 1.5

    async def _stream(self, request: web.Request, call: Call, answer: Say) -> web.StreamResponse:
        first, cut, rest = answer.text.partition(LATE_TASK)
        if not cut:
            return await super()._stream(request, call, answer)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for row in chunks(call, [first, cut + rest], answer):
            if cut in json.dumps(row).replace("\\", ""):
                await asyncio.sleep(self.pause)
            await response.write(f"data: {json.dumps(row)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response


@dataclass(frozen=True)
class Recorder:
    """Runs `goalwright` in the recorded workspace against the server."""

    nursery: Nursery
    server: WritingServer
    workspace: Path
    env: Mapping[str, str]

    def goalwright(self, *arguments: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run a command; it may fail, but not crash."""
        ran = self.nursery.run(arguments, {**self.env, **(env or {})}, self.workspace)
        assert "Traceback" not in ran.err, ran.err
        return ran

    def record(self, one: Scenario) -> str:
        """Record a run and its follow-up commands; return its id."""
        self.server.script = one.script
        ran = self.goalwright("run", "--json", *one.arguments, f"{one.goal} {one.tag}", env=one.env)
        run_id = self.ended(one.status, ran)
        for step in one.then:
            ran = self.goalwright(*step.arguments(json.loads(ran.out)), "--json", env=one.env)
            self.ended(step.status, ran)
        return run_id

    def ended(self, status: str, ran: Ran) -> str:
        """Return the id of a run, and check its outcome."""
        assert ran.out, ran.err
        document = json.loads(ran.out)
        assert document["status"] == status, f"{document['status']}, not {status}: {document['goal']}: {ran.out}"
        return str(document["run_id"])

    def stop(self, number: signal.Signals, *arguments: str, ready: Callable[[], bool] = lambda: True) -> None:
        """Start a command and signal it while the second task of the chain waits for its model."""
        self.server.calls.clear()
        command = ["-m", "goalwright", *arguments, "--quiet"]
        with self.nursery.start(command, env=self.env, cwd=self.workspace) as process:
            self.wait(lambda: "Do two" in map(instruction, self.server.asked("task")) and ready())
            time.sleep(1)  # the rows so far are on disk
            process.send_signal(number)
            process.wait(60)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""
        deadline = time.monotonic() + LATE / 2
        while not condition():
            assert time.monotonic() < deadline, "the command did not get as far as it should"
            time.sleep(0.05)


def record(recorder: Recorder) -> None:
    """Record every run, the plan file and the batch."""
    first, *_ = [recorder.record(one) for one in (*scenarios(), *adapting())]
    server, workspace = recorder.server, recorder.workspace

    server.script = skilled()
    assert recorder.goalwright("plan", *MODEL, "-o", "plan.yaml", f"{GOAL} [skill]").status == 0
    recorder.ended("done", recorder.goalwright("rerun", "--json", *MODEL, first, "--from", "brief"))
    recorder.record(Scenario("[skill] planned", "done", skilled(), (*MODEL, "--plan", "plan.yaml", "--trust")))

    server.script = chain()
    recorder.stop(signal.SIGKILL, "run", *MODEL, f"{GOAL} [resumed]")
    server.script = chain(late="nothing")
    recorder.ended("done", recorder.goalwright("resume", "--json", *MODEL, "last"))

    server.script = chain()
    recorder.stop(signal.SIGINT, "run", *MODEL, f"{GOAL} [stop]")
    recorder.stop(signal.SIGKILL, "run", *MODEL, f"{GOAL} [kill]")
    server.script = chain(of=ITEMS)
    recorder.stop(signal.SIGKILL, "run", *MODEL, f"{GOAL} [items]")
    server.script, server.pause = chain(of=GROWN), LATE
    recorder.stop(signal.SIGKILL, "run", *MODEL, f"{GOAL} [midway]")

    server.script = batch()
    tags = ("[empty]", "[bfail]", "[empty]", "[batch]", "[empty]")
    goals = [{"id": f"g{number}", "goal": f"{GOAL} {tag} number {number}"} for number, tag in enumerate(tags)]
    (workspace / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals), encoding="utf-8")
    results = workspace / "results.jsonl"
    recorder.stop(
        signal.SIGKILL, "batch", "goals.jsonl", "-o", "results.jsonl", "--jobs", "2", *MODEL,
        ready=lambda: results.is_file() and results.read_text(encoding="utf-8").count("\n") == len(goals) - 1,
    )  # fmt: skip


def packed(folder: Path, name: str) -> bytes:
    """Return the content of a recorded file of any compression."""
    (path,) = folder.glob(f"{name}.*")
    return unpacked(path)


def unpacked(path: Path) -> bytes:
    """Return the content of a file, decompressed by its suffix."""
    content = path.read_bytes()
    return {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)(content)


def keep(recorder: Recorder, home: Path, folder: Path) -> None:
    """Write the recording to a folder, without traces of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    assert recorder.goalwright("trace", "export", "--all", "-o", "../traces.jsonl").status == 0
    journal = PLACE / "journal.sqlite"
    with sqlite3.connect(recorder.workspace / ".agents/journal.sqlite") as source:
        source.execute("VACUUM INTO ?", (str(journal),))  # includes the write-ahead log
    with sqlite3.connect(journal) as copy:
        # The lease of a killed process becomes one of another machine, long ago.
        copy.execute(
            "UPDATE runs SET holder = json_set(holder, '$.host', 'recorded', '$.boot', ''), beat = 0"
            " WHERE holder IS NOT NULL"
        )
        copy.commit()
        copy.execute("VACUUM")
    # Runs repeat earlier prompts, beyond the window of gzip.
    for file in (journal, PLACE / "traces.jsonl"):
        (folder / f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes(), preset=9))
    shutil.copytree(recorder.workspace, folder / "workspace", ignore=shutil.ignore_patterns(".agents"))
    shutil.copy(home / ".local/share/goalwright/trust.json", folder)
    private = [str(ROOT), str(Path.home()), f'"{socket.gethostname()}"', f'"{getpass.getuser()}"', KEY]
    for path in (one for one in folder.rglob("*") if one.is_file()):
        content = unpacked(path)
        found = [text for text in private if text.encode() in content]
        assert not found, f"{path} holds {', '.join(found)}; remove {folder}"


def main(folder: Path) -> None:
    """Record this version into a folder."""
    for path in (folder, PLACE):
        if path.exists():
            sys.exit(f"{path} exists; remove it, unless another recording is using it")
    workspace, home = PLACE / "workspace", PLACE / "home"
    home.mkdir(parents=True)
    try:
        for name, text in FILES.items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with open_nursery() as nursery, WritingServer(batch()) as server:
            given = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
            bases = {"OPENAI_API_BASE": server.base, "LM_STUDIO_API_BASE": server.base}
            keys = {"OPENAI_API_KEY": KEY, "LM_STUDIO_API_KEY": KEY}
            recorder = Recorder(nursery, server, workspace, {"HOME": str(home), **given, **bases, **keys})
            record(recorder)
            keep(recorder, home, folder)
    finally:
        shutil.rmtree(PLACE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.record_version FOLDER")
    main(Path(sys.argv[1]).absolute())
