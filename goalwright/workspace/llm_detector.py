"""The detector `llm`: a model picks from a ranked shortlist; if the call fails, the ranking decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING, Any, Self

from goalwright_planner.errors import ModelError
from goalwright_planner.json_answer import NotJson
from goalwright_planner.model import Reply, Request
from goalwright_planner.prompting.profile import Profile
from goalwright_planner.reading.plan_answer import find
from goalwright_skills.selection import ranked
from goalwright_skills.selection.detector import Selection, merge
from goalwright_skills.selection.query import triggers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.workspace.workspace import Workspace
    from goalwright_planner.model import Model
    from goalwright_planner.prompting.models import Models
    from goalwright_planner.prompting.prompts import Prompts
    from goalwright_skills.selection.ranked import RankedDetector, TranslatedDetector
    from goalwright_skills.skill import Skill


Ask = Callable[[Request], Reply]
SHORTLIST = 20
# The least score of a picked skill, since a model gives no scores.
PICKED = 0.5
# The characters of a description that are shown: its first sentences state the purpose.
_DESCRIPTION = 400
# The same for a small model, which picks from twice as many skills as it plans with.
_SMALL_DESCRIPTION = 150
_REASON = 200


class _NoSelection(ValueError):
    """The answer picks no usable skill."""


@dataclass(slots=True)
class LlmDetector:
    """Asks a model once for each goal; `warnings` has a line for each failed call."""

    ranked: RankedDetector | TranslatedDetector
    prompts: Prompts
    ask: Ask
    profile: Profile = field(default_factory=Profile)
    warnings: list[str] = field(default_factory=list)
    _last: tuple[str, tuple[Skill, ...], list[Selection]] | None = None

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        models: Models,
        ask: Ask,
        translated: TranslatedDetector | None = None,
    ) -> LlmDetector:
        """Create the detector of a workspace; `translated` ranks for a goal in another language."""
        ranked = translated or workspace.skills.ranked
        return cls(ranked, workspace.prompts(), ask, models.profile("detector"))

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the skills that the goal names, then those that the model picks."""
        if self._last is not None and self._last[0] == goal and _same(self._last[1], skills):
            return self._last[2]
        selections = self._detect(goal, skills)
        self._last = (goal, tuple(skills), selections)
        return selections

    def rank(self, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
        """Return the selected skills, then the best others; the model is not asked again."""
        return merge(self.detect(goal, skills), self.ranked.rank(goal, skills, most))[:most]

    def _detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        shortlist = self.ranked.rank(goal, skills, self._most())
        if not shortlist:
            return []
        by_name = {skill.name: skill for skill in skills}
        try:
            reply = self.ask(self._request(goal, [by_name[selection.name] for selection in shortlist]))
            picked = _read(reply, {selection.name: selection for selection in shortlist})
        except (ModelError, NotJson, _NoSelection) as error:
            self.warnings.append(f"the model picked no skills, so the ranking decides: {error}")
            return self.ranked.detect(goal, skills)
        return merge(triggers.named(goal, skills), picked)

    def _request(self, goal: str, shortlist: Sequence[Skill]) -> Request:
        small = self.profile.skills_shown is not None
        most = _SMALL_DESCRIPTION if small else _DESCRIPTION
        shown = [{"name": skill.name, "description": _shortened(skill.description, most)} for skill in shortlist]
        variables = {"goal": goal, "skills": shown, "most": ranked.MAX_SELECTED}
        messages = self.prompts.messages(self.profile.agent("detector"), variables)
        schema = _schema([skill.name for skill in shortlist], reasons=not small)
        return Request(messages, schema=schema, role="detector", about=["skills", goal])

    def _most(self) -> int:
        """Return the number of skills that the model is shown."""
        shown = self.profile.skills_shown
        return SHORTLIST if shown is None else min(SHORTLIST, 2 * shown)


def _read(reply: Reply, shortlist: Mapping[str, Selection]) -> list[Selection]:
    """Return the skills that an answer names; names outside the shortlist are dropped."""
    if reply.cut_off:
        raise _NoSelection("the answer was cut off at the model's output limit")
    document = find(reply.text, "skills").document
    rows = document.get("skills") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise _NoSelection("the answer has no list 'skills'")
    picked: dict[str, Selection] = {}
    for row in rows:
        name, reason = (row.get("name"), row.get("reason")) if isinstance(row, dict) else (row, None)
        if isinstance(name, str) and name in shortlist and name not in picked:
            given = " ".join(reason.split())[:_REASON] if isinstance(reason, str) else ""
            explanation = f"the model picked it: {given}" if given else "the model picked it"
            picked[name] = Selection(name, max(shortlist[name].score, PICKED), explanation)
    if rows and not picked:
        raise _NoSelection("the answer names no skill of the shortlist")
    return list(picked.values())[: ranked.MAX_SELECTED]


def _schema(names: Sequence[str], *, reasons: bool) -> dict[str, Any]:
    """Return the schema of the answer: names, each with a reason unless the model is small."""
    name: dict[str, Any] = {"type": "string", "enum": list(names)}
    row = name
    if reasons:
        row = {
            "type": "object",
            "properties": {"name": name, "reason": {"type": "string"}},
            "required": ["name", "reason"],
            "additionalProperties": False,
        }
    return {
        "type": "object",
        "properties": {"skills": {"type": "array", "items": row}},
        "required": ["skills"],
        "additionalProperties": False,
    }


def _shortened(description: str, most: int) -> str:
    text = " ".join(description.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _same(before: Sequence[Skill], now: Sequence[Skill]) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))


class BlockingModel:
    """Calls a model from worker threads: the thread blocks, the call runs on the event loop.

    Enter it on the loop. Leaving the block cancels running calls, so that a stopped run does not wait for a thread that
    waits for a model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loop = asyncio.get_running_loop()
        self._calls: set[asyncio.Task[Reply]] = set()
        self._closed = False

    def __call__(self, request: Request) -> Reply:
        """Call the model from a thread other than the loop's."""
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    async def _ask(self, request: Request) -> Reply:
        if self._closed:
            raise asyncio.CancelledError
        call = asyncio.ensure_future(self._model.complete(request))
        self._calls.add(call)
        try:
            return await call
        finally:
            self._calls.discard(call)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for call in self._calls:
            call.cancel()
