"""Results that are checked: another call judges a result against what must hold for it."""

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


_SCHEMA = {
    "type": "object",
    "properties": {"holds": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["holds", "why"],
}


class CheckFailed(GoalwrightError):
    """A task's result does not pass its check, however often the task is done again."""

    code = "CHECK_FAILED"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a result passes its check, and why or why not."""

    holds: bool
    why: str


@dataclass(frozen=True, slots=True)
class Checker:
    """Judges the results of one task: what must hold is `ask`, what the task was told is `instruction`.

    A result longer than `budget` characters is judged by its beginning, which is said.
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
        """Whether a result holds; raises if the model does not say so in the form asked for."""
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
        what = f"the check of task {self.task} does not see the last {left:,} characters of its result"
        self.memo.record(Warned(f"{what}; raise input_budget to check more"))
        return f"{shown}\n[… {left:,} more characters are not shown]"
