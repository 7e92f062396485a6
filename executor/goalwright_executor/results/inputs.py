"""The inputs of a task: references filled in, and upstream results within a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_executor.results.task_results import is_known, value_of
from goalwright_planner.plan import fan_out
from goalwright_planner.plan.output_schema import canonical
from goalwright_planner.plan.references import (
    ITEM,
    MISSING,
    REFERENCE,
    Reference,
    as_text,
    reference_of,
    references,
    strings,
)
from goalwright_planner.plan.task_id import number_of
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_executor.results.artifacts import Artifacts
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import PreviousRound, Task
    from goalwright_planner.prompting.prompts import Prompts

# Characters reserved for the note at the end of a shortened text, independent of its path's length.
_NOTE = 300
# The least characters of a shortened text.
_LEAST = 200
_ANY = re.compile(r"<<[^<>]*>>")  # a reference, or text that looks like one


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """An upstream task's output as a prompt shows it."""

    id: str
    title: str
    text: str


def texts_of(references: Iterable[Reference], results: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each reference by its key; empty if the task has no result.

    References to unknown tasks are quotes and stay unchanged. Raises MissingField.
    """
    known = (reference for reference in references if is_known(reference, results))
    return {reference.key: _text(value_of(reference, results)) for reference in known}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def given_to(task: Task, results: Mapping[str, str]) -> dict[str, str]:
    """Return the results that a task builds on, and the fields in its texts, by their keys."""
    return {name: results[name] for name in task.depends_on if name in results} | texts_of(task.given, results)


def fill(text: str, texts: Mapping[str, str], item: Mapping[str, str] | None = None) -> str:
    """Replace references by their keys, and each `<<item…>>` by its path if there is an item.

    All are replaced at once: a reference inside a result or an item stays unchanged.
    """
    if "<<" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        if item is not None and (of_item := ITEM.fullmatch(match[0])) is not None:
            return item[of_item["path"]]
        reference = REFERENCE.fullmatch(match[0])
        return match[0] if reference is None else texts.get(reference_of(reference).key, match[0])

    return _ANY.sub(replaced, text)


def item_texts(task: Task) -> dict[str, str] | None:
    """Return the value of each `<<item…>>` of a task by its path; None for a task without an item."""
    if task.item is None:
        return None
    texts = strings((task.instruction, task.arguments, task.asked, task.needs_approval))
    values = fan_out.item_values(texts, task.item.value, number_of(task.id) or 0)
    for path, value in values.items():
        if value is MISSING:
            item = fan_out.heading(task.item.value)
            raise GoalwrightError(f"there is no <<item{path}>>: the item has no {path.lstrip('.')!r}: {item}")
    return {path: as_text(value) for path, value in values.items()}


def fill_arguments(task: Task, results: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool task with references filled in.

    A lone reference is read as JSON unless the parameter is a string; a reference to a field has the field's value.
    """
    arguments = task.arguments if isinstance(task.arguments, Mapping) else {}
    filling = _Filling(results, item_texts(task))
    properties = schema.get("properties", {})
    return {name: filling.value(value, properties.get(name, {})) for name, value in arguments.items()}


@dataclass(frozen=True, slots=True)
class _Filling:
    """Fills in the values of one tool task's arguments."""

    results: Mapping[str, str]
    item: Mapping[str, str] | None

    def value(self, value: Any, schema: Mapping[str, Any], *, nested: bool = False) -> Any:
        match value:
            case str():
                return self._text(value, schema, nested=nested)
            case Mapping():
                inner = schema.get("properties", {})
                return {
                    key: self.value(inner_value, inner.get(key, {}), nested=True) for key, inner_value in value.items()
                }
            case list():
                return [self.value(inner_value, schema.get("items", {}), nested=True) for inner_value in value]
            case _:
                return value

    def _text(self, value: str, schema: Mapping[str, Any], *, nested: bool) -> Any:
        kind = schema.get("type", None if nested else "string")
        field = REFERENCE.fullmatch(value.strip())
        is_item = self.item is not None and ITEM.fullmatch(value.strip()) is not None
        if field is not None and field["path"] and not is_item and is_known(reference_of(field), self.results):
            value = value_of(reference_of(field), self.results)
            return _text(value) if kind == "string" else value
        text = fill(value, texts_of(references(value), self.results), self.item)
        if nested or kind == "string" or not (field or is_item):
            return text
        try:
            return json.loads(text)
        except ValueError:
            return text  # the tool's argument check reports it


def shorten(texts: Mapping[str, str], budget: int, artifacts: Artifacts) -> dict[str, str]:
    """Shorten texts to fit the budget together; a note at the end says where the whole text is.

    Short texts stay whole, and the others share the rest evenly. Lengths are counted with paths relative to named
    roots, so that a run has the same prompts in another checkout.
    """
    roots = artifacts.roots
    portable = {name: roots.portable(text) for name, text in texts.items()}
    allowed = _shares({name: len(text) for name, text in portable.items()}, budget)
    return {
        name: text
        if len(portable[name]) <= allowed[name]
        else roots.local(_cut(portable[name], allowed[name]))
        + _note(portable[name], artifacts.keep(f"{name}.md", text))
        for name, text in texts.items()
    }


def beginning(text: str, budget: int, artifacts: Artifacts) -> tuple[str, int]:
    """Return the beginning of a text and the number of omitted characters, the same in any checkout."""
    roots = artifacts.roots
    portable = roots.portable(text)
    if len(portable) <= budget:
        return text, 0
    cut = _whole_names(portable[:budget])
    return roots.local(cut), len(portable) - len(cut)


def nothing_below(_: str) -> str:
    """Return nothing to show below a result."""
    return ""


def results_for(
    task: Task, plan: Plan, texts: Mapping[str, str], below: Callable[[str], str] = nothing_below
) -> list[UpstreamResult]:
    """Return the results that a task's prompt lists: its dependencies', unless its instruction contains them.

    `below` returns text to show below a task's result, even if the instruction contains the result.
    """
    contained = {reference.id for reference in task.given if reference.is_whole}
    listed = {
        before: (texts[before] if before not in contained else "") + below(before)
        for before in dict.fromkeys((*task.depends_on, *task.references))
        if before in texts and before in plan
    }
    return [
        UpstreamResult(before, plan.task(before).title, text.lstrip("\n") if before in contained else text)
        for before, text in listed.items()
        if text or before not in contained
    ]


def _shares(lengths: Mapping[str, int], budget: int) -> dict[str, int]:
    shares: dict[str, int] = {}
    left = budget
    for count, name in enumerate(sorted(lengths, key=lambda name: lengths[name])):
        share = max(left, 0) // (len(lengths) - count)
        shares[name] = min(lengths[name], share)
        left -= shares[name]
    return shares


def _cut(text: str, allowed: int) -> str:
    """Return the beginning of a text, not cut inside the name of a root."""
    return _whole_names(text[: max(allowed - _NOTE, _LEAST)])


def _whole_names(cut: str) -> str:
    opened = cut.rfind("⟦")
    return cut[:opened] if opened > cut.rfind("⟧") else cut


def _note(text: str, whole: Path) -> str:
    return f"\n[… shortened: {len(text):,} characters in all; read the rest with ReadFile, path {whole}]"


def previous_round(previous: PreviousRound, prompts: Prompts, budget: int, artifacts: Artifacts) -> str:
    """Return the text that shows a result as the previous attempt; of a long one, the beginning."""
    result, left = beginning(previous.result, budget, artifacts)
    variables = {"until": previous.until, "why": previous.why, "result": result, "left": left}
    return prompts.render("round", "user", variables)
