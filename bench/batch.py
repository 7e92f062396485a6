"""What a batch costs: calls a second against a bare gather and LangGraph, and memory against the number of goals.

    pip install langgraph        # optional: without it that row is left out
    python -m bench.batch [GOALS]                  # calls a second, 400 goals by default
    python -m bench.batch --memory 1000 10000      # peak memory at both sizes

A server in another process answers at once; every way makes the same calls through litellm, as many at a time. Ratios
of one run on one machine; exit status 1 where a bound is passed.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

AT_A_TIME = 32
LEAST_OF_BARE = 0.8
MOST_MEMORY = 1.2
MODEL = "openai/test-model"
TASKS = [{"id": name, "action_type": "llm", "instruction": f"Do {name}."} for name in "abc"]
PLAN = json.dumps({"tasks": TASKS, "synthesis": "Join."})
CALLS_A_GOAL = len(TASKS) + 2


PROGRAM = f"""
import resource, time
from weft.models import provider
provider.load()
began = time.perf_counter()
from weft.cli.main import main
try:
    main("batch goals.jsonl -o out.jsonl -q --jobs 16 --max-calls {AT_A_TIME} --model {MODEL}".split())
except SystemExit as end:
    assert not end.code, end.code
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def serve() -> None:
    """The server: plans where it is asked to, else says a word."""
    from aiohttp import web

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        text = PLAN if "<available_skills>" in str(body["messages"][0]["content"]) else "done"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return web.json_response({"id": "x", "object": "chat.completion", "created": 1, "model": body["model"],
                                  "choices": [choice], "usage": usage})  # fmt: skip

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", complete)

    async def announce(_: web.Application) -> None:
        print("ready", flush=True)

    app.on_startup.append(announce)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[2]), print=None)


def ours(goals: int) -> tuple[float, int]:
    """Seconds and peak kilobytes of `weft batch` in a process of its own, without the time it takes to start."""
    with tempfile.TemporaryDirectory() as folder:
        lines = "\n".join(json.dumps({"id": str(n), "goal": f"Goal {n}"}) for n in range(goals))
        (Path(folder) / "goals.jsonl").write_text(lines, encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True)
        seconds, peak = done.stdout.split()[-2:]
        return float(seconds), int(peak)


def request(number: int) -> dict[str, Any]:
    """A call of the size that a batch makes: most are tasks', which bring three tools, one with the skills' listing."""
    messages = [
        {"role": "system", "content": "You carry out one task. " * 20},
        {"role": "user", "content": f"Goal {number}"},
    ]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [
        {"type": "function", "function": {"name": name, "description": "word " * length, "parameters": schema}}
        for name, length in (("Skill", 2_000), ("ReadFile", 40), ("ListFiles", 20))
    ]
    more = {"tools": tools} if number % CALLS_A_GOAL in (1, 2, 3) else {}
    return {"messages": messages, "max_retries": 0, "num_retries": 0, **more}


async def bare(calls: int) -> float:
    """A gather over acompletion, as many at a time."""
    from weft.models import provider

    litellm = provider.load()
    room = asyncio.Semaphore(AT_A_TIME)

    async def call(number: int) -> None:
        async with room:
            await litellm.acompletion(model=MODEL, **request(number))

    await call(0)
    began = time.perf_counter()
    await asyncio.gather(*(call(number) for number in range(calls)))
    return time.perf_counter() - began


class State(TypedDict):
    """LangGraph's state: what the nodes said."""

    said: Annotated[list[str], lambda old, new: [*old, *new]]


async def langgraph(goals: int) -> float | None:
    """The same calls as a LangGraph program: plan, three tasks side by side, synthesis."""
    try:
        from langgraph.graph import END, START, StateGraph
    except ImportError:
        return None
    from weft.models import provider

    litellm = provider.load()

    async def node(_: State) -> dict[str, Any]:
        reply = await litellm.acompletion(model=MODEL, **request(1))
        return {"said": [reply.choices[0].message.content]}

    graph: Any = StateGraph(State)
    for name in ("plan", "a", "b", "c", "join"):
        graph.add_node(name, node)
    graph.add_edge(START, "plan")
    for name in "abc":
        graph.add_edge("plan", name)
    graph.add_edge(["a", "b", "c"], "join")
    graph.add_edge("join", END)
    compiled = graph.compile()
    room = asyncio.Semaphore(16)

    async def one() -> None:
        async with room:
            await compiled.ainvoke({"said": []})

    await one()
    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(goals)))
    return time.perf_counter() - began


def compare(goals: int) -> int:
    """Print calls a second of all three."""
    calls = goals * CALLS_A_GOAL
    floor = calls / asyncio.run(bare(calls))
    seconds, _ = ours(goals)
    weft = calls / seconds
    print(f"{goals} goals of {len(TASKS)} tasks, {calls} calls, {AT_A_TIME} at a time: calls a second")
    print(f"  bare gather  {floor:8.1f}")
    print(f"  weft batch   {weft:8.1f}   {weft / floor:.2f} of bare (at least {LEAST_OF_BARE:g}), journal on")
    other = asyncio.run(langgraph(goals))
    if other is None:
        print("  LangGraph    not installed")
        return int(weft / floor < LEAST_OF_BARE)
    peer = calls / other
    print(f"  LangGraph    {peer:8.1f}   weft is at {weft / peer:.2f} of it (at least 1), without a checkpointer")
    return int(weft / floor < LEAST_OF_BARE or weft < peer)


def memory(sizes: list[int]) -> int:
    """Print peak memory at each size."""
    peaks = {size: ours(size)[1] / 1024 for size in sizes}
    for size, peak in peaks.items():
        print(f"{size:>7} goals: {peak:6.0f} MB at the peak")
    ratio = max(peaks.values()) / peaks[min(peaks)]
    print(f"  {ratio:.2f} x (at most {MOST_MEMORY:g})")
    return int(ratio > MOST_MEMORY)


def main() -> int:
    """Start the server and measure."""
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
