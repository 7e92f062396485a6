"""Edits the text of a plan file: adds, renames, links and removes tasks, and keeps comments.

YAML is edited with ruamel's round trip, JSON with the standard library. The same edit is made to the parsed document,
and the new text must parse to the same; otherwise the edit is refused.
"""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import FoldedScalarString, LiteralScalarString, ScalarString
from ruamel.yaml.tokens import CommentToken

from goalwright.runs.plans.plan_file import WIDTH, load
from goalwright.runs.plans.plan_nodes import PlanNodes
from goalwright_planner.plan.references import renamed
from goalwright_planner.plan.task_id import PLANNED
from goalwright_planner.reading.normal_form import TASK_LISTS, normal_form, right_key
from goalwright_skills.errors import InputError
from goalwright_skills.text.untrusted import is_too_deep

# Changes the tasks in a list; raises if it cannot.
Edit = Callable[[list[Any]], None]

_BOM = "\ufeff"
_EDIT_TEXT = "edit the text of the plan"
_FIRST_ITEM = re.compile(r"^[ ]*[^\s#-][^\n]*:[ ]*\n(?:[ ]*#[^\n]*\n|[ ]*\n)*([ ]*)-([ ]+)\S", re.MULTILINE)
_JSON_INDENT = re.compile(r"^[\[{]\n([ \t]+)")
_NEW_TASK = {"title": "A new task", "action_type": "llm", "instruction": "Say what to do."}


def is_editable(document: Any) -> bool:
    """Return whether the tasks of a parsed plan can be edited."""
    if not isinstance(document, dict | list | None):
        return False
    rows = _task_list(document)
    return isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows)


def add_task(text: str, depends_on: Sequence[str] = ()) -> tuple[str, str]:
    """Add a task after all others; returns the new text and the task's id."""
    rows = _task_list(_parsed(text)) or []
    ids = {_id(row) for row in rows}
    new_id = next(name for number in range(len(ids) + 1, 2 * len(ids) + 3) if (name := f"task-{number}") not in ids)

    def add(tasks: list[Any]) -> None:
        for name in depends_on:
            _find(tasks, name)
        dependencies = {"depends_on": _flow(tasks, depends_on)} if depends_on else {}
        tasks.append({"id": new_id, **_NEW_TASK, **dependencies})

    return _with_edges(_edited(text, add), _edges(_parsed(text)) | {new_id: list(depends_on)}), new_id


def rename_task(text: str, task: str, new_id: str) -> str:
    """Change the id of a task, also in dependencies and references."""

    def rename(tasks: list[Any]) -> None:
        row = _find(tasks, task)
        if not PLANNED.fullmatch(new_id) or new_id in map(_id, tasks):
            raise InputError(
                f"{new_id!r} cannot be the id of another task", hint="use a free one of letters, digits, - and _"
            )
        row[_key(row, "id")] = _same_style(row[_key(row, "id")], new_id)
        for other in tasks:
            for key in other:
                waits = right_key(str(key)) == "depends_on"
                other[key] = _with_id(other[key], task, new_id) if waits else _with_reference(other[key], task, new_id)

    def rename_in_synthesis(document: Any) -> None:
        if isinstance(document, dict) and "synthesis" in document:
            document["synthesis"] = _with_reference(document["synthesis"], task, new_id)

    ids = {task: new_id}
    expected = {ids.get(name, name): [ids.get(n, n) for n in needs] for name, needs in _edges(_parsed(text)).items()}
    return _with_edges(_edited(text, rename, rename_in_synthesis), expected)


def link_task(text: str, task: str, to: str) -> str:
    """Make a task depend on another one."""

    def link(tasks: list[Any]) -> None:
        _find(tasks, to)
        _add_dependency(_find(tasks, task), to, tasks)

    edges = _edges(_parsed(text))
    return _with_edges(_edited(text, link), edges | {task: [*edges.get(task, ()), to]})


def unlink_task(text: str, task: str, to: str) -> str:
    """Remove a dependency of a task."""

    def unlink(tasks: list[Any]) -> None:
        _drop_dependency(_find(tasks, task), to)

    edges = _edges(_parsed(text))
    expected = edges | {task: [name for name in edges.get(task, ()) if name != to]}
    return _with_edges(_edited(text, unlink), expected)


def remove_task(text: str, task: str) -> str:
    """Remove a task, and its id from the dependencies of others."""

    def unlink(tasks: list[Any]) -> None:
        for other in tasks:
            _drop_dependency(other, task)

    def remove(tasks: list[Any]) -> None:
        tasks.remove(_find(tasks, task))

    document = _parsed(text)
    edges = {name: [n for n in needs if n != task] for name, needs in _edges(document).items() if name != task}
    tasks = _task_list(document)
    removed = _find(tasks, task)
    index = next(number for number, row in enumerate(tasks) if row is removed)
    unlinked = _edited(text, unlink) if any(task in needs for needs in _edges(document).values()) else text
    cut = _without_lines(unlinked, index)
    unlink(tasks)
    remove(tasks)
    changed = cut if cut is not None and _same(_parsed(cut), document) else _edited(unlinked, remove)
    return _with_edges(changed, edges)


