"""The keys of a task that ask something of its result, `output_schema`, `check` and `model`, and their faults.

Faults go into the prompt that asks a model again: changing their text breaks strict replay of recorded runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_planner.plan.forms.output_schema import excluded, schema_faults, short
from goalwright_planner.plan.references import ITEM, strings
from goalwright_skills.text.nearest import known_are

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.plan.references import Reference

MOST_TRIES = 10
_CHECK_KEYS = ("ask", "tries", "model")


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


def form_faults(row: Mapping[str, Any], models: Sequence[str]) -> Iterator[str]:
    """What is wrong with these keys of one task; `models` are the names that it may use."""
    if row.get("action_type") == "tool":
        yield from _tool_faults(row)
        return
    if row.get("output_schema") is not None:
        yield from schema_faults(row["output_schema"])
    if row.get("action_type") == "goal":
        yield from _goal_faults(row)
        return
    yield from _model_faults(row.get("model"), "'model'", models)
    if row.get("check") is not None:
        yield from _check_faults(row["check"], models)
        if row.get("for_each") is None and any(ITEM.search(text) for text in strings(row["check"])):
            yield "<<item>> in 'check' is an item of 'for_each', which is missing; add it, or leave <<item>> out"


def _tool_faults(row: Mapping[str, Any]) -> Iterator[str]:
    """A tool's result comes from no model, so that none can be asked for it again."""
    if row.get("output_schema") is not None:
        yield "a tool task cannot have 'output_schema'; fields of its JSON text can be referred to without"
    if row.get("check") is not None:
        yield "a tool task cannot have 'check'; check the result in a task that depends on it"
    if row.get("model") is not None:
        yield "a tool task cannot have 'model'; it calls none"


def _goal_faults(row: Mapping[str, Any]) -> Iterator[str]:
    """A goal is done by many calls, none of which alone can be done again."""
    if row.get("check") is not None:
        yield "a goal task cannot have 'check'; check the result in a task that depends on it"
    if row.get("model") is not None:
        yield "a goal task cannot have 'model'; its tasks may"


def _check_faults(check: object, models: Sequence[str]) -> Iterator[str]:
    if not isinstance(check, Mapping):
        yield f'\'check\' must be an object such as {{"ask": "Does it …?", "tries": 2}}, not {short(check)}'
        return
    ask, tries = check.get("ask"), check.get("tries")
    if not (isinstance(ask, str) and ask.strip()):
        yield "'check' needs 'ask', what must hold for the result"
    if tries is not None and not (isinstance(tries, int) and not isinstance(tries, bool) and 0 <= tries <= MOST_TRIES):
        yield f"'check.tries' must be a whole number from 0 to {MOST_TRIES}, not {short(tries)}"
    for key in check:
        if key not in _CHECK_KEYS:
            yield f"'check' has an unknown key {key!r}; use only {', '.join(_CHECK_KEYS)}"
    yield from _model_faults(check.get("model"), "'check.model'", models)


def _model_faults(name: object, where: str, models: Sequence[str]) -> Iterator[str]:
    if name is None:
        return
    if not isinstance(name, str):
        yield f"{where} must be the name of a model, not {short(name)}"
    elif name not in models:
        yield f"{where} is {name!r}, which is not the name of a model here; {known_are(name, models)}"


def field_fault(reference: Reference, row: Mapping[str, Any], *, needs_form: bool = True) -> str | None:
    """Why the result of a task cannot have the field that a reference names; None if it may.

    Without a schema a result may be JSON all the same, unless it is the joined text of a list's items. A reference that
    `needs_form` is filled in, and cannot be empty; a condition reads whatever there is.
    """
    schema, many = row.get("output_schema"), row.get("for_each") is not None
    if reference.item is not None:
        if (why := _item_fault(reference, row)) is not None:
            return why
        many = False
    if not reference.path:
        return None
    if schema is None and needs_form and many:
        whole = f"<<{reference.of}.output>>"
        return f"but {reference.id!r} has no output_schema; give it one with that field, or write {whole}"
    if not isinstance(schema, Mapping) or next(schema_faults(schema), None) is not None:
        return None  # of the schema, a fault of its own
    # The output of a task for each item is the list of their outputs.
    why = excluded({"type": "array", "items": schema} if many else schema, reference.path)
    return None if why is None else f"but in the output_schema of {reference.id!r} {why}"


def _item_fault(reference: Reference, row: Mapping[str, Any]) -> str | None:
    """Why a task cannot have the item that a reference names; None if it may."""
    source, first = row.get("for_each"), row.get("first")
    if source is None:
        return (
            f"but {reference.id!r} has no for_each, so it has no items; write <<{reference.id}.output[0]>> for a value"
        )
    counts = [len(source)] if isinstance(source, list | tuple) else []
    counts += [first] if isinstance(first, int) else []
    if counts and reference.item is not None and reference.item > min(counts):
        return f"but {reference.id!r} has {min(counts)} items, and the first is [1]"
    return None
