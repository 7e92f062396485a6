"""The tasks of a plan by what a model calls them: their ids, in any case, their titles, and references to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_REFERENCES = (
    re.compile(r"<<\s*([\w-]+)(?:\.[\w.\[\]-]+)?\s*>>"),
    re.compile(r"\$?\{+\s*([\w-]+)(?:\.[\w.\[\]-]+)?\s*\}+"),
    re.compile(r"[$@#]([\w-]+)(?:\.(?:output|result)s?)?"),
)
_QUOTES = "`'\"“”"
_BETWEEN = re.compile(r"[,;\n|]|\s+(?:and|und|then)\s+|\s*[&+]\s*|\s*(?:[-=~.]+>|<[-=~.]+|[→⟶⇒➔➡←⇐])\s*")
_FOLDED = re.compile(r"[\s_\-./]+")


def folded(key: object) -> str:
    """A key without its case and its separators: `Depends-On` is `dependson`; in YAML, it may be a number."""
    return _FOLDED.sub("", str(key)).casefold()


@dataclass(slots=True)
class TaskNames:
    """Finds tasks by their names; a name that two tasks share finds neither."""

    ids: Sequence[str]
    places: Mapping[str, int] = field(default_factory=dict)
    _others: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> TaskNames:
        """The names of the tasks in these rows."""
        ids = [str(row.get("id")) for row in rows]
        names = cls(ids, {task_id: at for at, task_id in enumerate(ids)})
        for row, task_id in zip(rows, names.ids, strict=True):
            title = row.get("title")
            for name in {_plain(task_id), _plain(title) if isinstance(title, str) else ""} - {""}:
                names._others[name] = task_id if names._others.get(name, task_id) == task_id else None
        return names

    def id_of(self, value: object) -> str | None:
        """The task that a value is the name of, or one reference to."""
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return None
        for text in (value, value.strip().strip(_QUOTES)):
            if text in self.places:
                return text
        for pattern in _REFERENCES:
            if (match := pattern.fullmatch(value.strip().strip(_QUOTES))) is not None:
                return self.id_of(match[1])
        return self._others.get(_plain(value))

    def all_of(self, value: object) -> list[str] | None:
        """The tasks that a value lists and nothing else: one name, a list of them, or names between commas."""
        match value:
            case None | "":
                return []
            case Mapping():
                named = [self.all_of(item) for item in value.values()]
            case list() | tuple():
                named = [self.all_of(item) for item in value]
            case str() if self.id_of(value) is None:
                parts = [
                    part for part in re.split(r"[,;\n]|\s+and\s+|\s*&\s*", value.strip().strip("[]")) if part.strip()
                ]
                named = [None if (one := self.id_of(part)) is None else [one] for part in parts] or [None]
            case _:
                one = self.id_of(value)
                named = [None if one is None else [one]]
        if any(ids is None for ids in named):
            return None
        return list(dict.fromkeys(one for ids in named for one in ids or ()))

    def named_in(self, value: object) -> list[str]:
        """Every task that a value names anywhere: as a key, as a part of a list or of a text, or by a reference."""
        found = {one for text in _texts(value) if (one := self.id_of(text)) is not None}
        return sorted(found, key=self.places.__getitem__)


def _plain(text: str) -> str:
    return " ".join(text.strip().strip(_QUOTES).split()).casefold()


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
            yield from _BETWEEN.split(value)
            for pattern in _REFERENCES[:2]:
                yield from (match[0] for match in pattern.finditer(value))
            yield from (match[0] for match in re.finditer(r"(?<!\w)\$[\w-]+", value))
        case bool():
            return
        case int():
            yield str(value)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case Mapping():
            for key, item in value.items():
                yield from _texts(str(key))
                yield from _texts(item)
