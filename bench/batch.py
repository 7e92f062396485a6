"""Batches: calls per second, peak memory, and how well slow calls use the slots.

Floor: `asyncio.gather` over litellm with the same requests and concurrency; for a provider that takes a second, the
limit of the slots. Rates are measured at the provider from the first call to the last answer, without startup.

Peer: a LangGraph program that makes the same requests, without a checkpointer.

    python -m bench.batch [GOALS]                  # calls per second (default: 400 goals)
    python -m bench.batch --memory 1000 10000      # peak memory at each size

--corpus DIR adds real goals, once with the skills that ship and once with the skills of the corpus.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.harness import command
from bench.harness.machine import ROOT
from bench.harness.model_server import MODEL, Provider, plan_of, provider, rate
from bench.harness.peers import MissingPeer, clean
from bench.harness.result import Aim, Benchmark, Cell, Column, Findings, Options, Table, cells
from bench.harness.timing import median_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

BARE, GOALWRIGHT, PEER = "bare gather", "goalwright batch", "LangGraph"
SLOTS, SLOW_SLOTS = 32, 64
TASKS = 3
CALLS = TASKS + 2
SIZES = (100, 1_000, 10_000)
PROGRAM = """
import resource, sys
from goalwright.interfaces.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """Goals and the skills to select from."""

    name: str
    goals: Sequence[str]
    skills: Path | None = None


