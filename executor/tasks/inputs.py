"""What a task is given: references filled in, and earlier results within a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.plan.plan import REFERENCE

if TYPE_CHECKING:
    from pathlib import Path

    from executor.tasks.artifacts import Artifacts
    from planner.plan.plan import Plan, Task

# What a cut text leaves for the note at its end, which names a path, however long that is here.
_NOTE = 300
_LEAST = 200


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """An earlier task's output as a later one sees it."""

    id: str
    title: str
    text: str


def fill(text: str, results: Mapping[str, str]) -> str:
    """The text with each `<<id.output>>` replaced, once: what a result says is never read as a reference."""
    return REFERENCE.sub(lambda match: results.get(match.group(1), match.group()), text)


def fill_arguments(
    arguments: Mapping[str, Any], results: Mapping[str, str], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """A tool's arguments with references filled; one that is a lone reference and no string is read as JSON."""
    properties = schema.get("properties", {})
    return {
        name: _filled(value, results, properties.get(name, {}).get("type", "string"))
        for name, value in arguments.items()
    }


def _filled(value: Any, results: Mapping[str, str], wanted: str) -> Any:
    match value:
        case str():
            text = fill(value, results)
            if wanted != "string" and REFERENCE.fullmatch(value.strip()):
                try:
                    return json.loads(text)
                except ValueError:
                    return text  # the tool's own check of its arguments says what is wrong with it
            return text
        case Mapping():
            return {key: _filled(item, results, "string") for key, item in value.items()}
        case list():
            return [_filled(item, results, "string") for item in value]
        case _:
            return value


def shorten(texts: Mapping[str, str], budget: int, artifacts: Artifacts) -> dict[str, str]:
    """The texts, those that do not fit into the budget together cut, with a note where the whole one lies.

    Short texts stay whole; what they leave is shared evenly among the long ones. Lengths are those of the record, where
    paths begin with their roots' names, so that a run has the same prompts in another checkout.
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


def results_for(task: Task, plan: Plan, texts: Mapping[str, str]) -> list[UpstreamResult]:
    """The results that a task's prompt lists: its dependencies', save those its instruction holds already."""
    inside = set(task.references)
    return [
        UpstreamResult(before, plan.task(before).title, texts[before])
        for before in task.depends_on
        if before not in inside
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
    """The beginning of a text, not ending within the name of a root."""
    cut = text[: max(allowed - _NOTE, _LEAST)]
    begun = cut.rfind("⟦")
    return cut[:begun] if begun > cut.rfind("⟧") else cut


def _note(text: str, whole: Path) -> str:
    return f"\n[… shortened: {len(text):,} characters in all; read the rest with ReadFile, path {whole}]"
