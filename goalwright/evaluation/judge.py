"""A judge: a model decides whether an expectation holds, or which of two answers is better.

Replies are recorded with their run and reused by the hash of the request, so that scoring again costs nothing. No
prompt names a variant.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult, content
from goalwright.models.budget import Budget
from goalwright.models.roles import RoleModels
from goalwright.runs.stored import records
from goalwright.runs.stored.claim import claim, release
from goalwright_executor.results.memo import Memo
from goalwright_planner.errors import ContentRefused, PromptTooLong, RequestRefused, TooSlow
from goalwright_planner.events import AnswerJudged, Event, decode
from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.model import Message, Reply, Request, Usage
from goalwright_skills.text.formatting import clip, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goalwright.runs.runtime import Goalwright
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_planner.model import Model

Preference = Literal["first", "second", "neither"]

_VERDICT = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}, "evidence": {"type": "string"}},
    "required": ["passed", "evidence"],
    "additionalProperties": False,
}
_CHOICE = {
    "type": "object",
    "properties": {"better": {"enum": ["first", "second", "neither"]}, "why": {"type": "string"}},
    "required": ["better", "why"],
    "additionalProperties": False,
}
# Errors that concern one question; the judge is still asked the others.
_NO_VERDICT = (ContentRefused, RequestRefused, TooSlow)
_SPACE = re.compile(r"\s+")
_TAGS = re.compile(r"<(/?)(goal|answer|result|file|expectation|first_answer|second_answer)\b", re.IGNORECASE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


@dataclass(frozen=True, slots=True)
class Material:
    """The goal, answer, task results and files of a run: what a judge sees, and where its quotes are looked up."""

    goal: str
    answer: str
    results: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, result: Result, artifacts: Artifacts) -> Material:
        """Collect the material of a run."""
        results = tuple((task.id, task.output) for task in result.tasks if task.output and task.output != result.answer)
        texts = ((file.path, content(file, artifacts) or "") for file in result.artifacts)
        return cls(result.goal, result.answer or "", results, tuple((name, text) for name, text in texts if text))

    def prompt_variables(self, limit: int) -> dict[str, Any]:
        """Return the variables of the judge's prompt, clipped to about `limit` characters in total."""
        half = limit // 2
        share = half // max(len(self.results) + len(self.files), 1)
        return {
            "goal": without_tags(clip(self.goal, half)),
            "answer": without_tags(clip(self.answer, half)),
            "results": [_clipped(name, text, share) for name, text in self.results],
            "files": [_clipped(name, text, share) for name, text in self.files],
        }

    def has(self, quote: str) -> bool:
        """Return whether the material contains a quote, apart from white space and quotation marks."""
        needle = _normalized(quote).strip(' "')
        texts = (self.answer, *(text for _, text in self.results), *(text for _, text in self.files))
        # Only whole words count: a letter or a full stop occurs in every answer and proves nothing.
        return any(char.isalnum() for char in needle) and any(_contains(_normalized(text), needle) for text in texts)


def _normalized(text: str) -> str:
    return _SPACE.sub(" ", without_tags(text).translate(_QUOTES)).casefold().strip()


def _contains(text: str, needle: str) -> bool:
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not _same_word(text[max(start - 1, 0) : start], needle[0]) and not _same_word(
            needle[-1], text[end : end + 1]
        ):
            return True
        start = text.find(needle, start + 1)
    return False


def _same_word(before: str, after: str) -> bool:
    """Return whether adjacent characters belong to one word; only ASCII, as Chinese and Japanese have no spaces."""
    return all(char.isascii() and char.isalnum() for char in (before, after)) and before != "" != after


def without_tags(text: str) -> str:
    """Break the tags of the judge's prompts in a text, so that it cannot end its own section."""
    return _TAGS.sub(r"< \1\2", text)


def _clipped(name: str, text: str, limit: int) -> dict[str, str]:
    return {"id": without_tags(name.replace('"', "'")), "text": without_tags(clip(text, limit))}


