"""A scripted server on loopback that speaks the OpenAI protocol, including faults."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

MOST_PIECES = 4


@dataclass(frozen=True)
class Say:
    """An answer."""

    text: str = ""
    tool_calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    finish: str | None = None
    after: float = 0.0
    once: threading.Event | None = None  # wait for this event too
    tokens: tuple[int, int] = (10, 5)


@dataclass(frozen=True)
class Fail:
    """An error status, with a message and headers."""

    status: int
    message: str = "the server says no"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer."""


@dataclass(frozen=True)
class Write:
    """A raw response including the status line, written in `pieces` before the connection closes."""

    pieces: tuple[bytes, ...]
    reset: bool = False


Answer = Say | Fail | Drop | Write


@dataclass(frozen=True)
class Call:
    """A received request."""

    body: dict[str, Any]
    at: float

    @property
    def images(self) -> list[tuple[str, bytes]]:
        """The media type and the bytes of each image in the messages."""
        parts = [part for row in self.body["messages"] for part in _parts(row) if part["type"] == "image_url"]
        urls = [part["image_url"]["url"].removeprefix("data:").partition(";base64,") for part in parts]
        return [(kind, base64.b64decode(data, validate=True)) for kind, _, data in urls]

    @property
    def system(self) -> str:
        return "\n".join(row["content"] for row in self.body["messages"] if row["role"] == "system")

    @property
    def user(self) -> str:
        rows = (row for row in self.body["messages"] if row["role"] == "user")
        return "\n".join(part["text"] for row in rows for part in _parts(row) if part["type"] == "text")

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        return [json.loads(row["content"]) for row in self.body["messages"] if row["role"] == "tool"]

    @property
    def role(self) -> str:
        if "<available_skills>" in self.system:
            return "replanner" if "Why the plan needs a change:" in self.user else "decomposer"
        if "<condition>" in self.user:
            return "condition"
        if "<criterion>" in self.user and "<task>" not in self.user:
            return "checker"
        if "keywords" in self.system:
            return "keywords"
        return "task" if "<task>" in self.user else "synthesis"


def _parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content of a message as parts."""
    content = row["content"] or ""
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


Script = Callable[[Call], Answer]


class OpenAIServer:
    """Answers by a script and records the requests."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[Call] = []
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def asked(self, role: str) -> list[Call]:
        return [call for call in self.calls if call.role == role]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)

    def _serve(self) -> None:
        loop = asyncio.new_event_loop()
        self._loop = loop
        app = web.Application(client_max_size=64 * 2**20)
        self.add_routes(app)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.run_until_complete(_cancel_handlers())
        loop.close()

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of the protocol."""
        app.router.add_post("/v1/chat/completions", self._complete)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        call = Call(await request.json(), time.monotonic())
        self.calls.append(call)
        answer = self.script(call)
        match answer:
            case Drop():
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case Write():
                assert request.transport is not None
                for piece in answer.pieces:
                    request.transport.write(piece)
                    await asyncio.sleep(0.01)
                request.transport.abort() if answer.reset else request.transport.close()
                return web.Response()
            case Fail():
                error = {"error": {"message": answer.message, "type": "error", "code": str(answer.status)}}
                return web.json_response(error, status=answer.status, headers=answer.headers)
            case Say():
                await asyncio.sleep(answer.after)
                while answer.once is not None and not answer.once.is_set():  # noqa: ASYNC110 - set by another thread
                    await asyncio.sleep(0.02)
                if call.body.get("stream"):
                    return await self._stream(request, call, answer)
                return web.json_response(_document(call, answer))

    async def _stream(self, request: web.Request, call: Call, answer: Say) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for row in chunks(call, _pieces(answer.text), answer):
            await response.write(f"data: {json.dumps(row)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response


def _pieces(text: str) -> list[str]:
    """Split a text into a few pieces of whole words; each costs the client two milliseconds."""
    words = text.split(" ")
    width = -(-len(words) // MOST_PIECES)
    joined = [" ".join(words[at : at + width]) for at in range(0, len(words), width)]
    return [f"{piece} " for piece in joined[:-1]] + joined[-1:]


async def _cancel_handlers() -> None:
    """Cancel handlers whose client is gone."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def chunks(call: Call, pieces: Iterable[str], answer: Say) -> Iterable[dict[str, Any]]:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": call.body["model"]}
    for piece in pieces:
        yield base | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}}]}
    if answer.tool_calls:
        rows = [{"index": number, **row} for number, row in enumerate(_tool_calls(answer))]
        yield base | {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": rows}}]}
    yield base | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]}
    yield base | {"choices": [], "usage": _usage(answer)}


def _document(call: Call, answer: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.tool_calls:
        message["tool_calls"] = _tool_calls(answer)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": call.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(answer)}],
        "usage": _usage(answer),
    }


def _tool_calls(answer: Say) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for number, (name, args) in enumerate(answer.tool_calls)
    ]


def _finish(answer: Say) -> str:
    return answer.finish or ("tool_calls" if answer.tool_calls else "stop")


def _usage(answer: Say) -> dict[str, int]:
    prompt, completion = answer.tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def scripted(
    plan: Any,
    *,
    task: Script | None = None,
    synthesis: str = "the answer",
    condition: str = '{"holds": true, "why": ""}',
    change: Script | None = None,
) -> Script:
    """Return a script for a plan, the results of its tasks (default: their instruction) and a synthesis.

    Without a script for replanning, plans are not changed.
    """
    text = plan if isinstance(plan, str) else json.dumps(plan)

    def script(call: Call) -> Answer:
        match call.role:
            case "decomposer":
                return Say(text)
            case "replanner":
                return change(call) if change else Say('{"give_up": "nothing else is known"}')
            case "task":
                return task(call) if task else Say(f"did: {instruction(call)}")
            case "condition":
                return Say(condition)
            case _:
                return Say(synthesis)

    return script


def instruction(call: Call) -> str:
    """Return the instruction of a task."""
    return call.user.rpartition("<task>\n")[2].partition("\n</task>")[0]


def in_turn(*answers: Answer) -> Script:
    """Return the answers in order, then repeat the last one."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]
