"""The options that answer the requests of a run: --approve, --deny, --edit, --answer and --approvals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import stdin
from goalwright.interfaces.cli.option_value import option_value
from goalwright_skills import untrusted_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_planner.approvals import Answer, ApprovalRequest


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    """The answers as they were typed."""

    approve: tuple[str, ...]
    deny: tuple[str, ...]
    edit: tuple[str, ...]
    answer: tuple[str, ...]
    approval_files: tuple[str, ...]


answering = option_value(
    "answer_flags",
    AnswerFlags,
    click.option("--approve", "approve", multiple=True, metavar="ID", help="Allow a request (repeatable)."),
    click.option("--deny", "deny", multiple=True, metavar="ID[=NOTE]", help="Deny it; the note reaches the model."),
    click.option(
        "--edit", "edit", multiple=True, metavar="ID=FILE", help="Allow it with the arguments in a JSON file."
    ),
    click.option("--answer", "answer", multiple=True, metavar="[ID=]TEXT", help="Answer a question."),
    click.option(
        "--approvals", "approval_files", multiple=True, metavar="FILE", help="Answers as JSON lines (`-`: stdin)."
    ),
)
_ID = re.compile(r"[0-9a-f]+(?:#\d*)?")
_SURELY_ID = re.compile(r"[0-9a-f]{8,}(?:#\d*)?")
_KEYS = {"id", "decision", "note", "arguments", "text"}


def answers_in(flags: AnswerFlags, waiting: Sequence[ApprovalRequest]) -> list[tuple[str, Answer]]:
    """Parse the answers; the run checks whether they fit.

    The `waiting` requests decide whether the text before a `=` in an answer is an id.
    """
    from goalwright_planner.approvals import Answer

    answers = [(name, Answer("allow", by="cli")) for name in map(_request_id, flags.approve)]
    for text in flags.deny:
        name, _, note = text.partition("=")
        answers.append((_request_id(name), Answer("deny", note=note, by="cli")))
    for text in flags.edit:
        name, equals, file = text.partition("=")
        if not (equals and file):
            raise InputError(f"--edit {text} is not of the form ID=FILE", hint="FILE holds the arguments as JSON")
        answers.append((_request_id(name), Answer("edit", arguments=_arguments(file), by="cli")))
    for text in flags.answer:
        name, answer = _named_question(text, waiting)
        answers.append((name, Answer("answer", text=answer, by="cli")))
    for file in flags.approval_files:
        answers += _in_file(file)
    return answers


def _named_question(text: str, waiting: Sequence[ApprovalRequest]) -> tuple[str, str]:
    """Split an answer into the id of its question and its text."""
    from goalwright.runs.stored.requests import ONLY_QUESTION, is_id_of

    name, equals, answer = text.partition("=")
    if not equals or not _ID.fullmatch(name):
        return ONLY_QUESTION, text
    is_open = any(request.kind == "question" and is_id_of(name, request) for request in waiting)
    return (name, answer) if is_open or _SURELY_ID.fullmatch(name) else (ONLY_QUESTION, text)


def _request_id(name: str) -> str:
    if not _ID.fullmatch(name):
        hint = "use an id that `goalwright approvals` lists, or any unique prefix of one"
        raise InputError(f"{name!r} is not the id of a request", hint=hint)
    return name


def _read(file: str, content: str) -> str:
    if file == "-":
        return stdin.stdin_text(content)
    try:
        return untrusted_files.read_given_text(file)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{content}: {file} cannot be read: {why}", hint="name a text file") from error


def _arguments(file: str) -> Mapping[str, Any]:
    try:
        value = json.loads(_read(file, "the arguments"))
    except ValueError as error:
        raise InputError(f"{file} is not valid JSON: {error}", hint="write the arguments as one JSON object") from error
    if not isinstance(value, dict):
        raise InputError(f"{file} is not a JSON object", hint='write the arguments as {"name": value}')
    return value


def _in_file(file: str) -> Iterator[tuple[str, Answer]]:
    """Parse the answers in a file of JSON lines."""
    from goalwright_planner.approvals import Answer

    for number, line in enumerate(_read(file, "the answers").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where} is not valid JSON: {error}", hint="write one answer per line") from error
        if (fault := _row_fault(row)) is not None:
            hint = '{"id": "…", "decision": "allow"}, with a "note", "arguments" or "text" if it needs one'
            raise InputError(f"{where}: {fault}", hint=f"write it as {hint}")
        decision: Any = row.get("decision") or ("answer" if row.get("text") else "allow")
        details = {key: row[key] for key in ("note", "text", "arguments") if row.get(key) is not None}
        yield row["id"], Answer(decision, **details, by="cli")


def _row_fault(row: Any) -> str | None:
    if not isinstance(row, dict):
        return "it is not a JSON object"
    if not isinstance(row.get("id"), str) or not _ID.fullmatch(row["id"]):
        return f"'id' must be the id of a request, not {row.get('id')!r}"
    if unknown := row.keys() - _KEYS:
        return f"unknown key {', '.join(map(repr, sorted(unknown)))}"
    if not any(row.get(key) for key in ("decision", "text")):
        return "'decision' is missing"
    wrong = [key for key in ("decision", "note", "text") if not isinstance(row.get(key), str | None)]
    return f"{wrong[0]!r} must be a string, not {row[wrong[0]]!r}" if wrong else None
