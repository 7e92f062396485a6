"""The base class of events, and how events are encoded and decoded with msgspec."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Protocol, TypeVar

import msgspec

from goalwright_skills.errors import InputError


def _type_name(class_name: str) -> str:
    """Return the type as traces spell it: `task_started` for TaskStarted."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happened in a run; a subclass is a type of its own, and its fields are what is recorded."""

    # No tag: records store the type beside the fields, and removing it from the JSON of each event is slow.


# Marks a field that holds a hash of ours, made of values without secrets: it is recorded unchanged.
HASHED = {"hashed": True}
Hash = Annotated[str, msgspec.Meta(extra=HASHED)]

Record = Callable[[Event], object]

AnyEvent = TypeVar("AnyEvent", bound=Event)


class Recorder(Protocol):
    """Records an event and returns the recorded one.

    In a replay, a decision of a step is returned as it was made in the original run; otherwise the event itself.
    """

    def __call__(self, event: AnyEvent, /) -> AnyEvent:
        """Record an event."""


@cache
def type_of(kind: type[Event]) -> str:
    """Return the type name of an event class."""
    return _type_name(kind.__name__)


def to_dict(event: Event) -> dict[str, Any]:
    """Return the event as plain values, its type first."""
    fields: dict[str, Any] = msgspec.to_builtins(event, enc_hook=str)
    return {"type": type_of(type(event))} | fields


def decode(kind: str, fields: Mapping[str, Any]) -> Event | None:
    """Return the event of a type with these fields; None if this version does not know the type.

    Unknown fields are ignored, and missing ones have their defaults.
    """
    event_class = _class_of(kind)
    if event_class is None:
        return None
    try:
        return msgspec.convert(fields, event_class)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(
            f"an event of type {kind!r} is malformed: {error}", hint="export the run again with goalwright trace export"
        ) from error


def _class_of(kind: str) -> type[Event] | None:
    """Return the declared class of a type, if there is one."""
    if kind not in _CLASSES:
        with _FIRST_USE:
            declared = next((cls for cls in Event.__subclasses__() if type_of(cls) == kind), None)
            if declared is not None:
                msgspec.json.Decoder(declared)  # msgspec crashes if two threads are the first to decode a class
                _CLASSES[kind] = declared
    return _CLASSES.get(kind)


_CLASSES: dict[str, type[Event]] = {}
_FIRST_USE = threading.Lock()
