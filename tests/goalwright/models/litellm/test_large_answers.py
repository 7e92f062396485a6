"""Responses that are too large: the call fails soon and blocks nothing else."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import threading
import time
import zlib
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import httpx
import pytest

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.http_limits import MAX_ANSWER
from goalwright.models.litellm.model import LitellmModel
from goalwright_planner.errors import ModelError, Transient
from goalwright_planner.model import Message, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A connection that is cut off is closed when it is collected, which may be at another test's time.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

# CPU seconds; unbounded, one answer took more than a minute of them without a pause. Coverage makes all of it slower.
COMPUTED, BLOCKED = 40, 10

MB = 2**20
HUGE = 5 * MAX_ANSWER
SIZE = MAX_ANSWER
JSON = "application/json"
ASKED = Request((Message("user", "x"),))
STREAMED = Request((Message("user", "x"),), on_text=lambda _: None)


@pytest.fixture(scope="module", autouse=True)
def little_to_collect() -> Iterator[None]:
    """Exclude litellm from garbage collection, which would take half a second each time."""
    lifecycle.load()
    gc.freeze()
    yield
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect a test's garbage within that test."""
    yield
    gc.collect()


@contextmanager
def answering(send: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server in its own thread that answers every request in the same way."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    def answer(client: socket.socket) -> None:
        with client:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(65536)
                if b"expect: 100" in head.lower():
                    client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                send(client)
            except OSError:
                pass  # the client has hung up, as it should

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        server.close()


def head(status: str = "200 OK", **headers: str) -> bytes:
    """The head of an answer."""
    rows = {"content-type": "application/json", "connection": "close"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return "\r\n".join([f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in rows.items()), "\r\n"]).encode()


def document(size: int) -> bytes:
    """An answer with a text of that size."""
    message = {"role": "assistant", "content": "word " * (size // 5)}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}).encode()


def known_length(client: socket.socket) -> None:
    client.sendall(head(content_length=str(HUGE)))
    for _ in range(HUGE // MB):
        client.sendall(b" " * MB)


def unknown_length(client: socket.socket) -> None:
    client.sendall(head())
    for _ in range(HUGE // MB):
        client.sendall(b" " * MB)


def chunked(client: socket.socket) -> None:
    client.sendall(head(transfer_encoding="chunked"))
    for _ in range(HUGE // MB):
        client.sendall(b"%x\r\n%s\r\n" % (MB, b'"a",' * (MB // 4)))
    client.sendall(b"0\r\n\r\n")


@cache
def spaces_gzipped() -> bytes:
    return gzip.compress(b" " * HUGE, 6)


@cache
def spaces_deflated() -> bytes:
    return zlib.compress(b" " * HUGE, 6)


def error() -> bytes:
    return b'{"error": {"message": "' + b"the server says no " * (2 * MB) + b'"}}'


@cache
def error_gzipped() -> bytes:
    return gzip.compress(error(), 1)


def gzipped(client: socket.socket) -> None:
    client.sendall(head(content_encoding="gzip") + spaces_gzipped())


def deflated(client: socket.socket) -> None:
    client.sendall(head(content_encoding="deflate", content_length=str(len(spaces_deflated()))) + spaces_deflated())


def gzipped_twice(client: socket.socket) -> None:
    client.sendall(head(content_encoding="gzip, gzip") + gzip.compress(spaces_gzipped()))


def redirected(client: socket.socket) -> None:
    client.sendall(head("302 Found", location="/v1/elsewhere", content_encoding="gzip") + spaces_gzipped())


def one_event(client: socket.socket) -> None:
    client.sendall(head(content_type="text/event-stream") + b"data: ")
    for _ in range(HUGE // MB):
        client.sendall(b"x" * MB)


def no_events(client: socket.socket) -> None:
    client.sendall(head(content_type="text/event-stream"))
    for _ in range(HUGE // MB):
        client.sendall(b"".join(b": wait" + b" " * 16_000 + b"\n\n" for _ in range(MB // 16_000)))


async def longest_gap(model: LitellmModel, request: Request) -> tuple[Exception | None, float, float]:
    """The error of a call, and the CPU seconds of the loop's thread: in total, and the longest time that it blocked.

    CPU time, not the clock: the machine may be busy.
    """
    gap, last = 0.0, time.thread_time()

    async def tick() -> None:
        nonlocal gap, last
        while True:
            now = time.thread_time()
            gap, last = max(gap, now - last), now
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    began, failure = time.thread_time(), None
    try:
        await model.complete(request)
    except ModelError as error:
        failure = error
    took = time.thread_time() - began
    await asyncio.sleep(0.02)
    ticking.cancel()
    return failure, took, gap


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Loading litellm and its clients takes seconds, once."""
    lifecycle.load()
    import openai.resources  # noqa: F401

    with answering(lambda client: client.sendall(head() + document(10))) as base:
        asyncio.run(called(base))


async def called(base: str, name: str = "openai/test-model", request: Request = ASKED) -> None:
    await LitellmModel(name, 20, parameters={"api_base": base, "api_key": "sk-test"}).complete(request)
    await lifecycle.close()


async def ended(
    send: Callable[[socket.socket], None], name: str = "openai/test-model", request: Request = ASKED, wait: float = 20
) -> tuple[Exception | None, float, float]:
    with answering(send) as base:
        model = LitellmModel(name, wait, parameters={"api_base": base, "api_key": "sk-test"})
        try:
            return await longest_gap(model, request)
        finally:
            await lifecycle.close()


OPENAI, ANTHROPIC, OLLAMA = "openai/test-model", "anthropic/claude-sonnet-4-5", "ollama_chat/qwen3:4b"
TOO_LARGE = [
    *((send, OPENAI) for send in (known_length, unknown_length, chunked, gzipped, deflated, gzipped_twice)),
    *((send, name) for send in (known_length, chunked, gzipped) for name in (ANTHROPIC, OLLAMA)),
]


@pytest.mark.parametrize(("send", "name"), TOO_LARGE, ids=lambda one: getattr(one, "__name__", one))
async def test_a_huge_answer_is_not_read(send: Callable[[socket.socket], None], name: str) -> None:
    failure, took, gap = await ended(send, name)
    assert failure is not None
    assert not isinstance(failure, Transient)
    assert "was not read" in str(failure)
    assert took < COMPUTED
    assert gap < BLOCKED


@pytest.mark.parametrize("send", [one_event, no_events, known_length, gzipped], ids=lambda send: send.__name__)
@pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
async def test_a_huge_streamed_answer_is_not_read(send: Callable[[socket.socket], None], name: str) -> None:
    failure, took, gap = await ended(send, name, STREAMED)
    assert failure is not None
    assert not isinstance(failure, Transient)
    assert took < COMPUTED
    assert gap < BLOCKED


@pytest.mark.parametrize(
    ("status", "packed"),
    [("400 Bad Request", False), ("400 Bad Request", True), ("500 Oops", False), ("429 Slow Down", False)],
)
async def test_a_huge_error_is_cut(status: str, *, packed: bool) -> None:
    sent = head(status, content_encoding="gzip") + error_gzipped() if packed else head(status) + error()
    failure, took, gap = await ended(lambda client: client.sendall(sent))
    assert isinstance(failure, ModelError)
    assert status[:3] in str(failure) or "says no" in str(failure)
    assert took < COMPUTED
    assert gap < BLOCKED


async def test_a_huge_redirect_is_not_read() -> None:
    failure, took, gap = await ended(redirected)
    assert isinstance(failure, ModelError)
    assert took < COMPUTED
    assert gap < BLOCKED


def words(size: int) -> str:
    return "word " * ((size - 100) // 5)


# Made where they are sent: each is as large as an answer may be.
WRONG: dict[str, Callable[[], bytes]] = {
    "no JSON": lambda: b"<html>" + words(SIZE).encode(),
    "cut off": lambda: document(SIZE - 1000)[:-30],
    "no choices": lambda: json.dumps({"choices": None, "junk": words(SIZE)}).encode(),
    "a list": lambda: json.dumps([words(SIZE)]).encode(),
    "wrong choices": lambda: json.dumps({"choices": [{"message": words(SIZE)}]}).encode(),
    "an error": lambda: json.dumps({"error": {"message": words(SIZE)}}).encode(),
}


@lru_cache(maxsize=1)  # for one provider after the other
def wrong_answer(name: str) -> bytes:
    return WRONG[name]()


@pytest.mark.parametrize(
    ("name", "kind", "wrong"),
    [(OPENAI, "text/html", "no JSON"), *((name, JSON, wrong) for wrong in WRONG for name in (OPENAI, ANTHROPIC))],
)
async def test_large_invalid_answer_blocks_nothing(wrong: str, kind: str, name: str) -> None:
    sent = head(content_type=kind) + wrong_answer(wrong)
    failure, took, gap = await ended(lambda client: client.sendall(sent), name)
    assert isinstance(failure, ModelError)
    assert len(str(failure)) < 2000
    assert took < COMPUTED
    assert gap < BLOCKED


async def test_large_compressed_answer_is_read() -> None:
    for packed, encoding in (
        (gzip.compress(document(4 * MB)), "gzip"),
        (zlib.compress(document(4 * MB)), "deflate"),
        (zlib.compress(document(4 * MB))[2:-4], "deflate"),
    ):
        sent = head(content_encoding=encoding, content_length=str(len(packed))) + packed
        failure, _, gap = await ended(lambda client, sent=sent: client.sendall(sent))  # type: ignore[misc]
        assert failure is None
        assert gap < BLOCKED


async def test_other_clients_of_the_process_are_not_limited() -> None:
    with answering(lambda client: client.sendall(head() + b" " * (MAX_ANSWER + MB))) as base:
        async with httpx.AsyncClient() as client:
            assert len((await client.get(base)).content) == MAX_ANSWER + MB
