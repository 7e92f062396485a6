"""A task: one step of a plan. It is immutable; `rewired` and `renamed` return another."""

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
    """The item of a task that grew from a `for_each`: any JSON value of the list."""

    value: Any


class ResultCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that a model call answers about the result of a task.

    If the answer is no, the task is done again, at most `tries` times. `model` is a name of `[models]` in the settings.
    """

    ask: str
    tries: int = 2
    model: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON values."""
        return {"ask": self.ask, "tries": self.tries} | ({"model": self.model} if self.model else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> ResultCheck:
        """Return the check in a valid document."""
        tries = row.get("tries")
        return cls(row["ask"], 2 if tries is None else tries, row.get("model") or None)


class Repeat(msgspec.Struct, frozen=True):
    """How a task is repeated: until a condition on its own result holds, in at most `most` rounds."""

    until: str | Mapping[str, Any]
    most: int

    @property
    def asks(self) -> bool:
        """Whether a model decides if there is another round."""
        return isinstance(self.until, Mapping)

    @property
    def text(self) -> str:
        """The text of the condition, or of the question that replaces it."""
        return self.until if isinstance(self.until, str) else str(self.until.get("ask", ""))

    def to_dict(self) -> dict[str, Any]:
        """Return the repeat as JSON values."""
        return {"until": dict(self.until) if isinstance(self.until, Mapping) else self.until, "most": self.most}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Repeat:
        """Return the repeat in a valid document."""
        return cls(row["until"], row["most"])


class PreviousRound(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the previous round, the condition that it did not meet, and a model's reason, if one was asked."""

    result: str
    until: str
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the round as JSON values."""
        return {"result": self.result, "until": self.until} | ({"why": self.why} if self.why else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> PreviousRound:
        """Return the round in a valid document."""
        return cls(row["result"], row["until"], row.get("why", ""))


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan.

    - `when`: the task runs only if this condition holds.
    - `for_each`: the task grows into one task for each of the `first` items of a list, at most `width` at a time. Each
      of these has its `item`.
    - `output_schema`: the JSON Schema of the result. `check`: a question that the result must pass.
    - `model`: a name of `[models]` in the settings.
    - A `goal` is planned when it is ready and grows into at most `most_tasks` tasks, which may cost `max_cost` dollars.
    - `repeat`: the task is done in rounds. A later round has the result of the one before as `previous`.
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
        """The distinct references in its instruction and arguments."""
        return self.referred((self.instruction, self.arguments))

    @property
    def refers(self) -> bool:
        """Whether the task may have references; most tasks have none."""
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
        """The distinct ids of tasks whose output it refers to."""
        if not self.refers:
            return ()
        read = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(
            dict.fromkeys(reference.id for reference in read if reference.part == "output" and reference.item is None)
        )

    @property
    def other_references(self) -> tuple[Reference, ...]:
        """The other distinct references: to a status, a count or a single item."""
        if not self.refers:
            return ()
        read = self.referred((self.instruction, self.arguments, self.asked))
        return tuple(reference for reference in read if reference.part != "output" or reference.item is not None)

    @property
    def asked(self) -> str:
        """The question of its check; empty without one."""
        return self.check.ask if self.check is not None else ""

    def referred(self, value: object) -> tuple[Reference, ...]:
        """Return the distinct references in one of its texts or values."""
        distinct = dict.fromkeys(references(value))
        if self.for_each is None and self.item is None:
            return tuple(distinct)
        return tuple(
            reference for reference in distinct if reference.id != "item"
        )  # <<item.output>> is a field of the item

    @property
    def reads(self) -> tuple[str, ...]:
        """The distinct ids of tasks that its conditions and its `for_each` read."""
        if self.when is None and self.for_each is None and self.repeat is None:
            return ()
        source = self.for_each if isinstance(self.for_each, str) else ""
        until = self.repeat.until if self.repeat is not None else ""
        read = (*self.referred((self.when, until)), *references(source))
        ids = dict.fromkeys(reference.id for reference in read)
        ids.pop(written_id(self.id), None)  # its own result
        return tuple(ids)

    @property
    def reads_status_of(self) -> frozenset[str]:
        """The ids of tasks whose status its `when` reads: the task runs even if they failed."""
        return frozenset(reference.id for reference in self.referred(self.when) if reference.part == "status")

    @property
    def handles(self) -> frozenset[str]:
        """The ids of tasks and items whose failure is handled if this task is done."""
        return frozenset(reference.of for reference in self.referred(self.when) if reference.part == "status")

    @property
    def asks(self) -> bool:
        """Whether a model decides if the task runs, or runs again."""
        return isinstance(self.when, Mapping) or (self.repeat is not None and self.repeat.asks)

    @property
    def each_when(self) -> bool:
        """Whether its condition reads the item, so that it is checked for each item."""
        return self.for_each is not None and any(value.id == "item" for value in values_in(self.when))

    def rewired(self, ids: Mapping[str, str]) -> Task:
        """Return the task with the ids of other tasks replaced in its dependencies and references."""
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
        """Return the task under another id, also in its references to itself."""
        return replace(self, id=task_id, repeat=self._repeat_with({self.id: task_id}))

    def _repeat_with(self, ids: Mapping[str, str]) -> Repeat | None:
        return replace(self.repeat, until=renamed(self.repeat.until, ids)) if self.repeat is not None else None

    def to_dict(self) -> dict[str, Any]:
        """Return the task as JSON values, without empty fields."""
        row: dict[str, Any] = {"id": self.id}
        if self.title:
            row["title"] = self.title
        row["action_type"] = self.action_type
        row |= {key: value for key in ("name", "instruction") if (value := getattr(self, key))}
        if self.arguments not in ("", None):
            row["arguments"] = dict(self.arguments) if isinstance(self.arguments, Mapping) else self.arguments
        row["depends_on"] = list(self.depends_on)
        if self.needs_approval:
            row["needs_approval"] = self.needs_approval
        if self.when is not None:
            row["when"] = dict(self.when) if isinstance(self.when, Mapping) else self.when
        if self.for_each is not None:
            row["for_each"] = list(self.for_each) if isinstance(self.for_each, tuple) else self.for_each
            row |= {key: value for key in ("width", "first") if (value := getattr(self, key)) is not None}
        if self.item is not None:
            row["item"] = self.item.value
        for key in _OPTIONAL:
            if (value := getattr(self, key)) is not None:
                row[key] = value.to_dict() if key in _STRUCTS else value
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Task:
        """Return the task in a row of a valid document."""
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
