"""Records every call to a model as events."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_planner.errors import ModelError
from goalwright_planner.events import CallFailed, CallFinished, CallProgressed, CallStarted, TextStreamed, Warned
from goalwright_planner.model import as_events
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request, Role


@dataclass(frozen=True, slots=True)
class RecordingModel(WrappedModel):
    """A model whose calls are recorded, with full prompts and replies."""

    record: Record

    async def complete(self, request: Request) -> Reply:
        """Answer the request, and record the call and its outcome."""
        role, task, name, key = request.role, request.task, self.name, request.key
        tools = tuple(tool.name for tool in request.tools)
        self.record(CallStarted(role, task, name, request.messages, tools, key, request.about or ""))
        started = time.monotonic()
        request = replace(request, on_progress=lambda prompt, written: self._progress(role, task, prompt, written))
        if request.on_text is as_events:
            request = replace(request, on_text=lambda text: self._text(role, task, text))
        try:
            reply = await self.model.complete(request)
        except ModelError as error:
            self.record(CallFailed(role, task, name, str(error), time.monotonic() - started, key))
            raise
        self.record(CallFinished(role, task, reply.model or name, reply, time.monotonic() - started, key))
        for warning in _warnings(request, reply, reply.model or name):
            self.record(Warned(f"{f'task {task}' if task else role}: {warning}"))
        return reply

    def _progress(self, role: Role, task: str | None, prompt: int, written: int) -> None:
        self.record(CallProgressed(role, task, prompt, written))

    def _text(self, role: Role, task: str | None, text: str) -> None:
        if text:
            self.record(TextStreamed(role, task, text))


def _warnings(request: Request, reply: Reply, name: str) -> Iterator[str]:
    if reply.left_out:
        yield f"{reply.left_out:,} characters of its prompt did not fit {name} and were left out"
    if reply.unseen:
        images = ", ".join(dict.fromkeys(image.name for image in request.images))
        names = "only their names" if len(request.images) > 1 else "only its name"
        yield (
            f"{name} cannot see {images} and got {names}; use a model that accepts images, or set `vision` for this one"
        )
