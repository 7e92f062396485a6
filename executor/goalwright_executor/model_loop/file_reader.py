"""Puts files into the prompt of a task whose model has no tools: whole, or as notes that it takes part by part."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_planner.events import FilePart, FileRead
    from goalwright_planner.model import Model
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.prompts import Prompts

# Tokens of the notes on one part; the notes on all parts together fit the prompt of the task.
NOTE_TOKENS = 120
_NOTHING = frozenset({"", "nothing", "none", "no", "n/a", "nothing relevant", "there is none", "there is nothing"})


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files for one task with the task's own model."""

    prompts: Prompts
    agent: str
    model: Model
    goal: str
    name: Callable[[str], str]

    async def text_for(self, task: Task, reads: Sequence[FileRead]) -> str:
        """Return the text before the task in its prompt: whole files, and notes on parts of others."""
        files = [self._shown(read, part) for read in reads if read.inline for part in read.parts]
        parts = [(read, part) for read in reads if not read.inline for part in read.parts]
        taken = await asyncio.gather(*(self._note(task, read, part) for read, part in parts))
        notes = [
            self._shown(read, part) | {"text": note}
            for (read, part), note in zip(parts, taken, strict=True)
            if note.strip(" .!*-\n").lower() not in _NOTHING
        ]
        return self.prompts.render(self.agent, "given", {"files": files, "notes": notes})

    async def _note(self, task: Task, read: FileRead, part: FilePart) -> str:
        """Ask the model for notes on one part of a file."""
        variables = {"goal": self.goal, "instruction": task.instruction or self.goal, **self._shown(read, part)}
        messages = self.prompts.messages(self.agent, variables, "part")
        about = ["part of a file", *variables.values()]
        request = Request(messages, role="task", task=task.id, max_tokens=NOTE_TOKENS, about=about)
        reply = await self.model.complete(request)
        return reply.text.strip()

    def _shown(self, read: FileRead, part: FilePart) -> dict[str, Any]:
        return {"name": self.name(read.path), "number": part.number, "of": read.of, "text": _enclosed(part.text)}


def _enclosed(text: str) -> str:
    """Escape a file's text, so that it cannot end its element in the prompt."""
    return text.replace("</file", "<\\/file")
