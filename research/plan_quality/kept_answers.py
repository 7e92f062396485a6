"""Keeps answers in a file, so that goals can be scored again without the model."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Reply, Request, Usage
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright_planner.model import Message

    from plan_quality.model import Answering


class KeptAnswers:
    """A model with a cache of answers, one JSON line per request; without a model only cached requests are answered."""

    def __init__(self, model: Answering | None = None, file: Path | None = None) -> None:
        self._model = model
        self._file = file
        self._kept = _read(file) if file is not None and file.exists() else {}
        self.usage = Usage()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name if self._model is not None else "kept answers"

    async def complete(self, request: Request) -> Reply:
        """Answer a request of the planner."""
        return await self.answer(request.messages, request.schema)

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """Return the cached or a new answer."""
        asked = json.dumps([[[one.role, one.content] for one in messages], schema])
        key = hashlib.sha256(asked.encode()).hexdigest()
        row = self._kept.get(key)
        if row is None:
            row = await self._ask(key, messages, schema)
        usage = Usage(1, row["prompt_tokens"], row["answer_tokens"])
        self.usage += usage
        return Reply(row["text"], usage=usage, finish=row["finish"])

    async def _ask(self, key: str, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        if self._model is None:
            raise SetupError(
                f"{self._file} has no answer to a request of these goals", hint="ask a model again, with --gguf"
            )
        reply = await self._model.answer(messages, schema)
        row = {
            "key": key,
            "text": reply.text,
            "prompt_tokens": reply.usage.prompt_tokens,
            "answer_tokens": reply.usage.completion_tokens,
            "finish": reply.finish,
        }
        self._kept[key] = row
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
        return row


def _read(file: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {row["key"]: row for row in rows}
