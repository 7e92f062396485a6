"""Reads a plan from a model's answer or a file: text, JSON document, normal form, validated plan document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_planner.json_answer import NotJson, breaks_off, complaint, fences, objects, without_thinking
from goalwright_planner.plan.validate import problems
from goalwright_planner.reading import loose_json
from goalwright_planner.reading.loose_json import Ambiguous, LeftOut, marks_omission
from goalwright_planner.reading.normal_form import has_key, is_task_list, normal_form, task_ids, task_names, unwrapped
from goalwright_planner.reading.shape import SHAPES
from goalwright_skills.text.untrusted import MOST_LEVELS, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_planner.plan.known import Known
    from goalwright_planner.reading.shape import PlanShape

_TOOL_CALL = re.compile(r"<(tool_call|function_call)>\s*(.*?)\s*</\1>", re.DOTALL)
_MAX_PIECES = 50
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """A plan document as it was read; the plan can run if there are no faults."""

    document: Any
    faults: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def summary(repairs: tuple[str, ...]) -> str:
    """Return repairs in one line; only the first few of many."""
    more = f" and {len(repairs) - _SHOWN} more" if len(repairs) > _SHOWN else ""
    return "; ".join(repairs[:_SHOWN]) + more


def read_answer(text: str, shape: PlanShape, known: Known) -> Reading:
    """Read the plan in a model's answer; raises NotJson if there is none, or more than one."""
    keys = ("tasks", "clarification", *(("answer",) if known.direct else ()))
    answer = find(text, *keys)
    if not has_key(answer.document, keys) and breaks_off(text):
        raise NotJson("the answer breaks off before its JSON is closed")
    reading = read_document(answer.document, shape, known, (answer.repair,) if answer.repair else ())
    return replace(reading, faults=(*reading.faults, *faults_beside(answer, reading.document)))


def read_document(document: Any, shape: PlanShape, known: Known, repairs: tuple[str, ...] = ()) -> Reading:
    """Read the plan in a document: bring it into its normal form and full shape, and validate it."""
    if is_too_deep(document):
        return Reading({}, (f"the plan is nested more than {MOST_LEVELS} levels deep; make it flatter",))
    if known.direct and isinstance(document, dict) and "answer" in document:
        if isinstance(document["answer"], str) and document["answer"].strip() and not document.get("tasks"):
            return Reading({"tasks": [], "answer": document["answer"]}, (), repairs)
        if document["answer"] in (None, ""):
            document = {key: value for key, value in document.items() if key != "answer"}
    form = normal_form(document)
    plan = shape.widen(form.document)
    return Reading(plan, (*form.faults, *problems(plan, known)), (*repairs, *form.repairs))


def read_plan(document: Any, known: Known) -> Reading:
    """Read a full plan from a document, such as the one in a plan file."""
    return read_document(document, SHAPES["full"], known)


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """The document in an answer, the repair that its text needed, the other documents, and the prose around them."""

    document: Any
    repair: str = ""
    others: tuple[Any, ...] = ()
    prose: str = ""


def find(text: str, *keys: str) -> JsonAnswer:
    """Find the one document in an answer that has one of these keys, or else the first document.

    Raises NotJson if there is none, or if several with such a key differ.
    """
    answer = without_thinking(text)
    if not answer.strip():
        raise NotJson("the answer is empty")
    documents, prose = _documents(answer)
    if not documents:
        raise NotJson(complaint(answer))
    fitting = [pair for pair in documents if has_key(pair[0], keys)]
    if not fitting:
        return JsonAnswer(*documents[0])
    document, repair = fitting[-1]
    if any(unwrapped(other, keys) != unwrapped(document, keys) for other, _ in fitting):
        raise NotJson(f"the answer holds {len(fitting)} JSON documents with '{keys[0]}' that differ; give one, whole")
    if re.search(rf"""["']?\b{keys[0]}\b["']?\s*:\s*[\[{{]""", prose):
        raise NotJson(f"the answer holds a second document with '{keys[0]}', which cannot be read; give one, whole")
    others = tuple(other for other, _ in documents if not has_key(other, keys))
    return JsonAnswer(document, repair, others, prose)


def faults_beside(answer: JsonAnswer, document: Any) -> Iterator[str]:
    """Yield the faults of an answer outside its plan: other tasks, and marks that tasks were left out."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return
    ids = task_ids(rows)
    if any(is_task_list([other]) or task_names(other, ids) for other in answer.others):
        yield "the answer has another JSON document about its tasks; put everything into one plan"
    if marks_omission(answer.prose):
        yield "the text around the plan says that tasks were left out; write every task"


def _documents(answer: str) -> tuple[list[tuple[Any, str]], str]:
    """Return every document in an answer with its repair, and the prose around them.

    Either the whole answer is one document, or they are in tool calls, fences and prose. Raises Ambiguous if the only
    document can be read in two ways, or if any document says that it is not whole.
    """
    documents: list[tuple[Any, str]] = []
    unclear: list[Ambiguous] = []

    def loads(text: str, kind: type = object) -> bool:
        try:
            document, repair = loose_json.load(text)
        except Ambiguous as error:
            unclear.append(error)
            return False
        except (ValueError, RecursionError):
            return False
        if isinstance(document, kind):
            documents.append((document, repair))
        return isinstance(document, kind)

    if loads(answer):
        return documents, ""
    prose = answer
    for match in (*_TOOL_CALL.finditer(answer), *fences(answer)):
        if loads(match[2]):
            prose = prose.replace(match[0], "\n")
    for piece in islice(objects(prose), _MAX_PIECES):
        if loads(piece, dict):
            prose = prose.replace(piece, "\n")
    if unclear and (not documents or isinstance(unclear[-1], LeftOut)):
        raise unclear[-1]
    return documents, prose
