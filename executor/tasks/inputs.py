"""What a task is given: references filled in, and upstream results within a budget."""

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

# Characters reserved for the note at the end of a shortened text, however long its path is in this checkout.
_NOTE = 300
# Characters that a shortened text has at least.
_LEAST = 200


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """An upstream task's output as a prompt shows it."""

    id: str
    title: str
    text: str


def fill(text: str, results: Mapping[str, str]) -> str:
    """The text with each `<<id.output>>` replaced; a reference inside a result is left alone."""
    return REFERENCE.sub(lambda match: results.get(match.group(1), match.group()), text)


def fill_arguments(
    arguments: Mapping[str, Any], results: Mapping[str, str], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """A tool's arguments with references filled; a lone reference that is not for a string is read as JSON."""
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
                    return text  # the tool's argument check says what is wrong with it
            return text
        case Mapping():
            return {key: _filled(item, results, "string") for key, item in value.items()}
        case list():
            return [_filled(item, results, "string") for item in value]
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


def results_for(task: Task, plan: Plan, texts: Mapping[str, str]) -> list[UpstreamResult]:
    """The results that a task's prompt lists: its dependencies', except those its instruction already contains."""
    contained = set(task.references)
    return [
        UpstreamResult(before, plan.task(before).title, texts[before])
        for before in task.depends_on
        if before not in contained
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
