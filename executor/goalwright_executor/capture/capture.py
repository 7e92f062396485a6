"""Turns values into recorded ones, without secrets and with paths relative to named roots, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect
from msgspec.structs import asdict, replace

from goalwright_executor.capture.json_text import digest, encode, short_digest
from goalwright_executor.capture.named_roots import NamedRoots
from goalwright_executor.capture.secrets import REDACTED, Secrets, is_secret
from goalwright_executor.capture.shared_lists import SharedLists
from goalwright_planner.events import SkillPrint
from goalwright_planner.events.event import HASHED
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_skills.text.nesting import flattened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_planner.events import Event

# The types of JSON values that hold no other values.
ATOMS = frozenset({str, int, float, bool, type(None)})
# Characters of a hash.
HASH = 32
_SEP = os.sep
_SHORT = 200
_MOST_KEPT = 10_000
# What names that mark a secret have in them, and so do texts in which one follows.
_TELLING_WORDS = ("key", "token", "secret", "passw", "passphrase", "credential", "authorization")
# How the JSON of a field that marks a secret ends, whatever the rest of its name is.
_TELLING = tuple(
    f'{word}":'
    for word in (
        "key",
        "token",
        "secret",
        "passwd",
        "password",
        "passphrase",
        "credential",
        "credentials",
        "authorization",
    )
)


@dataclass(frozen=True, slots=True)
class Capture:
    """How one run's values are recorded: its named roots, its secrets, and what it shares with other runs."""

    roots: NamedRoots = field(default_factory=lambda: NamedRoots({}))
    secrets: Secrets = field(default_factory=Secrets)
    shared: SharedLists = field(default_factory=SharedLists, compare=False)
    # Texts and tasks that are recorded as they stand, and the forms of other tasks; these are found by identity.
    _kept: set[str | None] = field(default_factory=lambda: {None, ""}, repr=False, compare=False)
    _hashes: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    _plain_tasks: dict[int, Task] = field(default_factory=dict, repr=False, compare=False)
    _tasks: dict[int, tuple[Task, dict[str, Any]]] = field(default_factory=dict, repr=False, compare=False)

    def text(self, text: str) -> str:
        """The text as it is recorded."""
        if len(text) < self.secrets.shortest and _SEP not in text and "⟦" not in text:
            return text
        return self.secrets.redact(self.roots.portable(text))

    def event(self, event: Event) -> dict[str, Any]:
        """An event's fields as they are recorded; only names inside its values, not its own, may mark a secret."""
        found = asdict(event)
        shortest = self.secrets.shortest
        for name in _free_fields(type(event)):
            item = found[name]
            if type(item) is str:
                if len(item) >= shortest or _SEP in item or "⟦" in item:
                    found[name] = self.text(item)
            elif type(item) not in ATOMS:
                found[name] = self._whole_or_flattened(item)
        return found

    def keeps_event(self, event: Event) -> bool:
        """Whether an event is recorded as it stands, and its fields are few and plain, as most are."""
        get = _FREE_TEXTS[type(event)]
        if get is None:
            return False
        values = get(event)
        try:
            return self._kept.issuperset(values) or all(map(self._keeps_item, values))
        except TypeError:  # a list or a mapping, which no set can hold
            return False

    def _keeps_item(self, item: Any) -> bool:
        """Whether a field is recorded as it stands; what is, such as the id of a task, is looked at once."""
        if item in self._kept:
            return True
        if type(item) is not str or len(item) >= _SHORT or self.text(item) != item:
            return False
        if len(self._kept) < _MOST_KEPT:
            self._kept.add(item)
        return True

    def _whole_or_flattened(self, value: Any) -> Any:
        """The value as it is recorded; a record must not fail for what a stranger has nested too deeply."""
        try:
            return self.value(value)
        except RecursionError:
            return self.value(flattened(value))

    def value(self, value: Any) -> Any:
        """A value as it is recorded: plain JSON, without secrets, paths relative to named roots."""
        # By exact type first: every event of every run passes through here.
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind in ATOMS:
            return value
        if kind is dict or isinstance(value, Mapping):
            return self._mapping(value)
        if kind is list or kind is tuple:
            if kind is tuple and value and type(value[0]) is SkillPrint:  # names and hashes: no paths of a run
                return self.shared.get(value, self.value)
            return self.sequence(value)
        if kind is Task:
            return self.task(value)
        if kind is Plan:
            return self._plan(value)
        return self.value(_plain(value))

    def local(self, value: Any) -> Any:
        """A recorded value with the paths of this checkout."""
        kind = type(value)  # every row that is read passes through here
        if kind is str:
            return self.roots.local(value)
        if kind in ATOMS:
            return value
        if kind is dict or isinstance(value, Mapping):
            return {self.roots.local(key): self.local(item) for key, item in value.items()}
        return [self.local(item) for item in value] if isinstance(value, list | tuple) else value

    def hash(self, value: Any) -> str:
        """A short hash of a JSON-like value as it would be recorded: the same here and in another checkout."""
        return self.hash_of_recorded(self.value(value))

    def hash_of_recorded(self, recorded: Any) -> str:
        """The same of a value in the form in which it is recorded."""
        return digest(recorded)[:HASH]

    def hash_of_tool(self, name: str, description: str, parameters: Mapping[str, Any]) -> str:
        """The hash of an offered tool, made once for all runs if it is recorded as it is.

        Then it names no folder of a run either: those lie in the workspace.
        """
        known = self.shared.hash_of(name, description, parameters)
        if known is None:
            given = [name, description, parameters]
            recorded = self.value(given)
            known = self.hash_of_recorded(recorded)
            if recorded == given:
                self.shared.note_hash(name, description, parameters, known)
        return known

    def hash_of_task(self, task: Task, given: Sequence[str | None]) -> str:
        """The hash of a task and of the results that it is given."""
        form = task if id(task) in self._plain_tasks else self.task(task)
        if self._kept.issuperset(given):
            return short_digest((form, given))
        return short_digest((form, [text if text is None else self._hashed(text) for text in given]))

    def _hashed(self, text: str) -> str | list[str]:
        """A result in the hash of a task: a long one by its own hash, made once for all tasks that are given it."""
        if len(text) <= _SHORT:
            return self.text(text)
        known = self._hashes.get(text)
        if known is None:
            if len(self._hashes) >= _MOST_KEPT:
                self._hashes.clear()
            self._hashes[text] = known = [self.hash(text)]  # a list, which no short text is
        return known

    def task(self, task: Task) -> dict[str, Any]:
        """A task as it is recorded, made once: it stands in the plan, and in the hash of what it is given."""
        known = self._tasks.get(id(task))
        if known is None:
            self._tasks[id(task)] = known = (task, self._mapping(_plain(task)))
        return known[1]

    def _plan(self, plan: Plan) -> dict[str, Any]:
        """A plan as it is recorded; the tasks of one that is recorded as it stands are left to the encoder."""
        if self._keeps(encode(plan)):
            self._plain_tasks.update(zip(map(id, plan.tasks), plan.tasks, strict=True))
            self._kept.update(task.id for task in plan.tasks)
            return _plain(replace(plan, tasks=())) | {"tasks": list(plan.tasks)}  # type: ignore[no-any-return]
        tasks = [self.task(task) for task in plan.tasks]
        return {name: tasks if name == "tasks" else self.value(item) for name, item in _plain(plan).items()}

    def _keeps(self, text: str) -> bool:
        """Whether a value with this JSON is surely recorded as it is: no path, no secret, no name that marks one."""
        # Without escapes, every string of the value stands in its JSON as it is, between characters of no word.
        if not text.isascii() or _SEP in text or "\\" in text or self.secrets.reveals(text):
            return False
        # Names of fields and ids of tasks repeat: each is looked at once. What looks like a secret stands between two
        # quotation marks, unless a word before it says that it is one.
        once = '"'.join(set(text.split('"')[1::2]))
        low = once.lower()
        if not any(word in low for word in _TELLING_WORDS):
            return not self.secrets.touches(once)
        low = text.lower()
        return not any(name in low for name in _TELLING) and not self.secrets.touches(text)

    # The two that follow have `text` in them, once more for speed: every string of every event is looked at.

    def sequence(self, value: Sequence[Any]) -> list[Any]:
        """A list as it is recorded."""
        shortest = self.secrets.shortest
        return [
            item
            if type(item) is str and len(item) < shortest and _SEP not in item and "⟦" not in item
            else self.value(item)
            for item in value
        ]

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        found = {}
        shortest, names = self.secrets.shortest, self.secrets.names
        for name, item in value.items():
            key, marks_secret = names.get(name) or self._name(name)
            if marks_secret:
                found[key] = self._item(key, item)
            elif type(item) is str:
                is_safe = len(item) < shortest and _SEP not in item and "⟦" not in item
                found[key] = item if is_safe else self.text(item)
            else:
                found[key] = item if type(item) in ATOMS else self.value(item)
        return found

    def _name(self, name: Any) -> tuple[str, bool]:
        """The name of a field as it is recorded, and whether it marks a secret."""
        if type(name) is str and name.isidentifier():  # no path: the same in every run
            return self.secrets.name(name)
        key = self.text(str(name))
        return key, is_secret(key)

    def _item(self, key: str, item: Any) -> Any:
        if type(item) is str:
            return REDACTED if item and is_secret(key) else self.text(item)
        if type(item) in (list, tuple) and is_secret(key):  # a repeated header, or old passwords
            return [REDACTED if type(one) is str and one else self.value(one) for one in item]
        return item if type(item) in ATOMS else self.value(item)


