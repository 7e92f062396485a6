"""What an event is, and how one is read: each is a class with typed fields, and msgspec does the rest."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Protocol, TypeVar

import msgspec

from goalwright_skills.errors import InputError


def _type_name(class_name: str) -> str:
    """The type as traces spell it: `task_started` for TaskStarted."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happened in a run; a subclass is a type of its own, and its fields are what is recorded."""

    # Without a tag: records have the type beside the fields, and taking it out of the JSON of each costs too much.


# A hash that we made, of values without secrets: such a field is recorded as it is.
HASHED = {"hashed": True}
Hash = Annotated[str, msgspec.Meta(extra=HASHED)]

Record = Callable[[Event], object]

AnyEvent = TypeVar("AnyEvent", bound=Event)


class Recorder(Protocol):
    """Takes an event, and returns it as it is on record.

    A new event comes back as it is. In a replay, what a step decided comes back as it was decided then.
    """

    def __call__(self, event: AnyEvent, /) -> AnyEvent:
        """Record an event."""


@cache
def type_of(kind: type[Event]) -> str:
    """The type of an event class, as records have it."""
    return _type_name(kind.__name__)


def to_dict(event: Event) -> dict[str, Any]:
    """The event as plain values, its type first."""
    fields: dict[str, Any] = msgspec.to_builtins(event, enc_hook=str)
    return {"type": type_of(type(event))} | fields


def decode(kind: str, fields: Mapping[str, Any]) -> Event | None:
    """The event of a type with these fields; None if this version does not know the type.

    Fields that it does not know are ignored, and missing ones have their defaults.
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
    """The class of a type: what is declared is known, without a list to keep."""
    if kind not in _CLASSES:
        with _FIRST_USE:
            declared = next((one for one in Event.__subclasses__() if type_of(one) == kind), None)
            if declared is not None:
                msgspec.json.Decoder(declared)  # msgspec crashes if two threads are the first to read a class
                _CLASSES[kind] = declared
    return _CLASSES.get(kind)


_CLASSES: dict[str, type[Event]] = {}
_FIRST_USE = threading.Lock()
