"""Record every call to a model as events."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalwright_planner.errors import ModelError
from goalwright_planner.events import CallFailed, CallFinished, CallProgressed, CallStarted, TextStreamed, Warned
from goalwright_planner.model import as_events
from goalwright_planner.wrapped_model import WrappedModel

if TYPE_CHECKING:
    from goalwright_planner.events import Record
    from goalwright_planner.model import Reply, Request, Role


def _unseen(reply: Reply, request: Request, what: str, name: str) -> str:
    images = ", ".join(dict.fromkeys(image.name for image in request.images))
    told = "was told of them only" if len(request.images) > 1 else "was told of it only"
    return f"{what}: {name} cannot see {images}, and {told}; use a model that sees, or say under [vision] that it does"


@dataclass(frozen=True, slots=True)
class RecordingModel(WrappedModel):
    """A model whose calls are recorded, with full prompts and replies."""

    record: Record

    async def complete(self, request: Request) -> Reply:
        """Answer the request, and record how the call went."""
        role, task, name, key = request.role, request.task, self.name, request.key
        tools = tuple(tool.name for tool in request.tools)
        self.record(CallStarted(role, task, name, request.messages, tools, key, request.about or ""))
        began = time.monotonic()
        request = replace(request, on_progress=lambda prompt, written: self._tell(role, task, prompt, written))
        if request.on_text is as_events:
            request = replace(request, on_text=lambda text: self._show(role, task, text))
        try:
            reply = await self.model.complete(request)
        except ModelError as error:
            self.record(CallFailed(role, task, name, str(error), time.monotonic() - began, key))
            raise
        self.record(CallFinished(role, task, reply.model or name, reply, time.monotonic() - began, key))
        if reply.left_out:
            what = f"task {task}" if task else role
            limit = f"{reply.left_out:,} characters of its prompt did not fit {reply.model or name} and were left out"
            self.record(Warned(f"{what}: {limit}"))
        if reply.unseen:
            self.record(Warned(_unseen(reply, request, f"task {task}" if task else role, reply.model or name)))
        return reply

    def _tell(self, role: Role, task: str | None, prompt: int, written: int) -> None:
        self.record(CallProgressed(role, task, prompt, written))

    def _show(self, role: Role, task: str | None, text: str) -> None:
        if text:
            self.record(TextStreamed(role, task, text))