@cache
def _free_fields(kind: type[Event]) -> tuple[str, ...]:
    """The fields of an event that can hold a path or a secret: numbers, fixed words and our own hashes cannot."""
    return tuple(field.name for field in msgspec.structs.fields(kind) if not _is_fixed(inspect.type_info(field.type)))


class _FreeTexts(dict[type["Event"], "Callable[[Event], tuple[Any, ...]] | None"]):
    """What gets the values of these fields, as a tuple, by the type of event; None if one of them is never a text.

    A lookup is faster than a cached call, and an event that has a plan would be hashed with all its tasks.
    """

    def __missing__(self, kind: type[Event]) -> Callable[[Event], tuple[Any, ...]] | None:
        names = _free_fields(kind)
        types = {field.name: inspect.type_info(field.type) for field in msgspec.structs.fields(kind)}
        if not all(_may_be_text(types[name]) for name in names):
            self[kind] = None
            return None
        # Of one name an attrgetter gives the value alone, of the same name twice a tuple, much faster than a function.
        names = names * 2 if len(names) == 1 else names
        self[kind] = get = attrgetter(*names) if names else lambda _: ()
        return get


_FREE_TEXTS = _FreeTexts()


def _may_be_text(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(map(_may_be_text, kind.types))
    return isinstance(kind, inspect.StrType | inspect.NoneType | inspect.AnyType)


def _is_fixed(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return kind.extra == HASHED
    return isinstance(kind, inspect.IntType | inspect.FloatType | inspect.BoolType | inspect.LiteralType)


def _plain(value: Any) -> Any:
    """A declared value, such as a message or a task, as JSON values; what JSON does not know becomes text."""
    return msgspec.to_builtins(value, enc_hook=str)