def _edited(text: str, edit: Edit, edit_document: Callable[[Any], None] = lambda _: None) -> str:
    """Return the text after an edit of its tasks; raises if the new text would not parse to the edited document."""
    plain = text.removeprefix(_BOM).replace("\r\n", "\n")
    expected = _parsed(plain)
    if not is_editable(expected):
        raise InputError("the tasks of this plan cannot be changed by a button", hint=_EDIT_TEXT)
    expected = _apply(expected, edit, edit_document)
    try:
        changed = _json(plain, expected)
    except ValueError:
        changed = _yaml(plain, edit, edit_document)
    if not _same(_parsed(changed), expected):
        raise _refusal()
    changed = changed if "\r\n" not in text else changed.replace("\n", "\r\n")
    return (_BOM if text.startswith(_BOM) else "") + changed


def _json(text: str, document: Any) -> str:
    """Write the document as the JSON text is written; raises ValueError if the text is not JSON."""
    json.loads(text)
    indent = _JSON_INDENT.match(text.lstrip())
    return json.dumps(document, ensure_ascii=text.isascii(), indent=indent[1] if indent else None) + "\n"


def _yaml(text: str, edit: Edit, edit_document: Callable[[Any], None]) -> str:
    parser = YAML()
    parser.preserve_quotes = True
    parser.width = WIDTH
    parser.explicit_start = text.startswith("---")
    if item := _FIRST_ITEM.search(text):
        offset = len(item[1]) - (len(item[0]) - len(item[0].lstrip(" ")))
        parser.indent(sequence=max(offset, 0) + 1 + len(item[2]), offset=max(offset, 0))
    try:
        document = _apply(parser.load(text), edit, edit_document)
        written = io.StringIO()
        parser.dump(document, written)
    except (YAMLError, RecursionError, ValueError) as error:
        raise _refusal() from error
    return written.getvalue()


def _apply(document: Any, edit: Edit, edit_document: Callable[[Any], None] = lambda _: None) -> Any:
    """Make an edit to a document, which gets a list of tasks if it has none."""
    if document is None:
        document = {}
    key = _tasks_key(document)
    tasks = document if isinstance(document, list) else document.get(key)
    if not isinstance(tasks, list):
        tasks = document[key] = []
    edit(tasks)
    edit_document(document)
    return document


def _parsed(text: str) -> Any:
    try:
        document = load(text.removeprefix(_BOM).replace("\r\n", "\n"))
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError("the plan cannot be read", hint="correct its faults first") from error
    if is_too_deep(document):
        raise InputError("the plan is nested too deeply to be read", hint=_EDIT_TEXT)
    return document


def _same(document: Any, expected: Any) -> bool:
    """Return whether two documents are equal; a missing list of tasks equals an empty one."""
    if isinstance(document, Mapping) and isinstance(expected, Mapping):
        key = _tasks_key(expected)
        document, expected = ({**plan, key: plan.get(key) or []} for plan in (document, expected))
    return bool((document or []) == (expected or []))


def _task_list(document: Any) -> Any:
    if document is None:
        return []
    if not isinstance(document, dict | list):
        raise InputError("the tasks of this plan cannot be changed by a button", hint=_EDIT_TEXT)
    return document if isinstance(document, list) else document.get(_tasks_key(document), []) or []


def _tasks_key(document: Any) -> str:
    if not isinstance(document, Mapping):
        return "tasks"
    others = [str(key) for key in document if key in TASK_LISTS and isinstance(document[key], list)]
    return others[0] if "tasks" not in document and len(others) == 1 else "tasks"


def _edges(document: Any) -> dict[str, list[str]]:
    """Return the dependencies of each task, in whatever way the plan states them."""
    form = normal_form(document).document
    rows = form.get("tasks") if isinstance(form, Mapping) else None
    tasks = [row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping)]
    return {str(row.get("id")): list(row.get("depends_on") or ()) for row in tasks}


def _with_edges(text: str, expected: Mapping[str, Sequence[str]]) -> str:
    """Return the text if its tasks depend on each other as expected: a plan may state this outside its tasks too."""
    if {task: set(needs) for task, needs in _edges(_parsed(text)).items()} != {
        task: set(needs) for task, needs in expected.items()
    }:
        raise _refusal()
    return text


def _find(tasks: list[Any], task: str) -> Any:
    rows = [row for row in tasks if _id(row) == task]
    if len(rows) != 1:
        raise InputError(f"no single task of the plan has the id {task!r}", hint=_EDIT_TEXT)
    return rows[0]


def _key(row: Any, key: str) -> Any:
    """Return the key under which a task has a value: the documented one or an alias."""
    return next((own for own in row if right_key(str(own)) == key), key)


