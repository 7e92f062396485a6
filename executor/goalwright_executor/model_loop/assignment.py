"""The assignment of a task to a model: its prompt and tools, and the check of its result by another call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.model_loop.form import Form
from goalwright_executor.model_loop.model_loop import ModelLoop, Toolbox
from goalwright_executor.results.inputs import beginning
from goalwright_planner.events import PromptMade, Warned
from goalwright_planner.model import Message
from goalwright_planner.plan.output_schema import canonical
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.model import Model, OnText
    from goalwright_planner.prompting.prompts import Prompts
    from goalwright_skills.image_file import Image


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task's prompt, model and tools; `instruction` has its references filled in.

    `on_text` streams the text if it is the run's answer. `about` is what the prompt was made from, `images` are shown.
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
        """Return a new loop with the model; `more` is appended to the prompt."""
        form = self.form
        user = "\n\n".join(filter(None, (self.user, form.shown if form is not None else "", more)))
        prompt = Message("system", self.system), Message("user", user, images=self.images)
        messages = tuple(message for message in prompt if message.content)
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
        """Return the output of the task: the answer, or the value in it as canonical JSON."""
        if self.form is None:
            return await loop.answer()
        return canonical(await self.form.answer(loop))


_SCHEMA = {
    "type": "object",
    "properties": {"holds": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["holds", "why"],
}


class CheckFailed(GoalwrightError):
    """A task's result does not pass its check after all retries."""

    code = "CHECK_FAILED"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a result passes its check, and why or why not."""

    holds: bool
    why: str


@dataclass(frozen=True, slots=True)
class Checker:
    """Judges the results of one task: `ask` must hold for a result of `instruction`.

    Only the first `budget` characters of a result are judged, with a warning if it is longer.
    """

    task: str
    ask: str
    instruction: str
    model: Model
    prompts: Prompts
    memo: Memo
    artifacts: Artifacts
    budget: int

    async def judge(self, result: str) -> Verdict:
        """Return the verdict on a result; raises if the model gives none."""
        variables = {"ask": self.ask, "instruction": self.instruction, "result": self._shown(result)}
        self.memo.record(PromptMade("checker", self.task, variables))
        messages = self.prompts.messages("checker", variables)
        form = Form(_SCHEMA, self.prompts)
        loop = ModelLoop(
            self.model,
            Toolbox(self.memo),
            self.task,
            messages,
            role="checker",
            schema=form.enforced,
            about=[self.ask, self.instruction, result],
        )
        verdict = await form.answer(loop)
        return Verdict(verdict["holds"], verdict["why"].strip())

    def _shown(self, result: str) -> str:
        shown, left = beginning(result, self.budget, self.artifacts)
        if not left:
            return result
        warning = f"the check of task {self.task} does not see the last {left:,} characters of its result"
        self.memo.record(Warned(f"{warning}; raise input_budget to check more"))
        return f"{shown}\n[… {left:,} more characters are not shown]"