@dataclass(slots=True)
class Judge:
    """Asks a model about runs, and reuses its recorded replies.

    `usage` and `cost` cover the new calls; `cost` is None if the price is unknown. `budget` is the budget of the whole
    evaluation. `refused` counts the questions without a verdict. After an error that concerns every question, no
    further request is sent.
    """

    goalwright: Goalwright
    settings: Settings
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    refused: int = 0
    _answered: bool = False
    _refusal: RequestRefused | None = None
    _failure: Exception | None = None
    _recording: set[asyncio.Future[None]] = field(default_factory=set)
    _model: Model | None = None
    _recorded: dict[str, dict[str, Reply]] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The judge's model, with retries, fallbacks and the limits of the evaluation."""
        if self._model is None:
            models = RoleModels(self.settings, Memo(_ignore), Budget(), self.goalwright.open_model)
            self._model = models.for_role("judge")
        return self._model

    async def check(self, expectation: str, name: str, result: Result, material: Material) -> CheckResult:
        """Decide whether an expectation holds; it needs a readable verdict with a quote from the material."""
        variables = material.prompt_variables(self.settings.input_budget) | {"expectation": expectation}
        messages = self.goalwright.workspace.prompts().messages("judge", variables)
        try:
            verdict = await self._answer(result.run_id, messages, _VERDICT)
        except _NO_VERDICT as error:
            self._note(error)
            reason = f"the judge gave no verdict: {error.message}"
            return CheckResult(name, passed=False, evidence=shorten(reason, EVIDENCE))
        passed, quote = verdict.get("passed"), verdict.get("evidence")
        if not isinstance(passed, bool) or not isinstance(quote, str):
            return CheckResult(name, passed=False, evidence="the judge's answer does not have the requested format")
        if passed and not material.has(quote):
            reason = f"the judge's quote is not in the answer, results or files: {quote}"
            return CheckResult(name, passed=False, evidence=shorten(reason, EVIDENCE))
        return CheckResult(name, passed, shorten(quote, EVIDENCE))

    async def prefer(self, first: Result, second: Result) -> Preference:
        """Decide which of two answers is better; a verdict that changes with their order is `neither`."""
        preference = await self._compare(first, second)
        swapped = await self._compare(second, first)
        expected = {"first": "second", "second": "first"}.get(preference)
        return preference if swapped == expected else "neither"

    async def _compare(self, first: Result, second: Result) -> Preference:
        half = self.settings.input_budget // 2
        texts = {"goal": first.goal, "first": first.answer or "", "second": second.answer or ""}
        variables = {name: without_tags(clip(text, half)) for name, text in texts.items()}
        messages = self.goalwright.workspace.prompts().messages("pairwise", variables)
        try:
            choice = (await self._answer(first.run_id, messages, _CHOICE)).get("better")
        except _NO_VERDICT as error:
            self._note(error)
            return "neither"
        return choice if choice in ("first", "second") else "neither"

    def check_verdicts(self) -> None:
        """Raise if the provider refused every question: then the judge is at fault, not a question."""
        if self._refusal is not None and not self._answered:
            raise self._refusal

    async def settle(self) -> None:
        """Wait until all replies are recorded, even those of cancelled questions."""
        await asyncio.gather(*self._recording, return_exceptions=True)

    def _note(self, error: Exception) -> None:
        self.refused += 1
        if isinstance(error, RequestRefused) and not isinstance(error, PromptTooLong):
            self._refusal = error

    async def _answer(self, run_id: str, messages: tuple[Message, ...], schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object in the judge's reply, or an empty one."""
        reply = await self._reply(run_id, Request(messages, schema=schema, role="judge"))
        self._answered = True
        try:
            value = extract(reply.text, *schema["properties"])
        except (NotJson, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    async def _reply(self, run_id: str, request: Request) -> Reply:
        """Return the recorded reply, or a new one."""
        capture = records.capture(self.goalwright.paths, run_id)
        rows = [[message.role, message.content] for message in request.messages]
        key = capture.hash(["judge", self.model.name, rows, request.schema])
        if key in (replies := await self._replies(run_id)):
            return replies[key]
        if self._failure is not None:
            raise self._failure
        try:
            replies[key] = await self._new_reply(run_id, request, key)
        except _NO_VERDICT:
            raise
        except Exception as error:
            self._failure = error
            raise
        return replies[key]

    async def _new_reply(self, run_id: str, request: Request, key: str) -> Reply:
        """Call the model and record the reply before returning it, even if the question is cancelled meanwhile."""
        reply = await self.model.complete(request)
        self.usage += reply.usage
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        event = AnswerJudged(self.model.name, request.messages, reply, key)
        self._recording.add(recording := asyncio.ensure_future(self._record(run_id, event)))
        recording.add_done_callback(self._recording.discard)
        await asyncio.shield(recording)
        return reply

    async def _replies(self, run_id: str) -> dict[str, Reply]:
        if run_id not in self._recorded:
            self._recorded[run_id] = await asyncio.to_thread(self._read, run_id)
        return self._recorded[run_id]

    def _read(self, run_id: str) -> dict[str, Reply]:
        capture = records.capture(self.goalwright.paths, run_id)
        rows = self.goalwright.journal.store.rows(run_id, types=("answer_judged",))
        return {
            event.request: event.reply for event in _judged(decode(row.type, capture.local(row.body)) for row in rows)
        }

    async def _record(self, run_id: str, event: AnswerJudged) -> None:
        journal = self.goalwright.journal
        async with self._locks.setdefault(run_id, asyncio.Lock()):
            await claim(journal, run_id)
            try:
                summary = await asyncio.to_thread(journal.store.find, run_id)
                last = await asyncio.to_thread(self._last_event, run_id)
                log = journal.add_to(summary, records.capture(self.goalwright.paths, run_id), last)
                log.record(event)
                await log.settle()
            finally:
                await release(journal, run_id)

    def _last_event(self, run_id: str) -> int:
        """Return the number of a run's last event; another process may have added events."""
        last = self._last.get(run_id, 0)
        rows = self.goalwright.journal.store.rows(run_id, after=last)
        self._last[run_id] = last = max((row.seq for row in rows), default=last)
        return last


def _judged(events: Iterable[Event | None]) -> Iterable[AnswerJudged]:
    return (event for event in events if isinstance(event, AnswerJudged))


def judge_settings(settings: Settings, judge: str | None) -> tuple[Settings, str]:
    """Return the settings of the judge, and a warning if a model judges itself."""
    chosen = judge or settings.judge
    if chosen:
        return replace(settings, judge=chosen), ""
    return settings, f"{settings.model} judges its own answers; choose another model as the judge"


def _ignore(_: Event) -> None:
    """Discard retries of the judge: they belong to no run."""
