"""Judges: a model says whether an expectation holds, or which of two answers is better.

Each question is asked once of a run: the reply is recorded with it and found again by the hash of the request, so that
scoring again costs nothing. No question names a variant.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult
from goalwright.evaluation.checks.file_check import content
from goalwright.models.budget import Budget
from goalwright.models.roles import RoleModels
from goalwright.runs.stored import records
from goalwright.runs.stored.claim import claim, release
from goalwright_executor.results.memo import Memo
from goalwright_planner.errors import ContentRefused, ModelError, PromptTooLong, RequestRefused, TooSlow
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
# One question is refused, and not the judge: the others are asked all the same.
_NO_VERDICT = (ContentRefused, RequestRefused, TooSlow)
_SPACE = re.compile(r"\s+")
_TAGS = re.compile(r"<(/?)(goal|answer|result|file|expectation|first_answer|second_answer)\b", re.IGNORECASE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "..."})


@dataclass(frozen=True, slots=True)
class Material:
    """What of a run a judge sees, and in which its quotes are looked up."""

    goal: str
    answer: str
    results: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, result: Result, artifacts: Artifacts) -> Material:
        """The answer, the results of the tasks and the files of a run."""
        results = tuple((task.id, task.output) for task in result.tasks if task.output and task.output != result.answer)
        texts = ((file.path, content(file, artifacts) or "") for file in result.artifacts)
        return cls(result.goal, result.answer or "", results, tuple((name, text) for name, text in texts if text))

    def shown(self, most: int) -> dict[str, Any]:
        """What stands in the prompt: as much of each text as fits into so many characters in all."""
        half = most // 2
        each = half // max(len(self.results) + len(self.files), 1)
        return {
            "goal": without_tags(clip(self.goal, half)),
            "answer": without_tags(clip(self.answer, half)),
            "results": [_shown(name, text, each) for name, text in self.results],
            "files": [_shown(name, text, each) for name, text in self.files],
        }

    def has(self, quote: str) -> bool:
        """Whether a quote stands in it, white space and the form of quotation marks aside."""
        wanted = _plain(quote).strip(' "')
        texts = (self.answer, *(text for _, text in self.results), *(text for _, text in self.files))
        # Whole words: a letter or a full stop stands in every answer, and shows nothing.
        return any(char.isalnum() for char in wanted) and any(_stands_in(wanted, _plain(text)) for text in texts)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", without_tags(text).translate(_QUOTES)).casefold().strip()


def _stands_in(wanted: str, text: str) -> bool:
    place = text.find(wanted)
    while place >= 0:
        before, after = text[max(place - 1, 0) : place], text[place + len(wanted) : place + len(wanted) + 1]
        if not _one_word(before, wanted[0]) and not _one_word(wanted[-1], after):
            return True
        place = text.find(wanted, place + 1)
    return False


def _one_word(before: str, after: str) -> bool:
    """Whether two characters belong to one word; Chinese and Japanese have no spaces between theirs."""
    return all(char.isascii() and char.isalnum() for char in (before, after)) and before != "" != after


def without_tags(text: str) -> str:
    """A text in which no tag of the judges' prompts stands, so that it cannot end its own part of them."""
    return _TAGS.sub(r"< \1\2", text)


def _shown(name: str, text: str, most: int) -> dict[str, str]:
    return {"id": without_tags(name.replace('"', "'")), "text": without_tags(clip(text, most))}


