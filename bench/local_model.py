"""The embedded model: CPU time per prompt token and per generated token, for each installed backend.

Floor: the library that `goalwright[local]` installs.

    python -m bench.local_model [MODEL]

MODEL is an installed model of `goalwright models list` (default: the largest). Backends alternate in each round. Times
are the CPU time of all threads of the server process, because other programs may use the machine too. Each prompt of
random tokens is used twice: for an answer of one token, then, cached, for a longer answer.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from bench.harness import command, processes
from bench.harness.result import Aim, Benchmark, Column, Findings, Options, Table, cells
from bench.harness.timing import median_ratio
from goalwright.models.local.backends.backend import library
from goalwright.models.local.backends.choose import choose
from goalwright.models.local.serving.endpoint import call
from goalwright.models.local.serving.server import Load, Server
from goalwright.models.local.store import ModelStore, models_dir
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from goalwright.models.local.backends.backend import Backend
    from goalwright.models.local.serving.endpoint import Endpoint
    from goalwright.models.local.store import Installed

ROUNDS, QUICK_ROUNDS = 3, 1
# Tokens of a prompt and of an answer.
PROMPT, QUICK_PROMPT = 64, 16
ANSWER, QUICK_ANSWER = 12, 4
# Seconds; long, because other programs may use the machine too.
PATIENCE = 3600.0
AT_ONCE = (1, 3)
# A faster program must take at most a third of the library's time.
RATIO = 1 / 3
VOCABULARY = range(1_000, 20_000)
COLUMNS = (Column("a prompt token, CPU", "ms", ratio=True), Column("a generated token, CPU", "ms", ratio=True))
Samples = dict[tuple[str, int], tuple[list[float], list[float]]]


def run(options: Options, name: str = "") -> Findings:
    """Measure each backend with one request and with three concurrent ones."""
    backends, model = installed_backends(), largest(name, smallest=options.quick)
    if not backends or model is None:
        missing = (
            "goalwright[local] is not installed" if not backends else "no model is installed: `goalwright models pull`"
        )
        return Findings((), (), (f"Not measured: {missing}.",))
    prompt, answer = (QUICK_PROMPT, QUICK_ANSWER) if options.quick else (PROMPT, ANSWER)
    samples: Samples = defaultdict(lambda: ([], []))
    with ExitStack() as stack:
        servers = {
            str(backend): stack.enter_context(Server(Load(model.path, slots=max(AT_ONCE)), backend))
            for backend in backends
        }
        for server in servers.values():
            measured(server, 1, 8, 2)  # the first call loads the file
        for _ in range(QUICK_ROUNDS if options.quick else ROUNDS):
            for at_once in AT_ONCE:
                for subject, server in servers.items():
                    for kept, spent in zip(
                        samples[subject, at_once], measured(server, at_once, prompt, answer), strict=True
                    ):
                        kept.append(spent)
    floor = str(backends[0])
    tables = tuple(
        Table(_title(at_once), COLUMNS, {subject: cells(*samples[subject, at_once]) for subject in servers}, floor)
        for at_once in AT_ONCE
    )
    threads = ", ".join(f"{subject} on {server.threads}" for subject, server in servers.items())
    note = f"Model: {model.record.name}; prompts of {prompt} tokens, answers of {answer}; threads: {threads}."
    return Findings(tables, tuple(aims(samples, [str(backend) for backend in backends])), (note,))


def aims(samples: Samples, subjects: list[str]) -> list[Aim]:
    """A separately fetched program must be clearly faster than the library."""
    floor, *others = subjects
    return [
        Aim(
            f"{_title(at_once)}: CPU of {what}, {subject} over {floor}",
            median_ratio(samples[subject, at_once][column], samples[floor, at_once][column]),
            RATIO,
        )
        for subject in others
        for at_once in AT_ONCE
        for column, what in enumerate(("a prompt token", "a generated token"))
    ]


def measured(server: Server, at_once: int, prompt: int, answer: int) -> tuple[float, float]:
    """Return CPU milliseconds per prompt token and per generated token."""
    endpoint = server.endpoint()
    prompts = [random.choices(VOCABULARY, k=prompt) for _ in range(at_once)]
    first = _cpu_of(server, endpoint, prompts, 1)
    later = _cpu_of(server, endpoint, prompts, answer)
    return 1000 * first / (at_once * prompt), 1000 * later / (at_once * answer)


def _cpu_of(server: Server, endpoint: Endpoint, prompts: list[list[int]], answer: int) -> float:
    before = processes.cpu(server.pid)
    with ThreadPoolExecutor(len(prompts)) as pool:
        list(pool.map(partial(_complete, endpoint, answer), prompts))
    return processes.cpu(server.pid) - before


def _complete(endpoint: Endpoint, answer: int, prompt: list[int]) -> None:
    body = {"prompt": prompt, "n_predict": answer, "ignore_eos": True, "cache_prompt": True, "temperature": 0}
    call(endpoint.base_url.removesuffix("/v1"), endpoint.api_key, "POST", "/completion", body, PATIENCE)


def installed_backends() -> list[Backend]:
    """Return the library and, if different, the backend that would be chosen."""
    backends = [own] if (own := library()) is not None else []
    try:
        chosen = choose().backend
    except SetupError:
        return backends
    return backends if chosen in backends else [*backends, chosen]


def largest(name: str = "", *, smallest: bool = False) -> Installed | None:
    """Return the installed model of that name, or the largest, or the smallest."""
    models = [model for model in ModelStore(models_dir()).installed() if name in ("", model.record.name)]
    choice = min if smallest else max
    return choice(models, key=lambda model: model.record.bytes, default=None)


def _title(at_once: int) -> str:
    return "one request" if at_once == 1 else f"{at_once} concurrent requests"


BENCHMARK = Benchmark(
    "local_model",
    "CPU time per token of the embedded model, for each installed backend.",
    "xllamacpp, the library that `goalwright[local]` installs.",
    (),
    run,
)


if __name__ == "__main__":
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    sys.exit(command.run_single(BENCHMARK, partial(run, name=named[0]) if named else None))
