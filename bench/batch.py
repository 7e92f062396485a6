"""The cost of a batch: calls per second against a bare gather and LangGraph, and memory by number of goals.

    pip install langgraph                          # optional; without it, that row is skipped
    python -m bench.batch [GOALS]                  # calls per second, 400 goals by default
    python -m bench.batch --memory 1000 10000      # peak memory at both sizes

A server in another process answers at once; each contender makes the same calls through litellm, with the same
concurrency. The rate is measured on the server, from a contender's first call to its last, so that start-up does not
count. Ratios of one run on one machine; exits 1 if a bound is exceeded.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Annotated, Any, TypedDict

CONCURRENCY = 32
MIN_OF_BARE = 0.8
MAX_MEMORY_RATIO = 1.2
MODEL = "openai/test-model"
TASKS = [{"id": name, "action_type": "llm", "instruction": f"Do {name}."} for name in "abc"]
PLAN = json.dumps({"tasks": TASKS, "synthesis": "Join."})
CALLS_PER_GOAL = len(TASKS) + 2


PROGRAM = f"""
import resource
from weft.cli.main import main
try:
    main("batch goals.jsonl -o out.jsonl -q --jobs 16 --max-calls {CONCURRENCY} --model {MODEL}".split())
except SystemExit as end:
    assert not end.code, end.code
print(*(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


def serve() -> None:
    """The model server: answers a planning request with the plan, anything else with one word."""
    from aiohttp import web

    seen: list[float] = []

    async def rate(_: web.Request) -> web.Response:
        calls, seconds = len(seen), seen[-1] - seen[0]
        seen.clear()
        return web.json_response([calls, seconds])

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        seen.append(time.perf_counter())
        text = PLAN if "<available_skills>" in str(body["messages"][0]["content"]) else "done"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return web.json_response({"id": "x", "object": "chat.completion", "created": 1, "model": body["model"],
                                  "choices": [choice], "usage": usage})  # fmt: skip

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/rate", rate)

    async def announce(_: web.Application) -> None:
        print("ready", flush=True)

    app.on_startup.append(announce)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[2]), print=None)


def rate(calls: int) -> float:
    """Calls per second that the server saw since the last request for the rate; checks that all calls arrived."""
    base = os.environ["OPENAI_API_BASE"].removesuffix("/v1")
    with urllib.request.urlopen(f"{base}/rate") as answer:  # noqa: S310 - our own server
        arrived, seconds = json.load(answer)
    assert arrived == calls, f"{arrived} of {calls} calls arrived"
    return float(arrived / seconds)


def ours(goals: int) -> int:
    """Run `weft batch` in its own process; returns its peak memory plus its largest child's, in kilobytes."""
    with tempfile.TemporaryDirectory() as folder:
        lines = "\n".join(json.dumps({"id": str(n), "goal": f"Goal {n}"}) for n in range(goals))
        (Path(folder) / "goals.jsonl").write_text(lines, encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True)
        return sum(int(peak) for peak in done.stdout.split()[-2:])


def request(number: int) -> dict[str, Any]:
    """A call as large as a batch's: most are for tasks, with three tools, one of which has the listing of skills."""
    messages = [
        {"role": "system", "content": "You carry out one task. " * 20},
        {"role": "user", "content": f"Goal {number}"},
    ]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [
        {"type": "function", "function": {"name": name, "description": "word " * length, "parameters": schema}}
        for name, length in (("Skill", 2_000), ("ReadFile", 40), ("ListFiles", 20))
    ]
    more = {"tools": tools} if number % CALLS_PER_GOAL in (1, 2, 3) else {}
    return {"messages": messages, "max_retries": 0, "num_retries": 0, **more}


async def bare(calls: int) -> None:
    """A bare gather over acompletion, with the same concurrency."""
    from weft.providers import litellm_model

    litellm = litellm_model.load()
    slots = asyncio.Semaphore(CONCURRENCY)

    async def call(number: int) -> None:
        async with slots:
            await litellm.acompletion(model=MODEL, **request(number))

    await asyncio.gather(*(call(number) for number in range(calls)))


class Replies(TypedDict):
    """LangGraph's state: the replies of the nodes."""

    replies: Annotated[list[str], lambda old, new: [*old, *new]]


async def langgraph(goals: int) -> bool:
    """The same calls in LangGraph: plan, three parallel tasks, synthesis; returns False if it is not installed."""
    try:
        from langgraph.graph import END, START, StateGraph
    except ImportError:
        return False
    from weft.providers import litellm_model

    litellm = litellm_model.load()

    async def node(_: Replies) -> dict[str, Any]:
        reply = await litellm.acompletion(model=MODEL, **request(1))
        return {"replies": [reply.choices[0].message.content]}

    graph: Any = StateGraph(Replies)
    for name in ("plan", "a", "b", "c", "join"):
        graph.add_node(name, node)
    graph.add_edge(START, "plan")
    for name in "abc":
        graph.add_edge("plan", name)
    graph.add_edge(["a", "b", "c"], "join")
    graph.add_edge("join", END)
    compiled = graph.compile()
    slots = asyncio.Semaphore(16)

    async def one() -> None:
        async with slots:
            await compiled.ainvoke({"replies": []})

    await asyncio.gather(*(one() for _ in range(goals)))
    return True


def compare(goals: int) -> int:
    """Print the calls per second of all three."""
    calls = goals * CALLS_PER_GOAL
    asyncio.run(bare(calls))
    floor = rate(calls)
    ours(goals)
    weft = rate(calls)
    print(f"{goals} goals of {len(TASKS)} tasks, {calls} calls, {CONCURRENCY} at a time: calls per second")
    print(f"  bare gather  {floor:8.1f}")
    print(f"  weft batch   {weft:8.1f}   {weft / floor:.2f} of bare (at least {MIN_OF_BARE:g}), journal on")
    if not asyncio.run(langgraph(goals)):
        print("  LangGraph    not installed")
        return int(weft / floor < MIN_OF_BARE)
    peer = rate(calls)
    print(f"  LangGraph    {peer:8.1f}   weft is at {weft / peer:.2f} of it (at least 1), without a checkpointer")
    return int(weft / floor < MIN_OF_BARE or weft < peer)


def memory(sizes: list[int]) -> int:
    """Print peak memory at each size."""
    peaks = {size: ours(size) / 1024 for size in sizes}
    for size, peak in peaks.items():
        print(f"{size:>7} goals: {peak:6.0f} MB peak memory")
    ratio = max(peaks.values()) / peaks[min(peaks)]
    print(f"  {ratio:.2f} x (at most {MAX_MEMORY_RATIO:g})")
    return int(ratio > MAX_MEMORY_RATIO)


def main() -> int:
    """Start the server and run the benchmark."""
    port = 20_000 + os.getpid() % 20_000
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.batch", "--serve", str(port)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        os.environ |= {"OPENAI_API_BASE": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "sk-bench"}
        if sys.argv[1:2] == ["--memory"]:
            return memory([int(size) for size in sys.argv[2:]])
        return compare(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sys.argv[1:] = ["--serve", sys.argv[2]]
        serve()
    else:
        sys.exit(main())