@dataclass(slots=True)
class Judge:
    """Asks a model about runs; what it was asked before is taken from their records.

    `usage` and `cost` are those of this time; `cost` is None if the price is not known. `budget` is that of
    the whole evaluation. `refused` counts the questions without a verdict. Once it cannot be asked at
    all, no further question leaves; those under way are waited for.
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
    _known: dict[str, dict[str, Reply]] = field(default_factory=dict)
    _turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The model that judges, with retries, fallbacks and the evaluation's limits."""
        if self._model is None:
            models = RoleModels(self.settings, Memo(_ignore), Budget(), self.goalwright.open_model)
            self._model = models.for_role("judge")
        return self._model

    async def check(self, expectation: str, name: str, result: Result, material: Material) -> CheckResult:
        """Whether an expectation holds, with a quote that shows it; without a readable verdict it does not."""
        shown = material.shown(self.settings.input_budget) | {"expectation": expectation}
        messages = self.goalwright.workspace.prompts().messages("judge", shown)
        try:
            verdict = await self._answer(result.run_id, messages, _VERDICT)
        except _NO_VERDICT as error:
            self._note(error)
            told = f"the judge gave no verdict: {error.message}"
            return CheckResult(name, passed=False, evidence=shorten(told, EVIDENCE))
        passed, quote = verdict.get("passed"), verdict.get("evidence")
        if not isinstance(passed, bool) or not isinstance(quote, str):
            return CheckResult(name, passed=False, evidence="the judge did not answer in the form asked for")
        if passed and not material.has(quote):
            told = f"the judge quotes what is not there: {quote}"
            return CheckResult(name, passed=False, evidence=shorten(told, EVIDENCE))
        return CheckResult(name, passed, shorten(quote, EVIDENCE))

    async def prefer(self, one: Result, other: Result) -> Preference:
        """Which of two answers is better, asked in both orders; a verdict that changes with the order is none."""
        there = await self._compared(one, other)
        back = await self._compared(other, one)
        turned = {"first": "second", "second": "first"}.get(back, back)
        return there if there == turned and there in ("first", "second") else "neither"

    async def _compared(self, one: Result, other: Result) -> Preference:
        half = self.settings.input_budget // 2
        texts = {"goal": one.goal, "first": one.answer or "", "second": other.answer or ""}
        variables = {name: without_tags(clip(text, half)) for name, text in texts.items()}
        messages = self.goalwright.workspace.prompts().messages("pairwise", variables)
        try:
            choice = (await self._answer(one.run_id, messages, _CHOICE)).get("better")
        except _NO_VERDICT as error:
            self._note(error)
            return "neither"
        return choice if choice in ("first", "second") else "neither"

    def check_verdicts(self) -> None:
        """Raise if the provider takes no question at all: it is the judge, then, and not what it was asked."""
        if self._refusal is not None and not self._answered:
            raise self._refusal

    async def settle(self) -> None:
        """Wait until every reply is recorded, also those whose question was given up meanwhile."""
        await asyncio.gather(*self._recording, return_exceptions=True)

    def _note(self, error: Exception) -> None:
        self.refused += 1
        if isinstance(error, RequestRefused) and not isinstance(error, PromptTooLong):
            self._refusal = error

    async def _answer(self, run_id: str, messages: tuple[Message, ...], schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The object in the judge's reply; empty if there is none."""
        reply = await self._asked(run_id, Request(messages, schema=schema, role="judge"))
        self._answered = True
        try:
            value = extract(reply.text, *schema["properties"])
        except (NotJson, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    async def _asked(self, run_id: str, request: Request) -> Reply:
        """The recorded reply, or else a new one."""
        capture = records.capture(self.goalwright.paths, run_id)
        rows = [[message.role, message.content] for message in request.messages]
        key = capture.hash(["judge", self.model.name, rows, request.schema])
        if key in (known := await self._replies(run_id)):
            return known[key]
        if self._failure is not None:
            raise self._failure
        try:
            known[key] = await self._new_reply(run_id, request, key)
        except _NO_VERDICT:
            raise
        except Exception as error:
            self._failure = error
            raise
        return known[key]

    async def _new_reply(self, run_id: str, request: Request, key: str) -> Reply:
        """A reply that is paid for, recorded before it is returned, even if its question is given up meanwhile."""
        reply = await self.model.complete(request)
        self.usage += reply.usage
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        event = AnswerJudged(self.model.name, request.messages, reply, key)
        self._recording.add(recording := asyncio.ensure_future(self._record(run_id, event)))
        recording.add_done_callback(self._recording.discard)
        await asyncio.shield(recording)
        return reply

    async def _replies(self, run_id: str) -> dict[str, Reply]:
        if run_id not in self._known:
            self._known[run_id] = await asyncio.to_thread(self._read, run_id)
        return self._known[run_id]

    def _read(self, run_id: str) -> dict[str, Reply]:
        capture = records.capture(self.goalwright.paths, run_id)
        rows = self.goalwright.journal.store.rows(run_id, types=("answer_judged",))
        return {
            event.request: event.reply for event in _judged(decode(row.type, capture.local(row.body)) for row in rows)
        }

    async def _record(self, run_id: str, event: AnswerJudged) -> None:
        journal = self.goalwright.journal
        async with self._turns.setdefault(run_id, asyncio.Lock()):
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
        """The number of a run's last event; another process may have added some since."""
        before = self._last.get(run_id, 0)
        rows = self.goalwright.journal.store.rows(run_id, after=before)
        self._last[run_id] = last = max((row.seq for row in rows), default=before)
        return last


def _judged(events: Iterable[Event | None]) -> Iterable[AnswerJudged]:
    return (event for event in events if isinstance(event, AnswerJudged))


def judge_failed(error: ModelError, what: str, then: str) -> ModelError:
    """The same error, told of a judge: what it leaves undone, and what to do then."""
    remedy = error.hint.replace("--model", "--judge")
    return type(error)(f"{what}: {error.message}", hint=f"{remedy}; then {then}" if remedy else then, model=error.model)


def judge_settings(settings: Settings, judge: str | None) -> tuple[Settings, str]:
    """The settings of the judge, and a warning if a model judges itself."""
    chosen = judge or settings.judge
    if chosen:
        return replace(settings, judge=chosen), ""
    return settings, f"{settings.model} judges its own answers; name another model with --judge"


def _ignore(_: Event) -> None:
    """Retries and the like of a judge are not part of any run."""