def _id(row: Any) -> str | None:
    value = row.get(_key(row, "id")) if isinstance(row, Mapping) else None
    return str(value) if isinstance(value, str | int) else None


def _flow(tasks: list[Any], ids: Sequence[str]) -> list[str]:
    """Return a list of ids that YAML writes in brackets."""
    if not isinstance(tasks, CommentedSeq):
        return list(ids)
    sequence = CommentedSeq(ids)
    sequence.fa.set_flow_style()
    return sequence


def _add_dependency(row: Any, task: str, tasks: list[Any]) -> None:
    key = _key(row, "depends_on")
    current = row.get(key)
    if isinstance(current, list) and current:
        if task not in current:
            row[key] = current = copy.deepcopy(current)  # an alias may share it
            current.append(task)
            _move_comment(current, len(current) - 2, len(current) - 1)
        return
    dependencies = _flow(tasks, [current, task] if isinstance(current, str) and current != task else [task])
    if key in row or not isinstance(row, CommentedMap):
        row[key] = dependencies
    else:  # before the last key, which has the comments that follow the task
        row.insert(len(row) - 1, key, dependencies)


def _drop_dependency(row: Any, task: str) -> None:
    key = _key(row, "depends_on")
    current = row.get(key)
    if current == task:
        row[key] = []
    elif isinstance(current, list) and task in current:
        row[key] = current = copy.deepcopy(current)
        position = current.index(task)
        if len(current) > 1:
            _move_comment(current, position, position - 1 if position else 1)
            del current[position]
        else:
            _empty(row, key)


def _empty(row: Any, key: Any) -> None:
    """Replace a list of one item by an empty one, and keep the comments above and below the item."""
    item = _comment(row[key], 0)
    row[key] = []
    if not isinstance(row, CommentedMap):
        return
    _, _, own_line, above = row.ca.items.pop(key, None) or [None] * 4
    below = [_with_value(item, item.value.partition("\n")[2])] if item is not None else []
    tokens = [token for token in (own_line, *(above or ()), *below) if token is not None]
    if tokens:
        text = ("" if own_line is not None else "\n") + "".join(token.value for token in tokens)
        row.ca.items[key] = [None, None, _with_value(tokens[0], text), None]


def _move_comment(sequence: list[Any], position: int, target: int) -> None:
    """Move the comment lines below an item to another one; a comment on the item's own line stays with it."""
    token = _comment(sequence, position)
    if token is None or not isinstance(sequence, CommentedSeq) or sequence.fa.flow_style():
        return
    own_line, _, lines = token.value.partition("\n")
    there = _comment(sequence, target)
    moved = _with_value(there, there.value + lines) if there is not None else _with_value(token, "\n" + lines)
    sequence.ca.items[target] = [moved, None, None, None]
    sequence.ca.items[position] = [_with_value(token, own_line + "\n"), None, None, None]


def _comment(sequence: list[Any], position: int) -> CommentToken | None:
    tokens = sequence.ca.items.get(position) if isinstance(sequence, CommentedSeq) else None
    return tokens[0] if tokens else None


def _with_value(token: CommentToken, value: str) -> CommentToken:
    return CommentToken(value, token.start_mark, None)


def _same_style(old: Any, new: str) -> Any:
    """Return a text in the YAML style of another one."""
    if not isinstance(old, ScalarString):
        return new
    style = LiteralScalarString if isinstance(old, FoldedScalarString) else type(old)
    text = style(new)
    if (comment := getattr(old, "comment", None)) is not None:
        text.comment = comment
    return text


def _with_id(value: Any, task: str, new_id: str) -> Any:
    """Replace an id in a list of dependencies, in place where it is a list."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            value[position] = _with_id(item, task, new_id)
        return value
    return _same_style(value, new_id) if isinstance(value, str) and value == task else value


def _with_reference(value: Any, task: str, new_id: str) -> Any:
    """Replace references to a task, in place in lists and mappings."""
    if isinstance(value, str):
        changed = renamed(str(value), {task: new_id})
        return value if changed == value else _same_style(value, changed)
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, Mapping) else ()
    for key, item in list(items):
        value[key] = _with_reference(item, task, new_id)
    return value


def _without_lines(text: str, index: int) -> str | None:
    """Cut the lines of a task in block style out of the text, so that comments around it stay."""
    if "\r" in text or text.startswith(_BOM):
        return None
    nodes = PlanNodes.of(text)
    if nodes is None or not isinstance(nodes.listed, yaml.SequenceNode) or nodes.listed.flow_style:
        return None
    node = nodes.tasks[index]
    start, end = node.start_mark.index, nodes.end(node)
    while start and text[start - 1].isspace():  # the dash may be on a line before
        start -= 1
    line_end = text.find("\n", end)
    return text[: text.rfind("\n", 0, start) + 1] + (text[line_end + 1 :] if line_end >= 0 else "")


def _refusal() -> InputError:
    return InputError("this change cannot be made by a button here", hint=_EDIT_TEXT)
