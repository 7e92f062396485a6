"""Providers that bill for unreported usage: usage left out, answers cut, streams that end early."""

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
# Dollars per token of openai/gpt-4o-mini.
MODEL, PROMPT, OUTPUT = "openai/gpt-4o-mini", 0.15e-6, 0.6e-6


@dataclass
class Bill:
    """The actual charges of a provider, independent of the reported usage."""

    dollars: float = 0.0
    calls: int = 0
    output: list[int] = field(default_factory=list)

    def add(self, call: Call, output: int) -> None:
        """Charge for a call: a token per four characters of the prompt, plus the tokens of the answer."""
        prompt = sum(len(row["content"] or "") for row in call.body["messages"]) // 4
        self.calls += 1
        self.output.append(output)
        self.dollars += prompt * PROMPT + output * OUTPUT


def document(call: Call, text: str, usage: Any = LEFT_OUT, **more: Any) -> bytes:
    """Return an answer as one document."""
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
    """Return a response with a correct length header."""
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
    """Return an answer as a stream of events."""
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
    """Return an answer of `count` one-token words, limited by the call's maximum."""
    return "word " * min(wanted, call.body.get("max_tokens") or wanted)


def unreported(bill: Bill, answer: Callable[[Call], str], usage: Any = LEFT_OUT) -> Script:
    """Answer and bill in full, but report `usage`, or none."""

    def script(call: Call) -> Answer:
        text = answer(call)
        bill.add(call, len(text) // 5)
        return stream(call, text, usage=usage) if call.body.get("stream") else whole(document(call, text, usage))

    return script


def broken(bill: Bill, answer: Callable[[Call], str]) -> Script:
    """Bill in full for answers of which half arrives: a cut document, a stream without its end."""

    def script(call: Call) -> Answer:
        text = answer(call)
        bill.add(call, len(text) // 5)
        if call.body.get("stream"):
            return stream(call, text[: len(text) // 2], finish=None, done=False)
        body = document(call, text)
        return whole(body[: len(body) // 2])

    return script
