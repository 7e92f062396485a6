"""Reads a plan from a model's answer or a file: the document in its normal form, what was repaired, and all faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_planner.json_answer import NotJson, breaks_off, complaint, fences, objects, without_thinking
from goalwright_planner.plan.validate import problems
from goalwright_planner.reading import loose_json
from goalwright_planner.reading.edges.edge_text import edges_among
from goalwright_planner.reading.edges.joining import NormalForm
from goalwright_planner.reading.edges.left_out import left_out_in_prose
from goalwright_planner.reading.edges.task_names import TaskNames
from goalwright_planner.reading.loose_json import Ambiguous, LeftOut
from goalwright_planner.reading.normal_form import normal_form, says_what_to_do
from goalwright_planner.reading.shape import SHAPES
from goalwright_skills.text.nesting import MOST_LEVELS, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goalwright_planner.plan.validate import Known
    from goalwright_planner.reading.shape import PlanShape

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
    """The plan in a model's answer; raises NotJson if there is none, or more than one."""
    keys = ("tasks", "clarification", *(("answer",) if known.direct else ()))
    found = find_in(text, *keys)
    if not _has(found.value, keys) and breaks_off(text):
        raise NotJson("the answer breaks off before its JSON is closed")
    reading = read_document(found.value, shape, known, (found.form,) if found.form else ())
    return replace(reading, faults=(*reading.faults, *beside_faults(found, reading.document)))


def read_document(document: Any, shape: PlanShape, known: Known, repairs: tuple[str, ...] = ()) -> Reading:
    """The plan in a document, in its normal form."""
    if is_too_deep(document):
        return Reading({}, (f"the plan is nested more than {MOST_LEVELS} levels deep; make it flatter",))
    if known.direct and isinstance(document, dict) and "answer" in document:
        if isinstance(document["answer"], str) and document["answer"].strip() and not document.get("tasks"):
            return Reading({"tasks": [], "answer": document["answer"]}, (), repairs)
        if document["answer"] in (None, ""):
            document = {key: value for key, value in document.items() if key != "answer"}
    form = normal_form(document)
    widened = shape.widen(form.document)
    faults = (*form.faults, *problems(widened, known))
    return Reading(widened, faults, (*repairs, *form.repairs))


def read_plan(document: Any, known: Known) -> Reading:
    """A full plan that comes as a document, such as one in a file."""
    return read_document(document, SHAPES["full"], known)


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """The document in an answer and how it differs from JSON, with the `others` beside it and the prose around them."""

    value: Any
    form: str = ""
    others: tuple[Any, ...] = ()
    prose: str = ""


def find(text: str, *keys: str) -> tuple[Any, str]:
    """The document in an answer that has one of the keys, and how it differs from JSON; raises NotJson."""
    found = find_in(text, *keys)
    return found.value, found.form


def find_in(text: str, *keys: str) -> FoundDocument:
    """The one document in an answer that has one of the keys; raises NotJson if there are several that differ."""
    answer = without_thinking(text)
    if not answer.strip():
        raise NotJson("the answer is empty")
    documents, prose = _documents(answer)
    fitting = [document for document in documents if _has(document[0], keys)]
    if not documents:
        raise NotJson(complaint(answer))
    value, form = (fitting or documents)[-1 if fitting else 0]
    wanted = normal_form(value).document
    if any(normal_form(other).document != wanted for other, _ in fitting):
        raise NotJson(f"the answer holds {len(fitting)} JSON documents with '{keys[0]}' that differ; give one, whole")
    others = tuple(other for other, _ in documents if other is not value and normal_form(other).document != wanted)
    if fitting and re.search(rf"""["']?\b{keys[0]}\b["']?\s*:\s*[\[{{]""", prose):
        raise NotJson(f"the answer holds a second document with '{keys[0]}', which cannot be read; give one, whole")
    return FoundDocument(value, form, others if fitting else (), prose if fitting else "")


def beside_faults(found: FoundDocument, document: Any) -> Iterator[str]:
    """What an answer says of its tasks beside the plan, and the plan does not."""
    rows = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return
    names, form = TaskNames.of(rows), NormalForm(None)
    form.before = {str(row.get("id")): list(row.get("depends_on") or ()) for row in rows}
    for other in found.others:
        named = names.named_in(other)
        if named or says_what_to_do(other) or normal_form(other).document is not other:
            what = f"names tasks ({', '.join(named)})" if named else "holds tasks"
            yield f"the answer has another JSON document, which {what}; put everything into one plan"
    for before, after in edges_among(found.prose, names):
        if before != after and before not in form.upstream(after):
            yield (
                f"the text around the plan says that {after!r} comes after {before!r}, and the plan does not; "
                f"add {before!r} to the depends_on of {after!r}"
            )
    if left_out_in_prose(found.prose):
        yield "the text around the plan says that tasks were left out; write every task"


def _documents(answer: str) -> tuple[list[tuple[Any, str]], str]:
    """Every document in an answer, and the prose around them: the answer itself, or all in calls, fences and prose.

    Raises Ambiguous if there is none but one that could be read in two ways, or one that says it is not whole.
    """
    whole, unclear = _load_all([answer])
    if whole:
        return whole, ""
    documents: list[tuple[Any, str]] = []
    prose = answer
    for match in (*_TOOL_CALL.finditer(answer), *fences(answer)):
        found, why = _load_all([match[2]])
        documents += found
        unclear = why or unclear
        if found:
            prose = prose.replace(match[0], "\n")
    for piece in islice(objects(prose), _MAX_PIECES):
        found, why = _load_all([piece])
        embedded = [document for document in found if isinstance(document[0], dict)]
        documents += embedded
        unclear = why or unclear
        if embedded:
            prose = prose.replace(piece, "\n")
    if unclear is not None and (not documents or isinstance(unclear, LeftOut)):
        raise unclear
    return documents, prose


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
