"""Turns values into recorded values, without secrets and with paths relative to named roots, and back."""

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
from goalwright_skills.text.untrusted import flattened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_planner.events import Event

# The types of JSON values without nested values.
ATOMS = frozenset({str, int, float, bool, type(None)})
# The length of a hash.
HASH = 32
_SEP = os.sep
_SHORT = 200
_MAX_CACHED = 10_000
# Words in names that mark a secret, and in texts before one.
_SECRET_WORDS = ("key", "token", "secret", "passw", "passphrase", "credential", "authorization")
# The ends of names of JSON fields that mark a secret.
_SECRET_FIELDS = tuple(
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
    """How one run's values are recorded: its named roots, its secrets, and the lists that it shares with other runs."""

    roots: NamedRoots = field(default_factory=lambda: NamedRoots({}))
    secrets: Secrets = field(default_factory=Secrets)
    shared: SharedLists = field(default_factory=SharedLists, compare=False)
    # Texts and tasks that are recorded unchanged, and the recorded forms of other tasks, by identity.
    _unchanged: set[str | None] = field(default_factory=lambda: {None, ""}, repr=False, compare=False)
    _hashes: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    _unchanged_tasks: dict[int, Task] = field(default_factory=dict, repr=False, compare=False)
    _tasks: dict[int, tuple[Task, dict[str, Any]]] = field(default_factory=dict, repr=False, compare=False)

    def text(self, text: str) -> str:
        """Return the recorded form of a text."""
        if len(text) < self.secrets.shortest and _SEP not in text and "⟦" not in text:
            return text
        return self.secrets.redact(self.roots.portable(text))

    def event(self, event: Event) -> dict[str, Any]:
        """Return the recorded fields of an event; its own field names mark no secrets, those inside values may."""
        fields = asdict(event)
        shortest = self.secrets.shortest
        for name in _free_fields(type(event)):
            item = fields[name]
            if type(item) is str:
                if len(item) >= shortest or _SEP in item or "⟦" in item:
                    fields[name] = self.text(item)
            elif type(item) not in ATOMS:
                fields[name] = self._flattened_if_deep(item)
        return fields

    def keeps_event(self, event: Event) -> bool:
        """Whether an event is recorded unchanged, which is known without building its recorded form."""
        get = _FREE_TEXTS[type(event)]
        if get is None:
            return False
        values = get(event)
        try:
            return self._unchanged.issuperset(values) or all(map(self._keeps_field, values))
        except TypeError:  # a list or a mapping is not hashable
            return False

    def _keeps_field(self, item: Any) -> bool:
        """Whether a field is recorded unchanged; unchanged values, such as task ids, are cached."""
        if item in self._unchanged:
            return True
        if type(item) is not str or len(item) >= _SHORT or self.text(item) != item:
            return False
        if len(self._unchanged) < _MAX_CACHED:
            self._unchanged.add(item)
        return True

    def _flattened_if_deep(self, value: Any) -> Any:
        """Return the recorded form of a value, flattened if it is nested too deeply."""
        try:
            return self.value(value)
        except RecursionError:
            return self.value(flattened(value))

    def value(self, value: Any) -> Any:
        """Return the recorded form of a value: plain JSON, without secrets, with paths relative to named roots."""
        # Exact types first, for speed: every event passes through here.
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind in ATOMS:
            return value
        if kind is dict or isinstance(value, Mapping):
            return self._mapping(value)
        if kind is list or kind is tuple:
            if kind is tuple and value and type(value[0]) is SkillPrint:  # names and hashes contain no paths of a run
                return self.shared.get(value, self.value)
            return self.sequence(value)
        if kind is Task:
            return self.task(value)
        if kind is Plan:
            return self._plan(value)
        return self.value(_plain(value))

    def local(self, value: Any) -> Any:
        """Return a recorded value with the paths of this checkout."""
        kind = type(value)  # for speed: every row that is read passes through here
        if kind is str:
            return self.roots.local(value)
        if kind in ATOMS:
            return value
        if kind is dict or isinstance(value, Mapping):
            return {self.roots.local(key): self.local(item) for key, item in value.items()}
        return [self.local(item) for item in value] if isinstance(value, list | tuple) else value

    def hash(self, value: Any) -> str:
        """Return a short hash of a value's recorded form, which is the same in every checkout."""
        return self.hash_of_recorded(self.value(value))

    def hash_of_recorded(self, recorded: Any) -> str:
        """Return the short hash of a recorded value."""
        return digest(recorded)[:HASH]

    def hash_of_tool(self, name: str, description: str, parameters: Mapping[str, Any]) -> str:
        """Return the hash of an offered tool; if the tool is recorded unchanged, all runs share its hash."""
        tool_hash = self.shared.hash_of(name, description, parameters)
        if tool_hash is None:
            tool = [name, description, parameters]
            recorded = self.value(tool)
            tool_hash = self.hash_of_recorded(recorded)
            if recorded == tool:
                self.shared.note_hash(name, description, parameters, tool_hash)
        return tool_hash

    def hash_of_task(self, task: Task, results: Sequence[str | None]) -> str:
        """Return the hash of a task and of the results that it builds on."""
        form = task if id(task) in self._unchanged_tasks else self.task(task)
        if self._unchanged.issuperset(results):
            return short_digest((form, results))
        return short_digest((form, [text if text is None else self._hashed(text) for text in results]))

    def _hashed(self, text: str) -> str | list[str]:
        """Return a result for the hash of a task; long results are replaced by their cached hash."""
        if len(text) <= _SHORT:
            return self.text(text)
        hashed = self._hashes.get(text)
        if hashed is None:
            if len(self._hashes) >= _MAX_CACHED:
                self._hashes.clear()
            self._hashes[text] = hashed = [self.hash(text)]  # a list, to differ from any short text
        return hashed

    def task(self, task: Task) -> dict[str, Any]:
        """Return the recorded form of a task; cached, because the plan and the hash of its inputs both need it."""
        entry = self._tasks.get(id(task))
        if entry is None:
            self._tasks[id(task)] = entry = (task, self._mapping(_plain(task)))
        return entry[1]

    def _plan(self, plan: Plan) -> dict[str, Any]:
        """Return the recorded form of a plan; the tasks of an unchanged plan are left to the encoder."""
        if self._is_unchanged(encode(plan)):
            self._unchanged_tasks.update(zip(map(id, plan.tasks), plan.tasks, strict=True))
            self._unchanged.update(task.id for task in plan.tasks)
            return _plain(replace(plan, tasks=())) | {"tasks": list(plan.tasks)}  # type: ignore[no-any-return]
        tasks = [self.task(task) for task in plan.tasks]
        return {name: tasks if name == "tasks" else self.value(item) for name, item in _plain(plan).items()}

    def _is_unchanged(self, text: str) -> bool:
        """Whether a value with this JSON is surely recorded unchanged: no path, no secret, no secret field."""
        # Without escapes, the JSON contains every string of the value unchanged.
        if not text.isascii() or _SEP in text or "\\" in text or self.secrets.reveals(text):
            return False
        # Field names and task ids repeat, so each string is checked once. A secret is one whole string, unless a word
        # before it marks it.
        strings = '"'.join(set(text.split('"')[1::2]))
        lower = strings.lower()
        if not any(word in lower for word in _SECRET_WORDS):
            return not self.secrets.touches(strings)
        lower = text.lower()
        return not any(name in lower for name in _SECRET_FIELDS) and not self.secrets.touches(text)

    # The two methods below inline `text` for speed: they see every string of every event.

    def sequence(self, value: Sequence[Any]) -> list[Any]:
        """Return the recorded form of a list."""
        shortest = self.secrets.shortest
        return [
            item
            if type(item) is str and len(item) < shortest and _SEP not in item and "⟦" not in item
            else self.value(item)
            for item in value
        ]

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        fields = {}
        shortest, names = self.secrets.shortest, self.secrets.names
        for name, item in value.items():
            key, marks_secret = names.get(name) or self._name(name)
            if marks_secret:
                fields[key] = self._secret_field(key, item)
            elif type(item) is str:
                is_safe = len(item) < shortest and _SEP not in item and "⟦" not in item
                fields[key] = item if is_safe else self.text(item)
            else:
                fields[key] = item if type(item) in ATOMS else self.value(item)
        return fields

    def _name(self, name: Any) -> tuple[str, bool]:
        """Return the recorded name of a field and whether it marks a secret."""
        if type(name) is str and name.isidentifier():  # it contains no path, so it is the same in every run
            return self.secrets.name(name)
        key = self.text(str(name))
        return key, is_secret(key)

    def _secret_field(self, key: str, item: Any) -> Any:
        if type(item) is str:
            return REDACTED if item and is_secret(key) else self.text(item)
        if type(item) in (list, tuple) and is_secret(key):  # such as a repeated header
            return [REDACTED if type(value) is str and value else self.value(value) for value in item]
        return item if type(item) in ATOMS else self.value(item)


@cache
def _free_fields(kind: type[Event]) -> tuple[str, ...]:
    """The fields of an event that may contain a path or a secret: no numbers, literals or hashes of ours."""
    return tuple(field.name for field in msgspec.structs.fields(kind) if not _is_fixed(inspect.type_info(field.type)))


class _FreeTexts(dict[type["Event"], "Callable[[Event], tuple[Any, ...]] | None"]):
    """Getters of these fields' values by event type; None for events with a field that is never a text.

    A lookup in a dict is faster than a cached call.
    """

    def __missing__(self, kind: type[Event]) -> Callable[[Event], tuple[Any, ...]] | None:
        names = _free_fields(kind)
        types = {field.name: inspect.type_info(field.type) for field in msgspec.structs.fields(kind)}
        if not all(_may_be_text(types[name]) for name in names):
            self[kind] = None
            return None
        # attrgetter returns a tuple only for several names; it is much faster than a function.
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
    """Return a struct, such as a message or a task, as JSON values; other objects become text."""
    return msgspec.to_builtins(value, enc_hook=str)
