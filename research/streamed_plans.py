"""Time to the answer with plans that stream, against plans that are awaited, at a server paced like a model.

    python -m streamed_plans              # tasks of 120 tokens, as fast as a model writes: about four minutes
    python -m streamed_plans --tokens 400

Both kinds run at the same time against the same server, so that the machine slows both alike. Exits 1 if a bound is
exceeded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web
from goalwright_planner.events import TaskStarted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_planner.events import Event

RATE, FIRST = 40.0, 0.5  # tokens a second, and seconds to the first
PLAN, ANSWER = 634, 160  # tokens
TOKEN = 4  # characters
# Streaming must never cost time, and must win where a plan is deep.
MIN_RATIO, MIN_DEEP = 0.95, 1.2


@dataclass(frozen=True)
class PlanShape:
    """Which tasks wait for which; the first may take longer, and the last of the first plan may have a fault.

    So many `maps`, from the first on, go through a list of three, each through the results of the one before it.
    """

    name: str
    before: Sequence[Sequence[int]]
    slow_first: int = 1
    faulty: bool = False
    synthesis: bool = False
    maps: int = 0


def _all_before(count: int) -> list[list[int]]:
    return [*([] for _ in range(count)), list(range(count))]


SHAPES = (
    PlanShape("chain of 8", [[], *([number] for number in range(7))]),
    PlanShape("layers 4-3-1", [[], [], [], [], [0, 1], [1, 2], [2, 3], [4, 5, 6]]),
    PlanShape("7, then 1", _all_before(7)),
    PlanShape("7, then 1; the first takes 4x", _all_before(7), slow_first=4),
    PlanShape("two chains, then 1", [[], [0], [1], [], [3], [4], [5], [2, 6]]),
    PlanShape("8 independent + synthesis", [[]] * 8, synthesis=True),
    PlanShape("a list of 3 mapped 4 times, then 4", [[], *([number] for number in range(7))], maps=4),
    PlanShape("layers, last faulty, asked again", [[], [], [], [], [0, 1], [1, 2], [2, 3], [4, 5, 6]], faulty=True),
)


def written(shape: PlanShape, *, faulty: bool) -> str:
    """The plan as the model writes it, as long as such plans are."""
    rows: list[dict[str, Any]] = [
        {"id": f"t{number}", "action_type": "llm", "instruction": "", "depends_on": [f"t{one}" for one in before]}
        for number, before in enumerate(shape.before)
    ]
    for number, row in enumerate(rows[: shape.maps]):
        row["for_each"] = f"<<t{number - 1}.output>>" if number else ["one", "two", "three"]
    plan = {"tasks": rows, "synthesis": "all of it" if shape.synthesis else None}
    room = (PLAN * TOKEN - len(json.dumps(plan))) // len(rows)
    for number, row in enumerate(rows):
        item = "<<item>>" if "for_each" in row else ""
        row["instruction"] = f"Task {number}: ".ljust(room - len(item), "x") + item
    if faulty:
        rows[-1]["depends_on"].append("t99")
    return json.dumps(plan)


class PacedServer:
    """Speaks the OpenAI protocol, as fast as a model writes; the model's name says which shape it plans."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        text, tokens = self._answer(body)
        await asyncio.sleep(FIRST)
        if not body.get("stream"):
            await asyncio.sleep(tokens / RATE)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response(_frame(body, choices=[choice], usage=_usage(tokens), object="chat.completion"))
        return await self._stream(request, body, text)

    async def _stream(self, request: web.Request, body: Mapping[str, Any], text: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        began = time.monotonic()
        pieces = [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)]
        for number, piece in enumerate(pieces, 1):
            delta = {"index": 0, "delta": {"role": "assistant", "content": piece}}
            await response.write(_line(_frame(body, choices=[delta])))
            await asyncio.sleep(max(began + number / RATE - time.monotonic(), 0))
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        await response.write(_line(_frame(body, choices=[end])))
        await response.write(_line(_frame(body, choices=[], usage=_usage(len(pieces)))))
        await response.write(b"data: [DONE]\n\n")
        return response

    def _answer(self, body: Mapping[str, Any]) -> tuple[str, int]:
        shape = SHAPES[int(body["model"].rpartition("-")[2])]
        asked = [message["content"] for message in body["messages"]]
        if "response_format" in body:
            text = written(shape, faulty=shape.faulty and len(asked) == 2)
            return text, len(text) // TOKEN
        if "Task 0: x" in asked[-1]:
            return "done", self.tokens * shape.slow_first
        return "done", self.tokens


def _frame(body: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"], **more}


def _line(document: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(document)}\n\n".encode()


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}


async def measured(number: int, *, stream_plan: bool) -> tuple[float, float]:
    """Seconds to the first task, and to the answer."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.settings import Settings

    first: list[float] = []
    began = time.monotonic()

    def note(event: Event) -> None:
        if isinstance(event, TaskStarted):
            first.append(time.monotonic() - began)

    settings = Settings(model=f"openai/paced-{number}", stream_plan=stream_plan, max_replans=0)
    with tempfile.TemporaryDirectory() as folder:
        async with Goalwright(folder, settings) as goalwright:
            result = await goalwright.run("Do the tasks of this plan", record=note)
    assert result.status == "done", result.error
    return first[0], time.monotonic() - began


async def main(tokens: int, shapes: Sequence[int] = ()) -> int:
    """Print a row for each shape; how many bounds are exceeded."""
    app = web.Application(client_max_size=10_000_000)
    app.router.add_post("/v1/chat/completions", PacedServer(tokens).complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = runner.addresses[0]
    os.environ |= {"OPENAI_API_BASE": f"http://127.0.0.1:{address[1]}/v1", "OPENAI_API_KEY": "none"}
    await asyncio.to_thread(_load)
    print(f"tasks of {tokens} tokens ({FIRST + tokens / RATE:.1f} s), plan of {PLAN}, {RATE:g} tokens/s; seconds")
    print(f"{'shape':34} {'first task':>18} {'answer':>18}  ratio")
    wrong = 0
    for number, shape in enumerate(SHAPES):
        if shapes and number not in shapes:
            continue
        awaited, streamed = await asyncio.gather(
            measured(number, stream_plan=False), measured(number, stream_plan=True)
        )
        ratio = awaited[1] / streamed[1]
        least = MIN_DEEP if number == 0 and tokens <= 120 else MIN_RATIO
        wrong += ratio < least
        figures = " ".join(f"{one:7.1f} → {two:5.1f}    " for one, two in zip(awaited, streamed, strict=True))
        print(f"{shape.name:34} {figures} {ratio:.2f}x{f'  below {least}' if ratio < least else ''}", flush=True)
    await runner.cleanup()
    return int(wrong > 0)


def _load() -> None:
    from goalwright.models.litellm.lifecycle import load

    load()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--tokens", type=int, default=120, help="how long each task's answer is")
    parser.add_argument("shapes", type=int, nargs="*", help="the numbers of shapes, from 0 (default: all)")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.tokens, given.shapes)))
