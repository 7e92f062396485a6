"""A task: one step of a plan. It never changes; `rewired` and `renamed` make another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from goalwright_planner.plan.conditions import values_in
from goalwright_planner.plan.references import Reference, references, renamed
from goalwright_planner.plan.task_id import written_id

ActionType = Literal["skill", "tool", "llm", "goal"]
GOAL = "goal"
ACTION_TYPES: tuple[str, ...] = get_args(ActionType)
_STRUCTS = ("check", "repeat", "previous")
_OPTIONAL = ("output_schema", "check", "model", "most_tasks", "max_cost", "repeat", "previous")


class Item(msgspec.Struct, frozen=True):
    """The item that a grown task is for: any JSON value of the list that its parent goes through."""

    value: Any


class ResultCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that another call answers about a task's result; if it does not hold, the task is done again.

    It is done again at most `tries` times. `model` is a name of `[models]` in the settings.
    """

    ask: str
    tries: int = 2
    model: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The check as in the plan's JSON."""
        return {"ask": self.ask, "tries": self.tries} | ({"model": self.model} if self.model else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ResultCheck:
        """The check in a row of a valid document."""
        tries = row.get("tries")
        return cls(row["ask"], 2 if tries is None else tries, row.get("model") or None)


class Repeat(msgspec.Struct, frozen=True):
    """A task is done again until a condition on its own result holds, in `most` rounds at most."""

    until: str | Mapping[str, Any]
    most: int

    @property
    def asks(self) -> bool:
        """Whether a model decides if the task is done again."""
        return isinstance(self.until, Mapping)

    @property
    def told(self) -> str:
        """The condition, or the question in its place, as planned."""
        return self.until if isinstance(self.until, str) else str(self.until.get("ask", ""))

    def to_dict(self) -> dict[str, Any]:
        """The rounds as in the plan's JSON."""
        return {"until": dict(self.until) if isinstance(self.until, Mapping) else self.until, "most": self.most}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Repeat:
        """The rounds in a row of a valid document."""
        return cls(row["until"], row["most"])


class PreviousRound(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the round before came to, what must hold, and why a model said that it does not, if one was asked."""

    result: str
    until: str
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The round as JSON values."""
        return {"result": self.result, "until": self.until} | ({"why": self.why} if self.why else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> PreviousRound:
        """The round in a row of a valid document."""
        return cls(row["result"], row["until"], row.get("why", ""))


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan.

    With `when` it runs only if a condition holds. With `for_each` it goes on in a task for each item of a list, at most
    `width` at a time, only the `first` of them; each of these has its `item`. With an `output_schema` its result is
    JSON of that form, and with a `check` it must hold. `model` is a name of `[models]` in the settings. A `goal` is
    planned when it is ready, and goes on in the tasks of that plan, `most_tasks` at most, which together may cost
    `max_cost` dollars. With `repeat` it is done again, until a condition on its result holds; a round has what the one
    before it came to as `previous`.
    """

    id: str
    action_type: ActionType
    title: str = ""
    name: str | None = None
    instruction: str = ""
    arguments: str | Mapping[str, Any] = ""
    depends_on: tuple[str, ...] = ()
    needs_approval: bool | str = False
    when: str | Mapping[str, Any] | None = None
    for_each: str | tuple[Any, ...] | None = None
    width: int | None = None
    first: int | None = None
    item: Item | None = None
    output_schema: Mapping[str, Any] | None = None
    check: ResultCheck | None = None
    model: str | None = None
    most_tasks: int | None = None
    max_cost: int | float | None = None
    repeat: Repeat | None = None
    previous: PreviousRound | None = None

    @property
    def given(self) -> tuple[Reference, ...]:
        """The results, and fields of results, that stand in its instruction or arguments, each once."""
        return self.referred((self.instruction, self.arguments))

    @property
    def refers(self) -> bool:
        """Whether it may read more than the results that it depends on; most tasks do not."""
        return (
            "<<" in self.instruction
            or self.arguments != ""
            or self.check is not None
            or self.when is not None
            or self.for_each is not None
            or self.repeat is not None
        )

    @property
    def references(self) -> tuple[str, ...]:
        """The ids of tasks whose output, or a field of it, it refers to, each once."""
        if not self.refers:
            return ()
        found = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(dict.fromkeys(one.id for one in found if one.part == "output" and one.item is None))

    @property
    def other_references(self) -> tuple[Reference, ...]:
        """What else it refers to, each once: how tasks ended, how many items they have, and single items."""
        if not self.refers:
            return ()
        found = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(one for one in found if one.part != "output" or one.item is not None)

    @property
    def asked(self) -> str:
        """What its check asks; empty if it has none."""
        return self.check.ask if self.check is not None else ""

    def referred(self, value: object) -> tuple[Reference, ...]:
        """The references inside one of its texts or values, each once."""
        found = dict.fromkeys(references(value))
        if self.for_each is None and self.item is None:
            return tuple(found)
        return tuple(one for one in found if one.id != "item")  # <<item.output>> is a field of the item

    @property
    def reads(self) -> tuple[str, ...]:
        """The ids of tasks whose values decide whether and how often it runs, or which items it has, each once."""
        if self.when is None and self.for_each is None and self.repeat is None:
            return ()
        source = self.for_each if isinstance(self.for_each, str) else ""
        until = self.repeat.until if self.repeat is not None else ""
        read = (*self.referred((self.when, until)), *references(source))
        found = dict.fromkeys(reference.id for reference in read)
        found.pop(written_id(self.id), None)  # its own result
        return tuple(found)

    @property
    def reads_status_of(self) -> frozenset[str]:
        """The ids of tasks whose status decides whether it runs: it runs although they failed."""
        return frozenset(reference.id for reference in self.referred(self.when) if reference.part == "status")

    @property
    def handles(self) -> frozenset[str]:
        """The ids of tasks, and of their items, whose failure is handled if it is done."""
        return frozenset(reference.of for reference in self.referred(self.when) if reference.part == "status")

    @property
    def asks(self) -> bool:
        """Whether a model decides if it runs, or runs again."""
        return isinstance(self.when, Mapping) or (self.repeat is not None and self.repeat.asks)

    @property
    def each_when(self) -> bool:
        """Whether its condition is one on each item, which is checked for each."""
        return self.for_each is not None and any(value.id == "item" for value in values_in(self.when))

    def rewired(self, ids: Mapping[str, str]) -> Task:
        """The task with other tasks in place of some that it depends on or refers to; it stays the same itself."""
        texts = (self.instruction, self.arguments, self.asked, self.needs_approval)
        if ids.keys().isdisjoint((*self.depends_on, *self.reads, *(one.id for one in self.referred(texts)))):
            return self
        return replace(
            self,
            instruction=renamed(self.instruction, ids),
            arguments=renamed(self.arguments, ids),
            needs_approval=renamed(self.needs_approval, ids),
            when=renamed(self.when, ids),
            for_each=renamed(self.for_each, ids) if isinstance(self.for_each, str) else self.for_each,
            depends_on=tuple(dict.fromkeys(ids.get(before, before) for before in self.depends_on)),
            check=replace(self.check, ask=renamed(self.check.ask, ids)) if self.check is not None else None,
            repeat=self._repeat_with({old: new for old, new in ids.items() if old != self.id}),
        )

    def renamed(self, task_id: str) -> Task:
        """The task under another id, by which its own texts refer to it too."""
        return replace(self, id=task_id, repeat=self._repeat_with({self.id: task_id}))

    def _repeat_with(self, ids: Mapping[str, str]) -> Repeat | None:
        return replace(self.repeat, until=renamed(self.repeat.until, ids)) if self.repeat is not None else None

    def to_dict(self) -> dict[str, Any]:
        """The task as in the plan's JSON, without empty fields."""
        given: dict[str, Any] = {"id": self.id}
        if self.title:
            given["title"] = self.title
        given["action_type"] = self.action_type
        given |= {key: value for key in ("name", "instruction") if (value := getattr(self, key))}
        if self.arguments not in ("", None):
            given["arguments"] = dict(self.arguments) if isinstance(self.arguments, Mapping) else self.arguments
        given["depends_on"] = list(self.depends_on)
        if self.needs_approval:
            given["needs_approval"] = self.needs_approval
        if self.when is not None:
            given["when"] = dict(self.when) if isinstance(self.when, Mapping) else self.when
        if self.for_each is not None:
            given["for_each"] = list(self.for_each) if isinstance(self.for_each, tuple) else self.for_each
            given |= {key: value for key in ("width", "first") if (value := getattr(self, key)) is not None}
        if self.item is not None:
            given["item"] = self.item.value
        for key in _OPTIONAL:
            if (value := getattr(self, key)) is not None:
                given[key] = value.to_dict() if key in _STRUCTS else value
        return given

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Task:
        """The task in a row of a valid document."""
        action = row["action_type"]
        empty: str | dict[str, Any] = {} if action == "tool" else ""
        return cls(
            id=row["id"],
            action_type=action,
            title=row.get("title") or "",
            name=row.get("name") if action in ("skill", "tool") else None,
            instruction=row.get("instruction") or "",
            arguments=row.get("arguments") or empty,
            depends_on=tuple(dict.fromkeys(row.get("depends_on") or ())),
            needs_approval=row.get("needs_approval") or False,
            when=row.get("when"),
            for_each=tuple(source) if isinstance(source := row.get("for_each"), list) else source,
            width=row.get("width"),
            first=row.get("first"),
            item=Item(row["item"]) if "item" in row else None,
            output_schema=row.get("output_schema") or None,
            check=ResultCheck.from_dict(row["check"]) if row.get("check") else None,
            model=row.get("model") or None,
            most_tasks=row.get("most_tasks"),
            max_cost=row.get("max_cost"),
            repeat=Repeat.from_dict(row["repeat"]) if row.get("repeat") else None,
            previous=PreviousRound.from_dict(row["previous"]) if row.get("previous") else None,
        )
