"""The open requests of runs, and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.runs.stored import records
from goalwright_executor.approvals.approvals import given_to
from goalwright_executor.approvals.record import ApprovalRecord
from goalwright_planner.approvals import Answer, ApprovalRequest
from goalwright_planner.plan.task_problems import argument_problems
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright.settings.paths import Paths
    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import ApprovalGiven
    from goalwright_skills.tools.tool import Tool

Answers = Mapping[str, Answer] | Sequence[tuple[str, Answer]]
ONLY_QUESTION = ""
_LIST = "`goalwright approvals {run}` lists its requests"


class UnknownRequest(InputError):
    """No request of the run has this id, or the prefix is not unique."""

    code = "UNKNOWN_REQUEST"


class AnsweredAlready(InputError):
    """The request has an answer already."""

    code = "ANSWERED_ALREADY"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request without an answer, and its run."""

    run: RunSummary
    request: ApprovalRequest

    def to_dict(self) -> dict[str, Any]:
        """Return the request as JSON."""
        return {"run_id": self.run.run_id, "goal": self.run.goal, **self.request.to_dict()}


def open_requests(store: Store, paths: Paths, run: str | None = None) -> list[OpenRequest]:
    """Return the requests without an answer, of one run or of all: runs by their first request, tasks in plan order.

    A turn of a conversation that was taken back has none.
    """
    by_run = asked_by(store, paths, run)
    for run_id, record in by_run.items():
        if len(record.waiting) > 1:  # they are in plan order
            for row in store.rows(run_id, types=("plan_made", "plan_changed")):
                if (event := records.event_of(row, paths)) is not None:
                    record.note(event)
    runs = [
        (records.local_summary(store.find(run_id), paths), record.waiting)
        for run_id, record in by_run.items()
        if record.waiting
    ]
    open_runs = [(run, waiting) for run, waiting in runs if run.status != "done" and not _is_taken_back(store, run)]
    return [OpenRequest(run, request) for run, waiting in open_runs for request in waiting]


def _is_taken_back(store: Store, run: RunSummary) -> bool:
    return run.conversation is not None and any(store.rows(run.run_id, types=("turn_taken_back",)))


def asked_by(store: Store, paths: Paths, run: str | None = None) -> dict[str, ApprovalRecord]:
    """Return the requests and answers of one run, or of all, by run."""
    types = ("approval_asked", "approval_given")
    rows = store.rows_of_all(types) if run is None else store.rows(store.find(run).run_id, types=types)
    by_run: dict[str, ApprovalRecord] = {}
    for row in rows:
        event = records.event_of(row, paths)
        if event is not None:
            by_run.setdefault(row.run_id, ApprovalRecord()).note(event)
    return by_run


async def approve_all(request: ApprovalRequest) -> Answer | None:
    """Allow every call and task; a question or a login needs a person."""
    return None if request.kind in ("question", "login") else Answer("allow", by="cli")


def resolved(
    answers: Answers, requests: ApprovalRecord, run_id: str, capture: Capture, tools: Mapping[str, Tool]
) -> tuple[ApprovalGiven, ...]:
    """Return the events of answers to a run's requests; raises with all faults, and records nothing.

    An id may be a unique prefix, with or without its number; ONLY_QUESTION means the only open question.
    """
    pairs = list(answers.items()) if isinstance(answers, Mapping) else list(answers)
    given: dict[str, ApprovalGiven] = {}
    faults: list[InputError] = []
    for name, answer in pairs:
        try:
            request = find_request(name, requests)
        except InputError as error:
            faults.append(error)
            continue
        if request.id in given:
            faults.append(InputError(f"{name or request.id} is answered twice"))
        faults += (InputError(f"{name or request.id}: {fault}") for fault in _faults(request, answer, tools))
        given[request.id] = given_to(request, answer, capture)
    if faults:
        kinds = {type(fault) for fault in faults}
        kind = kinds.pop() if len(kinds) == 1 else InputError
        raise kind(f"run {run_id}: {'; '.join(fault.message for fault in faults)}", hint=_LIST.format(run=run_id))
    return tuple(given.values())


def find_request(name: str, requests: ApprovalRecord) -> ApprovalRequest:
    """Return the open request with this id; raises if there is none."""
    if name == ONLY_QUESTION:
        questions = [request for request in requests.waiting if request.kind == "question"]
        if len(questions) == 1:
            return questions[0]
        few = f"{counted(len(questions), 'question')} wait for an answer; name one by its id"
        raise UnknownRequest(few if questions else "no question waits for an answer")
    exact = [request for request in requests.asked.values() if request.id == name]
    matching = exact or [request for request in requests.asked.values() if is_id_of(name, request)]
    if not matching:
        raise UnknownRequest(f"there is no request {name!r}")
    if len(matching) > 1:
        raise UnknownRequest(f"{name!r} could be any of {', '.join(request.id for request in matching)}")
    answer = requests.answers.get(matching[0].id)
    if answer is not None and answer.withdrawn:
        raise AnsweredAlready(f"{matching[0].id} is no longer asked: {answer.note}")
    if answer is not None and answer.holds:
        raise AnsweredAlready(f"{matching[0].id} has been answered already: {answer.decision}")
    return matching[0]


def is_id_of(name: str, request: ApprovalRequest) -> bool:
    """Return whether a name is a prefix of a request's id, with or without its number among equal calls."""
    beginning, _, number = name.partition("#")
    call, _, own = request.id.partition("#")
    return bool(beginning) and call.startswith(beginning) and number in ("", own)


def _faults(request: ApprovalRequest, answer: Answer, tools: Mapping[str, Tool]) -> Iterator[str]:
    if (fault := answer.fault(request)) is not None:
        yield fault
    elif answer.decision == "edit" and answer.arguments is not None and (tool := tools.get(request.tool or "")):
        yield from (f"{tool.name} {fault}" for fault in argument_problems(answer.arguments, tool.parameters))
