"""Starting: how long commands take, and how long it takes until the first model call of `goalwright run` leaves.

Floor: `python -c pass` for commands; for the first call `python -c "import litellm"`, which nearly all of it was once.

Peer: simonw's `llm`, its `--help` and its first call.

    python -m bench.startup

The first call is timed from the start of the process until it reaches a provider on this machine. "Cold" is a run
without a terminal, which loads litellm itself; "first" and "second" are two runs at one terminal: the first starts the
process that keeps litellm loaded (docs/adr/003), the second finds it.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.model_server import MODEL, Provider, plan_of, provider
from bench.harness.peers import MissingPeer, clean
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table, cells
from bench.harness.timing import Spent, cpu, elapsed, in_turn, of_process, over
from goalwright.models.call_process.socket_folder import SocketFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PASS, HELP, IMPORT = "python -c pass", "goalwright --help", "import litellm"
COLD, FIRST, SECOND = (
    "goalwright run, cold",
    "goalwright run, first at a terminal",
    "goalwright run, second at a terminal",
)
PEER = "llm --help", "llm PROMPT"
GOALWRIGHT = [sys.executable, "-m", "goalwright"]


@dataclass(frozen=True, slots=True)
class Bench:
    """A home and a workspace of their own, and the provider that calls go to."""

    home: Path
    workspace: Path
    calls: Provider

    @property
    def env(self) -> dict[str, str]:
        """The environment of a command: this checkout, no settings, no CI."""
        return clean(self.home) | self.calls.env | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}

    def run(self, *words: str, env: dict[str, str] | None = None) -> None:
        """Run a command to its end, without a terminal."""
        subprocess.run(
            words, check=True, cwd=self.workspace, env=self.env | (env or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def first_call(self, start: Callable[[], None]) -> float:
        """The seconds until the first call of a program came."""
        self.calls.calls()
        began = time.monotonic()
        start()
        return min(call.came for call in self.calls.calls()) - began

    def run_at_terminal(self) -> None:
        """Run a goal as a person at a terminal does."""
        with _terminal() as terminal:
            subprocess.run(
                [*GOALWRIGHT, "run", "--model", MODEL, "Say hi"], check=True, cwd=self.workspace, env=self.env,
                stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal,
            )  # fmt: skip

    def end_shared_process(self) -> None:
        """End the shared process that a run at a terminal left behind."""
        folder = SocketFolder.of(self.home / ".cache" / "goalwright")
        while (pid := folder.served_by()) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            time.sleep(0.05)


@contextmanager
def _terminal() -> Iterator[int]:
    """A terminal that somebody looks at: what is written to it is read."""
    master, slave = pty.openpty()

    def read() -> None:
        with suppress(OSError):
            while os.read(master, 65_536):
                pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield slave
    finally:
        os.close(slave)
        reader.join(5)
        os.close(master)


def run(options: Options) -> Findings:
    """Measure first calls, which leave runs to list, then commands."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, provider() as calls:
        place = Bench(Path(folder, "home"), Path(folder, "work"), calls)
        place.home.mkdir()
        place.workspace.mkdir()
        calls.set(plan=plan_of(1, None))
        llm, missing = _llm(options, place)
        try:
            # A cold run differs little from the first one at a terminal: the quick form leaves it out.
            subjects = (FIRST, SECOND) if options.quick else (COLD, FIRST, SECOND)
            first = _first_calls(place, llm, 1 if options.quick else 5, subjects)
        finally:
            place.end_shared_process()
        commands = _commands(place, llm, 1 if options.quick else 9)
    reason = "`import click` alone takes 4.3 times as long as `python -c pass`"
    ratio = over(cpu(commands[HELP]), cpu(commands[PASS]))
    aims = [Aim("CPU time of goalwright --help over python -c pass", ratio, 4.5, reason=reason)]
    aims += [
        Aim(f"first call of {subject} over {IMPORT}", over(first[subject], first[IMPORT]), bound)
        for subject, bound in ((COLD, 1.15), (FIRST, 1.15), (SECOND, 0.25))
        if subject in first
    ]
    tables = (
        _table("Commands", {name: elapsed(samples) for name, samples in commands.items()}, PASS, PEER[0], missing),
        _table("Until the first model call leaves", first, IMPORT, PEER[1], missing),
    )
    return Findings(tables, tuple(aims))


def _table(title: str, rows: dict[str, list[float]], floor: str, peer: str, missing: str) -> Table:
    shown: dict[str, tuple[Cell, ...]] = {
        name: cells([1000 * one for one in samples]) for name, samples in rows.items()
    }
    if missing:
        shown[peer] = cells(missing)
    return Table(
        title, (Column("from start to end" if floor == PASS else "from start", "ms", ratio=True),), shown, floor
    )


def _commands(place: Bench, llm: list[str], rounds: int) -> dict[str, list[Spent]]:
    words = {
        PASS: [sys.executable, "-c", "pass"],
        HELP: [*GOALWRIGHT, "--help"],
        "goalwright skills list": [*GOALWRIGHT, "skills", "list"],
        "goalwright trace list": [*GOALWRIGHT, "trace", "list"],
    }
    if llm:
        words[PEER[0]] = [*llm, "--help"]
    contenders = {name: partial(of_process, partial(place.run, *these)) for name, these in words.items()}
    return in_turn(contenders, rounds)


def _first_calls(place: Bench, llm: list[str], rounds: int, subjects: tuple[str, ...]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {IMPORT: [], **{subject: [] for subject in subjects}}
    cold = partial(place.run, *GOALWRIGHT, "run", "--model", MODEL, "Say hi")
    starts: dict[str, Callable[[], None]] = dict.fromkeys(subjects, place.run_at_terminal) | {COLD: cold}
    for _ in range(rounds):
        began = time.monotonic()
        # As goalwright imports it: without fetching the newest prices.
        place.run(sys.executable, "-c", "import litellm", env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        found[IMPORT].append(time.monotonic() - began)
        place.end_shared_process()
        for subject in subjects:
            found[subject].append(place.first_call(starts[subject]))
        if llm:
            seconds = place.first_call(lambda: place.run(*llm, "-m", "bench", "Say hi", env={"PYTHONPATH": ""}))
            found.setdefault(PEER[1], []).append(seconds)
    return found


def _llm(options: Options, place: Bench) -> tuple[list[str], str]:
    """The command of `llm` with the provider as one of its models, or why there is none."""
    if options.peers is None:
        return [], ""
    try:
        python = options.peers.python("llm")
    except MissingPeer as missing:
        return [], str(missing)
    folder = place.home / ".config" / "io.datasette.llm"
    folder.mkdir(parents=True)
    model = f"- {{model_id: bench, model_name: test-model, api_base: {place.calls.env['OPENAI_API_BASE']}}}\n"
    (folder / "extra-openai-models.yaml").write_text(model, encoding="utf-8")
    return [str(python.with_name("llm"))], ""


BENCHMARK = Benchmark(
    "startup",
    "How long commands take, and how long it takes until the first model call of `goalwright run` leaves.",
    "`python -c pass` for commands, `import litellm` for the first call.",
    ("llm",),
    run,
)

if __name__ == "__main__":
    sys.exit(command.single(BENCHMARK))
