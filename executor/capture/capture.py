"""Turns values into recorded ones, without secrets and with paths relative to named roots, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any

from executor.capture.fast_json import digest
from executor.capture.named_roots import NamedRoots
from executor.capture.secrets import REDACTED, Secrets, is_secret
from executor.capture.shared_lists import SharedLists
from planner.event_fields import ATOMS, field_names
from planner.events import SkillPrint

if TYPE_CHECKING:
    from planner.events import Event

# Characters of a hash.
HASH = 32


@dataclass(frozen=True, slots=True)
class Capture:
    """How one run's values are recorded: its named roots, its secrets, and what it shares with other runs."""

    roots: NamedRoots = field(default_factory=lambda: NamedRoots({}))
    secrets: Secrets = field(default_factory=Secrets)
    shared: SharedLists = field(default_factory=SharedLists, compare=False)

    def text(self, text: str) -> str:
        """The text as it is recorded."""
        if len(text) < self.secrets.shortest and os.sep not in text and "⟦" not in text:
            return text
        return self.secrets.redact(self.roots.portable(text))

    def event(self, event: Event) -> dict[str, Any]:
        """An event's fields as they are recorded; only names inside its values, not its own, may mark a secret."""
        kind: type = type(event)
        found: dict[str, Any] = {}
        for name in field_names(kind):
            item = getattr(event, name)
            if type(item) is str:
                found[name] = self.text(item)
            else:
                found[name] = item if type(item) in ATOMS else self.value(item)
        return found

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
                return self.shared.get(value, self._fields)
            return [self.value(item) for item in value]
        if hasattr(value, "to_dict"):
            return self.value(value.to_dict())
        return self._fields(value) if is_dataclass(value) else value

    def local(self, value: Any) -> Any:
        """A recorded value with the paths of this checkout."""
        match value:
            case str():
                return self.roots.local(value)
            case Mapping():
                return {self.roots.local(key): self.local(item) for key, item in value.items()}
            case list() | tuple():
                return [self.local(item) for item in value]
            case _:
                return value

    def hash(self, value: Any) -> str:
        """A short hash of a JSON-like value as it would be recorded: the same here and in another checkout."""
        return digest(self.value(value))[:HASH]

    def _fields(self, value: Any) -> dict[str, Any]:
        kind: type = type(value)
        return {name: self._item(name, getattr(value, name)) for name in field_names(kind)}

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        found = {}
        for name, item in value.items():
            is_plain = type(name) is str and name.isidentifier()
            key = self.secrets.name(name) if is_plain else self.text(str(name))
            if type(item) is str and not is_secret(key):  # as nearly always
                found[key] = self.text(item)
            else:
                found[key] = self._item(key, item)
        return found

    def _item(self, key: str, item: Any) -> Any:
        if type(item) is str:
            return REDACTED if item and is_secret(key) else self.text(item)
        if type(item) in (list, tuple) and is_secret(key):  # a repeated header, or old passwords
            return [REDACTED if type(one) is str and one else self.value(one) for one in item]
        return item if type(item) in ATOMS else self.value(item)
