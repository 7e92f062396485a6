"""Reads a plan from a model's answer or a file: the document in its normal form, what was repaired, and all faults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from weft_planner.plan import loose_json
from weft_planner.plan.json_answer import NotJson, breaks_off, complaint, fenced, objects, without_thinking
from weft_planner.plan.loose_json import Ambiguous
from weft_planner.plan.normal_form import normal_form
from weft_planner.plan.shape import SHAPES
from weft_planner.plan.validate import problems
from weft_skills.text.nesting import MOST_LEVELS, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft_planner.plan.shape import PlanShape
    from weft_planner.plan.validate import Known

_TOOL_CALL = re.compile(r"<(tool_call|function_call)>\s*(.*?)\s*</\1>", re.DOTALL)
_MAX_PIECES = 50
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """A plan document as it was read; it can run if it has no faults."""

    document: Any
    faults: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def told(repairs: tuple[str, ...]) -> str:
    """Repairs in one line; the first few of many."""
    more = f" and {len(repairs) - _SHOWN} more" if len(repairs) > _SHOWN else ""
    return "; ".join(repairs[:_SHOWN]) + more


def read_answer(text: str, shape: PlanShape, known: Known) -> Reading:
    """The plan in a model's answer; raises NotJson if there is none."""
    value, form = find(text, "tasks", "clarification")
    if not _has(value, ("tasks", "clarification")) and breaks_off(text):
        raise NotJson("the answer breaks off before its JSON is closed")
    return read_document(value, shape, known, (form,) if form else ())


def read_document(document: Any, shape: PlanShape, known: Known, repairs: tuple[str, ...] = ()) -> Reading:
    """The plan in a document, in its normal form."""
    if is_too_deep(document):
        return Reading({}, (f"the plan is nested more than {MOST_LEVELS} levels deep; make it flatter",))
    form = normal_form(document)
    widened = shape.widen(form.document)
    faults = (*form.faults, *problems(widened, known))
    return Reading(widened, faults, (*repairs, *form.repairs))


def read_plan(document: Any, known: Known) -> Reading:
    """A full plan that comes as a document, such as one in a file."""
    return read_document(document, SHAPES["full"], known)


def find(text: str, *keys: str) -> tuple[Any, str]:
    """The document in an answer and how it differs from JSON; of several, the last that has one of the keys."""
    answer = without_thinking(text)
    if not answer.strip():
        raise NotJson("the answer is empty")
    documents, unclear = _documents(answer)
    fitting = [document for document in documents if _has(document[0], keys)]
    if not (fitting or documents):
        raise unclear or NotJson(complaint(answer))
    return fitting[-1] if fitting else documents[0]


def _documents(answer: str) -> tuple[list[tuple[Any, str]], Ambiguous | None]:
    """Every document in an answer: the whole of it, in tool calls and fences, or else embedded in prose."""
    calls = [match[2] for match in _TOOL_CALL.finditer(answer)]
    documents, unclear = _load_all((answer, *calls, *fenced(answer)))
    if documents or unclear:
        return documents, unclear
    embedded, unclear = _load_all(islice(objects(answer), _MAX_PIECES))
    return [document for document in embedded if isinstance(document[0], dict)], unclear


def _load_all(texts: Iterable[str]) -> tuple[list[tuple[Any, str]], Ambiguous | None]:
    documents: list[tuple[Any, str]] = []
    unclear = None
    for text in texts:
        try:
            documents.append(loose_json.load(text))
        except Ambiguous as error:
            unclear = error
        except (ValueError, RecursionError):
            continue
    return documents, unclear


def _has(document: Any, keys: tuple[str, ...]) -> bool:
    forms = (document, normal_form(document).document)
    return any(isinstance(form, dict) and not form.keys().isdisjoint(keys) for form in forms)
