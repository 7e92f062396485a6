"""How texts enter a record: without secrets, with paths relative to named roots; and how they come back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from executor.journal.roots import NamedRoots
from executor.journal.secrets import REDACTED, Secrets, is_secret


@dataclass(frozen=True, slots=True)
class Capture:
    """One run's way of writing things down."""

    roots: NamedRoots = field(default_factory=lambda: NamedRoots({}))
    secrets: Secrets = field(default_factory=Secrets)

    def text(self, text: str) -> str:
        """The text as it is recorded."""
        return self.secrets.redact(self.roots.portable(text))

    def value(self, value: Any) -> Any:
        """A JSON-like value with every text in it as it is recorded."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(key)): self._field(str(key), item) for key, item in value.items()}
            case list() | tuple():
                return [self.value(item) for item in value]
            case _:
                return value

    def local(self, value: Any) -> Any:
        """A recorded value with paths as they are here."""
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
        text = json.dumps(self.value(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _field(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value and is_secret(name):
            return REDACTED
        return self.value(value)
