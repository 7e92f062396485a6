"""A fake provider in a child process. It speaks the OpenAI protocol, answers after a set delay and records every call.

    python -m bench.harness.model_server PORT

`GET /calls` returns and clears the times of each call (monotonic clock, shared by all processes); `POST /set` takes
{"seconds", "plan", "keeps"}; with `keeps`, `GET /bodies` returns the request bodies.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.harness.machine import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiohttp import web

MODEL = "openai/test-model"
KEY = "sk-bench"


def plan_of(tasks: int, synthesis: str | None) -> str:
    """Return a plan of independent tasks."""
    rows = [{"id": f"t{number}", "action_type": "llm", "instruction": f"Do {number}."} for number in range(tasks)]
    return json.dumps({"tasks": rows} | ({"synthesis": synthesis} if synthesis else {}))


class Call(NamedTuple):
    """The times at which a call arrived and was answered."""

    arrived: float
    answered: float


class Provider:
    """A client of the server."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that litellm needs."""
        return {"OPENAI_API_BASE": f"{self.root}/v1", "OPENAI_API_KEY": KEY}

    def set(self, *, seconds: float = 0.0, plan: str = "", keeps: bool = False) -> None:
        """Set the delay, the plan to answer with, and whether to keep request bodies."""
        document = json.dumps({"seconds": seconds, "plan": plan, "keeps": keeps}).encode()
        self._fetch(urllib.request.Request(f"{self.root}/set", document, method="POST"))  # noqa: S310 - our own server

    def calls(self) -> list[Call]:
        """Return the calls since the last request for them."""
        return [Call(*row) for row in json.loads(self._fetch(f"{self.root}/calls"))]

    def bodies(self) -> list[dict[str, Any]]:
        """Return the request bodies in order."""
        return [json.loads(line) for line in self._fetch(f"{self.root}/bodies").splitlines()]

    def _fetch(self, request: str | urllib.request.Request) -> bytes:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own server
            body: bytes = answer.read()
        return body


def rate(calls: list[Call], expected: int) -> float:
    """Return calls per second from the first arrival to the last answer; fail unless `expected` calls arrived."""
    assert len(calls) == expected, f"{len(calls)} of {expected} calls arrived"
    return len(calls) / (max(call.answered for call in calls) - min(call.arrived for call in calls))


@contextmanager
def provider() -> Iterator[Provider]:
    """Run a provider."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bench.harness.model_server", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        client = Provider(port)
        _wait(client, server)
        yield client
    finally:
        server.terminate()
        server.wait()


def _wait(client: Provider, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    while server.poll() is None:
        try:
            client.calls()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the provider did not start")


class _Server:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.bodies: list[bytes] = []
        self.settings: dict[str, Any] = {"seconds": 0.0, "plan": plan_of(1, None), "keeps": False}

    async def set(self, request: web.Request) -> web.Response:
        from aiohttp import web

        self.settings |= await request.json()
        self.calls.clear()
        self.bodies.clear()
        return web.Response()

    async def list_calls(self, _: web.Request) -> web.Response:
        from aiohttp import web

        calls = list(self.calls)
        self.calls.clear()
        return web.json_response(calls)

    async def list_bodies(self, _: web.Request) -> web.Response:
        from aiohttp import web

        return web.Response(body=b"\n".join(self.bodies))

    async def complete(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        arrived, raw = time.monotonic(), await request.read()
        body = json.loads(raw)
        if self.settings["keeps"]:
            self.bodies.append(raw)
        await asyncio.sleep(self.settings["seconds"])
        text = self.settings["plan"] if "<available_skills>" in str(body["messages"][0]["content"]) else "done"
        self.calls.append(Call(arrived, time.monotonic()))
        if body.get("stream"):
            return await _streamed(request, body["model"], text)
        message = {"role": "assistant", "content": text}
        return web.json_response(_document(body["model"], "chat.completion", {"message": message}))


def _document(model: str, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "finish_reason": "stop", **choice}
    return {"id": "x", "object": kind, "created": 1, "model": model, "choices": [choice], "usage": usage}


async def _streamed(request: web.Request, model: str, text: str) -> web.StreamResponse:
    from aiohttp import web

    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    row = _document(model, "chat.completion.chunk", {"delta": {"role": "assistant", "content": text}})
    await response.write(f"data: {json.dumps(row)}\n\ndata: [DONE]\n\n".encode())
    return response


def serve(port: int) -> None:
    """Serve until the process is terminated."""
    from aiohttp import web

    server = _Server()
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", server.complete)
    app.router.add_get("/calls", server.list_calls)
    app.router.add_get("/bodies", server.list_bodies)
    app.router.add_post("/set", server.set)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