def scenes(options: Options, goals: int) -> list[Scene]:
    """Return small goals, and real goals if there is a corpus."""
    batches = [Scene("small goals", [f"Goal {number}" for number in range(goals)])]
    if options.corpus is not None:
        text = (options.corpus / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [goal["goal"] for goal in map(json.loads, text) if goal["expected"] is not None]
        sample = texts[:: max(1, len(texts) // (goals // 2))][: goals // 2]
        batches.append(Scene("real goals, bundled skills", sample))
        batches.append(Scene("real goals, the corpus's skills", sample, options.corpus / "skills"))
    return batches


def batch(calls: Provider, scene: Scene, slots: int = SLOTS) -> float:
    """Run `goalwright batch`; return its peak memory plus that of its largest child process, in MB."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder, "work")
        work.mkdir()
        lines = [json.dumps({"id": str(number), "goal": goal}) for number, goal in enumerate(scene.goals)]
        (work / "goals.jsonl").write_text("\n".join(lines), encoding="utf-8")
        if scene.skills is not None:
            (work / "skills").symlink_to(scene.skills.resolve())
        words = ["batch", "goals.jsonl", "-o", "out.jsonl", "-q", "--max-calls", str(slots), "--model", MODEL]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], cwd=work, env=_env(folder, calls), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return sum(int(peak) for peak in done.stdout.split()[-2:]) / 1024


def _env(home: str, calls: Provider) -> dict[str, str]:
    return clean(home) | calls.env | {"PYTHONPATH": str(ROOT)}


def bare(calls: Provider, bodies: list[dict[str, Any]]) -> None:
    """Make the same requests with `asyncio.gather` in a child process."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        words = [sys.executable, "-m", "bench.harness.bare_calls", str(SLOTS)]
        asked = json.dumps(bodies).encode()
        subprocess.run(words, input=asked, cwd=ROOT, env=_env(folder, calls), check=True, stdout=subprocess.DEVNULL)


def rates(options: Options, calls: Provider, scene: Scene, rounds: int) -> dict[str, list[float] | str]:
    """Return calls per second of each contender and round."""
    found: dict[str, list[float]] = {BARE: [], GOALWRIGHT: []}
    peer: list[float] | str = []
    expected = len(scene.goals) * CALLS
    for _ in range(rounds):
        calls.set(plan=plan_of(TASKS, "Join."), keeps=True)
        batch(calls, scene)
        found[GOALWRIGHT].append(rate(calls.calls(), expected))
        bodies = calls.bodies()
        calls.set()
        bare(calls, bodies)
        found[BARE].append(rate(calls.calls(), expected))
        if options.peers is not None and isinstance(peer, list):
            try:
                asked = {"bodies": bodies, "env": calls.env, "calls": CALLS, "slots": SLOTS}
                fault = options.peers.report("langgraph-calls", "on_langgraph_calls", asked, 240).fault
                got = calls.calls()
                peer = fault or [*peer, rate(got, expected)]
            except MissingPeer as missing:
                peer = str(missing)
    return {**found, PEER: peer} if options.peers is not None else dict(found)


def run(options: Options, goals: int = 400) -> Findings:
    """Measure rates, slow calls and memory."""
    goals = 8 if options.quick else goals
    with provider() as calls:
        speed, aims = _speed(options, calls, goals)
        if options.quick:
            return Findings((speed,), tuple(aims))
        slow, filled = _slow(calls)
        memory, flat = _memory(calls, SIZES)
    return Findings((speed, slow, memory), (*aims, filled, flat))


def _speed(options: Options, calls: Provider, goals: int) -> tuple[Table, list[Aim]]:
    shown = scenes(options, goals)
    found = [rates(options, calls, scene, 2 if scene is shown[0] and not options.quick else 1) for scene in shown]
    aims, cores = [], os.cpu_count() or 1
    reason = (
        f"{cores} cores for the provider, the batch and its call workers; the bare gather needs one"
        if cores < 4
        else ""
    )
    for scene, bound in zip(shown, (1.0, None, 0.7), strict=False):
        theirs, ours = found[shown.index(scene)][BARE], found[shown.index(scene)][GOALWRIGHT]
        assert not isinstance(theirs, str)
        assert not isinstance(ours, str)
        if bound is not None:
            what = f"{scene.name}: calls per second over a bare gather's"
            aims.append(Aim(what, median_ratio(ours, theirs), bound, at_most=False, reason=reason))
    rows = {name: cells(*(each[name] for each in found)) for name in found[0]}
    title = f"Calls per second: {goals} small goals of {CALLS} calls, {SLOTS} at a time, journal on"
    return Table(title, tuple(Column(scene.name, "", ratio=True) for scene in shown), rows, BARE), aims


def _slow(calls: Provider) -> tuple[Table, Aim]:
    """With a provider that takes a second, compare the time to the limit of the slots."""
    goals = 4 * SLOW_SLOTS
    calls.set(seconds=1.0, plan=plan_of(TASKS, "Join."))
    batch(calls, Scene("slow", [f"Goal {number}" for number in range(goals)]), SLOW_SLOTS)
    made, allowed = calls.calls(), goals * CALLS / SLOW_SLOTS
    took = goals * CALLS / rate(made, goals * CALLS)
    rows = {"limit of the slots": cells(allowed), GOALWRIGHT: cells(took)}
    title = f"A provider that takes 1 s: {goals} goals, {SLOW_SLOTS} calls at a time"
    table = Table(
        title, (Column("from the first call to the last answer", "s", ratio=True),), rows, "limit of the slots"
    )
    return table, Aim("a provider of 1 s: time over the limit of the slots", took / allowed, 1.15)


def _memory(calls: Provider, sizes: Sequence[int]) -> tuple[Table, Aim]:
    """Measure peak memory and goals per second by the number of goals of two calls."""
    found: dict[int, tuple[float, float]] = {}
    for size in sizes:
        calls.set(plan=plan_of(1, None))
        peak = batch(calls, Scene("many", [f"Goal {number}" for number in range(size)]))
        found[size] = rate(calls.calls(), 2 * size) / 2, peak
    columns = tuple(Column(f"{size:,} goals") for size in sizes)
    rows: dict[str, tuple[Cell, ...]] = {
        "goalwright, goals per second": cells(*(each[0] for each in found.values())),
        "goalwright, peak memory (MB)": cells(*(each[1] for each in found.values())),
    }
    flat = found[sizes[-1]][1] / found[sizes[-2]][1]
    table = Table("Goals of two calls, by their number", columns, rows, is_plotted=False)
    return table, Aim(f"peak memory, {sizes[-1]:,} goals over {sizes[-2]:,}", flat, 1.2)


def only_memory(_: Options, sizes: Sequence[int]) -> Findings:
    """Measure memory only."""
    with provider() as calls:
        table, flat = _memory(calls, sizes)
    return Findings((table,), (flat,))


BENCHMARK = Benchmark(
    "batch",
    "Calls per second and peak memory of `goalwright batch`, and how well slow calls use the slots.",
    "`asyncio.gather` over litellm with the same requests; for slow calls, the limit of the slots.",
    ("langgraph-calls",),
    run,
)


def main() -> int:
    """Run `python -m bench.batch [GOALS | --memory SIZE SIZE…]`."""
    words = [word for word in sys.argv[1:] if word.isdigit()]
    if "--memory" in sys.argv:
        sys.argv.remove("--memory")
        sizes = sorted(map(int, words)) if len(words) > 1 else SIZES
        return command.run_single(BENCHMARK, partial(only_memory, sizes=sizes))
    return command.run_single(BENCHMARK, partial(run, goals=int(words[0]) if words else 400))


if __name__ == "__main__":
    sys.exit(main())
