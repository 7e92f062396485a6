"""What a task's model is given to do, and its answer: as text, or in the form that the task asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.model_loop.model_loop import ModelLoop
from goalwright_planner.model import Message
from goalwright_planner.plan.output_schema import canonical

if TYPE_CHECKING:
    from goalwright_executor.model_loop.form import Form
    from goalwright_executor.model_loop.model_loop import Toolbox
    from goalwright_planner.model import Model, OnText
    from goalwright_skills.image_file import Image


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task's prompt, its model and its tools; `instruction` is what the task is told, with references filled.

    `on_text` takes the answer as it is written, if it is the answer of the run. `about` is what the task was given,
    `images` what it is shown.
    """

    task: str
    instruction: str
    system: str
    user: str
    model: Model
    toolbox: Toolbox
    continuations: int = 3
    form: Form | None = None
    on_text: OnText | None = None
    about: Any = None
    images: tuple[Image, ...] = ()

    def loop(self, more: str = "") -> ModelLoop:
        """The loop with the model, not yet begun; `more` is added to what the model is told."""
        form = self.form
        user = "\n\n".join(filter(None, (self.user, form.shown if form is not None else "", more)))
        said = Message("system", self.system), Message("user", user, images=self.images)
        messages = tuple(message for message in said if message.content)
        schema = form.enforced if form is not None and not self.toolbox.tools else None
        return ModelLoop(
            self.model,
            self.toolbox,
            self.task,
            messages,
            self.continuations,
            self.on_text,
            schema=schema,
            about=self.about,
            fixed=1 if self.system else 0,
        )

    async def answer(self, loop: ModelLoop) -> str:
        """The output of the task: the answer, or the value in it as canonical JSON."""
        if self.form is None:
            return await loop.answer()
        return canonical(await self.form.answer(loop))
