"""Providers that bill for what they do not report: usage left out, answers cut, streams that end early."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.openai_server import Call, Write

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.openai_server import Answer, Script

LEFT_OUT: Any = object()
CLOSED = b"connection: close\r\n"
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" + CLOSED
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + CLOSED + b"\r\n"
# Dollars for a token of openai/gpt-4o-mini, which the tests here are billed for.
MODEL, PROMPT, OUTPUT = "openai/gpt-4o-mini", 0.15e-6, 0.6e-6


@dataclass
class Bill:
    """What a provider charges for the calls that it got, whatever it says of them."""

    dollars: float = 0.0
    calls: int = 0
    output: list[int] = field(default_factory=list)

    def add(self, call: Call, output: int) -> None:
        """Charge for a call: a token for four characters of the prompt, and so many of the answer."""
        prompt = sum(len(row["content"] or "") for row in call.body["messages"]) // 4
        self.calls += 1
        self.output.append(output)
        self.dollars += prompt * PROMPT + output * OUTPUT


def document(call: Call, text: str, usage: Any = LEFT_OUT, **more: Any) -> bytes:
    """An answer in one piece."""
    message = {"role": "assistant", "content": text} | more
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": call.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return json.dumps(body if usage is LEFT_OUT else body | {"usage": usage}).encode()


def whole(body: bytes, *, length: int | None = None) -> Write:
    """A body with the length that it says it has."""
    size = len(body) if length is None else length
    return Write((JSON + f"content-length: {size}\r\n\r\n".encode(), body))


def stream(
    call: Call,
    *pieces: str,
    usage: Any = LEFT_OUT,
    finish: str | None = "stop",
    done: bool = True,
    deltas: tuple[dict[str, Any], ...] = (),
    reset: bool = False,
) -> Write:
    """An answer as a stream of events."""
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": call.body["model"]}
    rows: list[Any] = [
        base | {"choices": [{"index": 0, "delta": delta}]}
        for delta in (*({"role": "assistant", "content": piece} for piece in pieces), *deltas)
    ]
    if finish is not None:
        rows.append(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not LEFT_OUT:
        rows.append(base | {"choices": [], "usage": usage})
    events = [f"data: {json.dumps(row)}\n\n".encode() for row in rows]
    return Write((EVENTS, *events, *([b"data: [DONE]\n\n"] if done else [])), reset=reset)


def words(call: Call, wanted: int) -> str:
    """An answer of so many tokens, or as many as the call allows: each word is one."""
    return "word " * min(wanted, call.body.get("max_tokens") or wanted)


def unreported(bill: Bill, answer: Callable[[Call], str], usage: Any = LEFT_OUT) -> Script:
    """Answers in full, and is billed in full, but the usage is `usage`, or left out."""

    def script(call: Call) -> Answer:
        text = answer(call)
        bill.add(call, len(text) // 5)
        return stream(call, text, usage=usage) if call.body.get("stream") else whole(document(call, text, usage))

    return script


def broken(bill: Bill, answer: Callable[[Call], str]) -> Script:
    """Bills in full for answers of which half arrives: a document that is cut, a stream without its end."""

    def script(call: Call) -> Answer:
        text = answer(call)
        bill.add(call, len(text) // 5)
        if call.body.get("stream"):
            return stream(call, text[: len(text) // 2], finish=None, done=False)
        body = document(call, text)
        return whole(body[: len(body) // 2])

    return script
