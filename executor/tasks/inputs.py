"""What a task is given: references filled in, and upstream results within a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.plan import fan_out
from planner.plan.plan import REFERENCE, strings
from planner.plan.references import ITEM, MISSING, as_text
from planner.plan.task_id import number_of
from skills.errors import WeftError

if TYPE_CHECKING:
    from pathlib import Path

    from executor.tasks.artifacts import Artifacts
    from planner.plan.plan import Plan, Task

# Characters reserved for the note at the end of a shortened text, however long its path is in this checkout.
_NOTE = 300
# Characters that a shortened text has at least.
_LEAST = 200
_ITEM_OR_REFERENCE = re.compile(f"{ITEM.pattern}|{REFERENCE.pattern}")


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """An upstream task's output as a prompt shows it."""

    id: str
    title: str
    text: str


def fill(text: str, results: Mapping[str, str], item: Mapping[str, str] | None = None) -> str:
    """The text with each `<<id.output>>` replaced, and each `<<item…>>` by its path where there is an item.

    All are replaced at once: a reference inside a result or an item is left alone.
    """
    if item is None:
        return REFERENCE.sub(lambda match: results.get(match.group(1), match.group()), text)
    return _ITEM_OR_REFERENCE.sub(
        lambda match: item[match["path"]] if match[2] is None else results.get(match[2], match.group()), text
    )


def given_to(task: Task, results: Mapping[str, str]) -> dict[str, str]:
    """The results that a task builds on; one that it refers to is empty if that task has none."""
    names = dict.fromkeys((*task.depends_on, *task.references))
    referred = task.references
    return {name: results.get(name, "") for name in names if name in results or name in referred}


def item_texts(task: Task) -> dict[str, str] | None:
    """What each `<<item…>>` of a task stands for, by its path; None for a task that is for no item."""
    if task.item is None:
        return None
    texts = strings((task.instruction, task.arguments))
    values = fan_out.item_values(texts, task.item.value, number_of(task.id) or 0)
    for path, value in values.items():
        if value is MISSING:
            item = fan_out.heading(task.item.value)
            raise WeftError(f"there is no <<item{path}>>: the item has no {path.lstrip('.')!r}: {item}")
    return {path: as_text(value) for path, value in values.items()}


def fill_arguments(
    arguments: Mapping[str, Any],
    results: Mapping[str, str],
    schema: Mapping[str, Any],
    item: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A tool's arguments with references filled; a lone reference that is not for a string is read as JSON."""
    properties = schema.get("properties", {})
    return {
        name: _filled(value, results, properties.get(name, {}).get("type", "string"), item)
        for name, value in arguments.items()
    }


def _filled(value: Any, results: Mapping[str, str], wanted: str, item: Mapping[str, str] | None) -> Any:
    match value:
        case str():
            text = fill(value, results, item)
            lone = REFERENCE if item is None else _ITEM_OR_REFERENCE
            if wanted != "string" and lone.fullmatch(value.strip()):
                try:
                    return json.loads(text)
                except ValueError:
                    return text  # the tool's argument check says what is wrong with it
            return text
        case Mapping():
            return {key: _filled(inner, results, "string", item) for key, inner in value.items()}
        case list():
            return [_filled(inner, results, "string", item) for inner in value]
        case _:
            return value


def shorten(texts: Mapping[str, str], budget: int, artifacts: Artifacts) -> dict[str, str]:
    """The texts, shortened to fit the budget together; a note at the end says where the whole text is.

    Short texts stay whole; what they leave is shared evenly among the long ones. Lengths are counted as recorded, with
    paths relative to named roots, so that a run has the same prompts in another checkout.
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


def nothing_below(_: str) -> str:
    """For results below which nothing stands."""
    return ""


def results_for(
    task: Task, plan: Plan, texts: Mapping[str, str], below: Callable[[str], str] = nothing_below
) -> list[UpstreamResult]:
    """The results that a task's prompt lists: its dependencies', except those its instruction already contains.

    `below` gives what else stands below a task's result, even if the result itself is in the instruction.
    """
    contained = set(task.references)
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
    """The beginning of a text, not cut inside the name of a root."""
    cut = text[: max(allowed - _NOTE, _LEAST)]
    opened = cut.rfind("⟦")
    return cut[:opened] if opened > cut.rfind("⟧") else cut


def _note(text: str, whole: Path) -> str:
    return f"\n[… shortened: {len(text):,} characters in all; read the rest with ReadFile, path {whole}]"
