"""Startup: the time of commands, and the time to the first model call of `goalwright run`.

Floor: `python -c pass` for commands, `python -c "import litellm"` for the first call.

Peer: `llm --help`, and the first call of `llm`.

    python -m bench.startup

The first call is timed from process start to its arrival at a local provider. A "cold" run has no terminal and imports
litellm itself. The "first" run at a terminal starts the process that keeps litellm loaded (docs/adr/003), and the
"second" run uses it.
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
from bench.harness.timing import Spent, alternate, cpu, elapsed, median_ratio, time_process
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
    """A temporary home and workspace, and the provider that receives calls."""

    home: Path
    workspace: Path
    calls: Provider

    @property
    def env(self) -> dict[str, str]:
        """The environment of a command: this checkout, no settings, no CI."""
        return clean(self.home) | self.calls.env | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}

    def run(self, *words: str, env: dict[str, str] | None = None) -> None:
        """Run a command without a terminal."""
        subprocess.run(
            words, check=True, cwd=self.workspace, env=self.env | (env or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def first_call(self, start: Callable[[], None]) -> float:
        """Return the seconds until the first call arrives."""
        self.calls.calls()
        began = time.monotonic()
        start()
        return min(call.arrived for call in self.calls.calls()) - began

    def run_at_terminal(self) -> None:
        """Run a goal at a terminal."""
        with _terminal() as terminal:
            subprocess.run(
                [*GOALWRIGHT, "run", "--model", MODEL, "Say hi"], check=True, cwd=self.workspace, env=self.env,
                stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal,
            )  # fmt: skip

    def end_shared_process(self) -> None:
        """Terminate the shared process left by a run at a terminal."""
        folder = SocketFolder.of(self.home / ".cache" / "goalwright")
        while (pid := folder.served_by()) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            time.sleep(0.05)


@contextmanager
def _terminal() -> Iterator[int]:
    """Open a pseudo-terminal whose output is drained."""
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
    """Measure first calls, which also create runs to list, then commands."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, provider() as calls:
        bench = Bench(Path(folder, "home"), Path(folder, "work"), calls)
        bench.home.mkdir()
        bench.workspace.mkdir()
        calls.set(plan=plan_of(1, None))
        llm, missing = _llm(options, bench)
        try:
            # A cold run takes about as long as the first one at a terminal, so the quick form skips it.
            subjects = (FIRST, SECOND) if options.quick else (COLD, FIRST, SECOND)
            first = _first_calls(bench, llm, 1 if options.quick else 5, subjects)
        finally:
            bench.end_shared_process()
        commands = _commands(bench, llm, 1 if options.quick else 9)
    reason = "`import click` alone takes 4.3 times as long as `python -c pass`"
    ratio = median_ratio(cpu(commands[HELP]), cpu(commands[PASS]))
    aims = [Aim("CPU time of goalwright --help over python -c pass", ratio, 4.5, reason=reason)]
    aims += [
        Aim(f"first call of {subject} over {IMPORT}", median_ratio(first[subject], first[IMPORT]), bound)
        for subject, bound in ((COLD, 1.15), (FIRST, 1.15), (SECOND, 0.25))
        if subject in first
    ]
    tables = (
        _table("Commands", {name: elapsed(samples) for name, samples in commands.items()}, PASS, PEER[0], missing),
        _table("Time to the first model call", first, IMPORT, PEER[1], missing),
    )
    return Findings(tables, tuple(aims))


def _table(title: str, rows: dict[str, list[float]], floor: str, peer: str, missing: str) -> Table:
    shown: dict[str, tuple[Cell, ...]] = {
        name: cells([1000 * sample for sample in samples]) for name, samples in rows.items()
    }
    if missing:
        shown[peer] = cells(missing)
    return Table(
        title, (Column("from start to end" if floor == PASS else "from start", "ms", ratio=True),), shown, floor
    )


def _commands(bench: Bench, llm: list[str], rounds: int) -> dict[str, list[Spent]]:
    words = {
        PASS: [sys.executable, "-c", "pass"],
        HELP: [*GOALWRIGHT, "--help"],
        "goalwright skills list": [*GOALWRIGHT, "skills", "list"],
        "goalwright trace list": [*GOALWRIGHT, "trace", "list"],
    }
    if llm:
        words[PEER[0]] = [*llm, "--help"]
    contenders = {
        name: partial(time_process, partial(bench.run, *command_line)) for name, command_line in words.items()
    }
    return alternate(contenders, rounds)


def _first_calls(bench: Bench, llm: list[str], rounds: int, subjects: tuple[str, ...]) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {IMPORT: [], **{subject: [] for subject in subjects}}
    cold = partial(bench.run, *GOALWRIGHT, "run", "--model", MODEL, "Say hi")
    starts: dict[str, Callable[[], None]] = dict.fromkeys(subjects, bench.run_at_terminal) | {COLD: cold}
    for _ in range(rounds):
        began = time.monotonic()
        # As goalwright imports it, without fetching the newest prices.
        bench.run(sys.executable, "-c", "import litellm", env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
        seconds[IMPORT].append(time.monotonic() - began)
        bench.end_shared_process()
        for subject in subjects:
            seconds[subject].append(bench.first_call(starts[subject]))
        if llm:
            first = bench.first_call(lambda: bench.run(*llm, "-m", "bench", "Say hi", env={"PYTHONPATH": ""}))
            seconds.setdefault(PEER[1], []).append(first)
    return seconds


def _llm(options: Options, bench: Bench) -> tuple[list[str], str]:
    """Configure `llm` with the provider; return its command, or the reason that it is missing."""
    if options.peers is None:
        return [], ""
    try:
        python = options.peers.python("llm")
    except MissingPeer as missing:
        return [], str(missing)
    folder = bench.home / ".config" / "io.datasette.llm"
    folder.mkdir(parents=True)
    model = f"- {{model_id: bench, model_name: test-model, api_base: {bench.calls.env['OPENAI_API_BASE']}}}\n"
    (folder / "extra-openai-models.yaml").write_text(model, encoding="utf-8")
    return [str(python.with_name("llm"))], ""


BENCHMARK = Benchmark(
    "startup",
    "The time of commands, and the time to the first model call of `goalwright run`.",
    "`python -c pass` for commands, `import litellm` for the first call.",
    ("llm",),
    run,
)

if __name__ == "__main__":
    sys.exit(command.run_single(BENCHMARK))
