"""What `python -m bench` and `python -m bench.NAME` do: run benchmarks, print what they found, and write the page."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import page, text
from bench.harness.machine import machine
from bench.harness.peers import PEERS, Environments, MissingPeer
from bench.harness.result import Measured, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.harness.result import Benchmark, Findings

NAMES = (
    "startup",
    "engine",
    "journal",
    "discovery",
    "skills_scale",
    "tools",
    "batch",
    "crash",
    "growth",
    "web",
    "run_search",
    "cluster",
    "local_model",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all; returns 1 if an aim was missed or a benchmark failed."""
    arguments = sys.argv[1:] if arguments is None else arguments
    given = _parser().parse_args(arguments)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; benchmarks are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    about = machine()
    options = _options(given)
    measured, failed = [], False
    for name in given.names or NAMES:
        benchmark: Benchmark = importlib.import_module(f"bench.{name}").BENCHMARK
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            found = measure(benchmark, options)
        except Exception:  # noqa: BLE001 - the figures of the others are not lost
            traceback.print_exc()
            failed = True
            continue
        measured.append(found)
        if not given.json:
            print(text.shown(found, quick=given.quick), flush=True)
        if not given.quick and not given.no_page:
            page.keep(found.to_dict() | {"measured": about})
    if given.json:
        print(json.dumps(about | {"benchmarks": [one.to_dict() for one in measured]}, ensure_ascii=False))
    else:
        print(text.about(about))
    if not given.quick and not given.no_page:
        print(f"written: {page.write(NAMES)}", file=sys.stderr)
    return int(failed or not all(found.holds(quick=given.quick) for found in measured))


def single(benchmark: Benchmark, run: Callable[[Options], Findings] | None = None) -> int:
    """Run one benchmark for `python -m bench.NAME`, or another form of it; the page is left as it is."""
    given = _parser().parse_args([argument for argument in sys.argv[1:] if argument.startswith("-")])
    found = measure(benchmark, _options(given), run)
    if given.json:
        print(json.dumps(machine() | found.to_dict(), ensure_ascii=False))
    else:
        print(text.shown(found, quick=given.quick))
    return int(not found.holds(quick=given.quick))


def measure(benchmark: Benchmark, options: Options, run: Callable[[Options], Findings] | None = None) -> Measured:
    """Run one benchmark."""
    began = time.monotonic()
    findings = (run or benchmark.run)(options)
    return Measured(benchmark, findings, time.monotonic() - began, _peers(benchmark, options))


def _peers(benchmark: Benchmark, options: Options) -> dict[str, str]:
    """The version of each peer that was measured, or why it was not."""
    if options.peers is None:
        return dict.fromkeys((PEERS[key].name for key in benchmark.peers), "left out")
    found = {}
    for key in benchmark.peers:
        peer = PEERS[key]
        try:
            options.peers.python(key)
            found[peer.name] = ", ".join(options.peers.version(key))
        except MissingPeer as missing:
            found[peer.name] = str(missing)
    return found


def _options(given: argparse.Namespace) -> Options:
    with_peers = not (given.quick or given.no_peers)
    return Options(given.quick, given.corpus, Environments() if with_peers else None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure goalwright against floors and against other projects, and write docs/benchmarks.md.",
        epilog="example: python -m bench engine journal --json",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, no peers, no judgement of time, no page")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="skills/ and queries.jsonl: real skills and goals")
    parser.add_argument("--no-peers", action="store_true", help="leave other projects out")
    parser.add_argument("--no-page", action="store_true", help="leave docs/benchmarks.md as it is")
    return parser
