"""The command line of `python -m bench` and `python -m bench.NAME`."""

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
    """Run the named benchmarks, or all; return 1 if an aim was missed or a benchmark failed."""
    arguments = sys.argv[1:] if arguments is None else arguments
    args = _parser().parse_args(arguments)
    unknown = [name for name in args.names if name not in NAMES]
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; benchmarks are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    about = machine()
    options = _options(args)
    measured, failed = [], False
    for name in args.names or NAMES:
        benchmark: Benchmark = importlib.import_module(f"bench.{name}").BENCHMARK
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            result = measure(benchmark, options)
        except Exception:  # noqa: BLE001 - keep the results of the other benchmarks
            traceback.print_exc()
            failed = True
            continue
        measured.append(result)
        if not args.json:
            print(text.render(result, quick=args.quick), flush=True)
        if not args.quick and not args.no_page:
            page.save(result.to_dict() | {"measured": about})
    if args.json:
        print(json.dumps(about | {"benchmarks": [result.to_dict() for result in measured]}, ensure_ascii=False))
    else:
        print(text.about(about))
    if not args.quick and not args.no_page:
        print(f"written: {page.write(NAMES)}", file=sys.stderr)
    return int(failed or not all(result.holds(quick=args.quick) for result in measured))


def run_single(benchmark: Benchmark, run: Callable[[Options], Findings] | None = None) -> int:
    """Run one benchmark for `python -m bench.NAME`, or a variant of it, without writing the page."""
    args = _parser().parse_args([argument for argument in sys.argv[1:] if argument.startswith("-")])
    result = measure(benchmark, _options(args), run)
    if args.json:
        print(json.dumps(machine() | result.to_dict(), ensure_ascii=False))
    else:
        print(text.render(result, quick=args.quick))
    return int(not result.holds(quick=args.quick))


def measure(benchmark: Benchmark, options: Options, run: Callable[[Options], Findings] | None = None) -> Measured:
    """Run one benchmark."""
    began = time.monotonic()
    findings = (run or benchmark.run)(options)
    return Measured(benchmark, findings, time.monotonic() - began, _peers(benchmark, options))


def _peers(benchmark: Benchmark, options: Options) -> dict[str, str]:
    """Return the version of each peer, or the reason that it was not measured."""
    if options.peers is None:
        return dict.fromkeys((PEERS[key].name for key in benchmark.peers), "not measured")
    versions = {}
    for key in benchmark.peers:
        peer = PEERS[key]
        try:
            options.peers.python(key)
            versions[peer.name] = ", ".join(options.peers.version(key))
        except MissingPeer as missing:
            versions[peer.name] = str(missing)
    return versions


def _options(args: argparse.Namespace) -> Options:
    with_peers = not (args.quick or args.no_peers)
    return Options(args.quick, args.corpus, Environments() if with_peers else None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure goalwright beside floors and other projects, and write docs/benchmarks.md.",
        epilog="example: python -m bench engine journal --json",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, no peers, no time limits, no page")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a folder with skills/ and queries.jsonl: real skills and goals"
    )
    parser.add_argument("--no-peers", action="store_true", help="do not measure other projects")
    parser.add_argument("--no-page", action="store_true", help="do not write docs/benchmarks.md")
    return parser
