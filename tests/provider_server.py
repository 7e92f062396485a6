"""A server that also speaks the protocols of Anthropic, Gemini and Ollama."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.openai_server import Call, OpenAIServer, Say

if TYPE_CHECKING:
    from collections.abc import Iterable


class ProviderServer(OpenAIServer):
    """Answers the requests of every provider with the same script."""

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that redirect litellm to this server."""
        root = f"http://127.0.0.1:{self.port}"
        return {
            "OPENAI_API_BASE": self.base,
            "ANTHROPIC_API_BASE": root,
            "GEMINI_API_BASE": f"{root}/gemini",
            "OLLAMA_API_BASE": root,
        }

    def add_routes(self, app: web.Application) -> None:
        super().add_routes(app)
        app.router.add_post("/v1/messages", self._anthropic)
        app.router.add_post("/gemini/{rest:.*}", self._gemini)
        app.router.add_post("/api/chat", self._ollama)
        app.router.add_post("/api/show", self._ollama_model)

    def _answer(self, model: str, system: str, messages: list[dict[str, Any]]) -> Say:
        call = Call({"model": model, "messages": [{"role": "system", "content": system}, *messages]}, time.monotonic())
        self.calls.append(call)
        answer = self.script(call)
        assert isinstance(answer, Say)
        return answer

    async def _anthropic(self, request: web.Request) -> web.Response:
        body = await request.json()
        rows = [{"role": row["role"], "content": _text(row["content"])} for row in body["messages"]]
        answer = self._answer(body["model"], _text(body.get("system", "")), rows)
        usage = {"input_tokens": answer.tokens[0], "output_tokens": answer.tokens[1]}
        head = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
        if not body.get("stream"):
            content = [{"type": "text", "text": answer.text}]
            return web.json_response({**head, "content": content, "stop_reason": "end_turn"})
        return _events(
            [
                {"type": "message_start", "message": {**head, "content": [], "stop_reason": None}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": answer.text}},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
                {"type": "message_stop"},
            ]
        )

    async def _gemini(self, request: web.Request) -> web.Response:
        body = await request.json()
        system = body.get("system_instruction") or body.get("systemInstruction") or {"parts": []}
        rows = [{"role": row["role"], "content": _text(row["parts"])} for row in body["contents"]]
        answer = self._answer(request.path, _text(system["parts"]), rows)
        prompt, completion = answer.tokens
        usage = {"promptTokenCount": prompt, "candidatesTokenCount": completion, "totalTokenCount": prompt + completion}
        content = {"role": "model", "parts": [{"text": answer.text}]}
        document = {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
        return _events([document]) if "stream" in request.path else web.json_response(document)

    async def _ollama(self, request: web.Request) -> web.Response:
        body = await request.json()
        answer = self._answer(body["model"], "", body["messages"])
        end = {
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": answer.tokens[0],
            "eval_count": answer.tokens[1],
        }
        message = {"role": "assistant", "content": answer.text}
        return web.json_response(
            {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, **end}
        )

    async def _ollama_model(self, _: web.Request) -> web.Response:
        return web.json_response({"template": "", "model_info": {}, "capabilities": ["completion"]})


def _text(content: str | Iterable[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _events(rows: Iterable[dict[str, Any]]) -> web.Response:
    lines = [f"event: {row['type']}\n" if "type" in row else "" for row in rows]
    body = "".join(f"{line}data: {json.dumps(row)}\n\n" for line, row in zip(lines, rows, strict=True))
    return web.Response(text=body, content_type="text/event-stream")
