"""Changes to the text of a plan that leave everything else in it as it is.

Each is made where the parser found what it is about, and the new text is read again: unless it says what it said
before, and the change, nothing is changed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from goalwright.runs.plans.plan_file import load
from goalwright.runs.plans.plan_nodes import PlanNodes, id_of, keyed, pairs, walk
from goalwright_planner.plan.references import renamed
from goalwright_planner.plan.task_id import PLANNED
from goalwright_planner.reading.normal_form import normal_form
from goalwright_skills.errors import InputError
from goalwright_skills.text.nesting import is_too_deep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_BOM = "\ufeff"
_BY_HAND = "change the text itself"
_NOT_HERE = "this change cannot be made by a button here"
_NEW = {"title": "A new task", "action_type": "llm", "instruction": "Say what to do."}


def is_editable(nodes: PlanNodes | None, document: Any) -> bool:
    """Whether these changes can be made to a plan, which has these nodes and comes to this document."""
    if nodes is None or nodes.shares or not isinstance(document, dict | list | None):
        return False
    rows = _rows(nodes, document)
    is_list = isinstance(rows, list) and len(rows) == len(nodes.tasks)
    return is_list and all(isinstance(node, yaml.MappingNode) for node in nodes.tasks)


def add_task(text: str, depends_on: Sequence[str] = ()) -> tuple[str, str]:
    """The text with another task behind all others, and its id."""
    change = _Change(text)
    for one in depends_on:
        change.place(one)
    known = {id_of(node) for node in change.tasks}
    number = len(known) + 1
    while (made := f"task-{number}") in known:
        number += 1
    task = {"id": made, **_NEW} | ({"depends_on": list(depends_on)} if depends_on else {})
    change.add(task)
    return change.made(), made


def rename_task(text: str, task: str, to: str) -> str:
    """The text with another id for a task, also where others depend on it or refer to it."""
    change = _Change(text)
    at = change.place(task)
    if not PLANNED.fullmatch(to) or to in map(id_of, change.tasks):
        raise InputError(f"{to!r} cannot be the id of another task", hint="use a free one of letters, digits, - and _")
    change.rename(at, task, to)
    return change.made({task: to})


def link_task(text: str, task: str, to: str) -> str:
    """The text in which a task depends on another one too."""
    change = _Change(text)
    at = change.place(task)
    change.place(to)
    change.relink(at, [one for one in change.needs(at) if one != to] + [to])
    return change.made()


def unlink_task(text: str, task: str, to: str) -> str:
    """The text in which a task no longer depends on another one."""
    change = _Change(text)
    at = change.place(task)
    change.relink(at, [one for one in change.needs(at) if one != to])
    return change.made()


def remove_task(text: str, task: str) -> str:
    """The text without a task, and without its id where others depend on it."""
    change = _Change(text)
    at = change.place(task)
    for other, needs in change.edges.items():
        if task in needs and other != task:
            change.relink(change.place(other), [one for one in needs if one != task])
    change.remove(at)
    return change.made()


@dataclass(slots=True)
class _Change:
    """A change while it is made: what to put where in the text, and the document that this must come to.

    Its `text` has plain line ends meanwhile, and no mark of its byte order before it, which is in `head`.
    """

    text: str
    head: str = field(init=False)
    line_end: str = field(init=False)
    nodes: PlanNodes = field(init=False)
    document: Any = field(init=False)
    edges: dict[str, list[str]] = field(init=False)
    places: dict[str | None, list[int]] = field(default_factory=dict)
    splices: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.head = _BOM if self.text.startswith(_BOM) else ""  # the parser does not count it
        self.text = self.text.removeprefix(_BOM)
        self.line_end = "\r\n" if "\r\n" in self.text else "\n"
        self.text = self.text.replace("\r\n", "\n")
        if self.text and not self.text.endswith("\n"):
            self.text += "\n"
        document = _read(self.text)  # first, since it refuses what nests too deeply
        found = PlanNodes.of(self.text)
        if found is None or not is_editable(found, document):
            raise InputError("the tasks of this plan cannot be changed by a button", hint=_BY_HAND)
        self.nodes, self.document, self.edges = found, document, _edges(document)
        for at, node in enumerate(found.tasks):
            self.places.setdefault(id_of(node), []).append(at)

    @property
    def tasks(self) -> list[yaml.Node]:
        return self.nodes.tasks

    @property
    def rows(self) -> Any:
        return _rows(self.nodes, self.document)

    def place(self, task: str) -> int:
        """Which of the tasks has an id."""
        found = self.places.get(task, [])
        if len(found) != 1:
            raise InputError(f"no single task of the plan has the id {task!r}", hint=_BY_HAND)
        return found[0]

    def needs(self, at: int) -> list[str]:
        """What a task depends on."""
        return self.edges[id_of(self.tasks[at]) or ""]

    def put(self, start: int, end: int, text: str) -> None:
        self.splices.append((start, end, text))

    def add(self, task: Mapping[str, Any]) -> None:
        listed, key = self.nodes.listed, self.nodes.key
        self._put_row(dict(task))
        if listed is not None and listed.value and isinstance(listed, yaml.SequenceNode):
            last = listed.value[-1]
            if listed.flow_style:
                self._put_behind(last, task)
            else:
                self._put_lines(last, _lines(task, listed.start_mark.column))
        elif isinstance(listed, yaml.SequenceNode) and _is_flow(self.nodes.root):
            self.put(listed.start_mark.index + 1, listed.end_mark.index - 1, json.dumps(task, ensure_ascii=False))
        elif key is not None and listed is not None:
            self.put(key.end_mark.index, self.nodes.end(listed), "\n".join((":", *_lines(task, key.start_mark.column))))
        else:
            head = self.text.rstrip()
            self.put(len(head), len(self.text), "\n".join(("\n" * bool(head) + "tasks:", *_lines(task, 0), "")))

    def rename(self, at: int, task: str, to: str) -> None:
        for key, value in keyed(self.tasks[at], "id"):
            self._put_id(value, to)
            self.rows[at][key.value] = to
        for node, row in zip(self.tasks, self.rows, strict=True):
            waits = keyed(node, "depends_on")
            named = [one for _, value in waits for one in walk(value) if isinstance(one, yaml.ScalarNode)]
            for one in named:
                if one.value == task:
                    self._put_id(one, to)
            for key, _ in waits:
                row[key.value] = _with_id(row[key.value], task, to)
            self._put_references([value for _, value in pairs(node)], {task: to}, named)
            row |= {key: renamed(value, {task: to}) for key, value in row.items()}
        if isinstance(self.document, dict) and "synthesis" in self.document:
            written = [value for key, value in pairs(self.nodes.root) if key.value == "synthesis"]
            self._put_references(written, {task: to}, ())
            self.document["synthesis"] = renamed(self.document["synthesis"], {task: to})

    def relink(self, at: int, depends_on: list[str]) -> None:
        node, row = self.tasks[at], self.rows[at]
        self.edges[id_of(node) or ""] = depends_on
        waits = keyed(node, "depends_on")
        if len(waits) > 1:
            raise InputError("this task says twice what it depends on", hint=_BY_HAND)
        is_flow = _is_flow(node)
        listed = f"[{', '.join(_written(str(one), quoted=is_flow) for one in depends_on)}]"
        if not waits:
            self._put_key(node, "depends_on", listed, depends_on, row)
            return
        ((key, value),) = waits
        if isinstance(value, yaml.SequenceNode) and self._put_items(value, row[key.value], depends_on):
            row[key.value] = depends_on
            return
        start, end = key.start_mark.index, self.nodes.end(value)
        begin = self._line_start(start)
        if not depends_on and not is_flow and not self.text[begin:start].strip():
            del row[key.value]
            self.put(begin, self._line_end(end), "")
            return
        row[key.value] = depends_on
        self.put(key.end_mark.index, end, f": {listed}")

    def remove(self, at: int) -> None:
        node, listed = self.tasks[at], self.nodes.listed
        own = range(node.start_mark.index, self.nodes.end(node))
        self.splices = [one for one in self.splices if one[0] not in own]  # what is removed needs no other change
        self.edges.pop(id_of(node) or "", None)
        self.rows.pop(at)
        if isinstance(listed, yaml.SequenceNode):
            self._cut(listed, at)

    def made(self, ids: Mapping[str, str] | None = None) -> str:
        """The changed text; raises if it does not say what it should."""
        pieces, at = [], 0
        for start, end, given in sorted(self.splices):
            pieces += [self.text[at:start], given]
            at = end
        text = "".join((*pieces, self.text[at:]))
        same = dict(ids or {})
        edges = {same.get(task, task): [same.get(one, one) for one in needs] for task, needs in self.edges.items()}
        try:
            now = _read(text)
        except InputError as error:  # what was given could be read
            raise InputError(_NOT_HERE, hint=_BY_HAND) from error
        if _plain(now, self.nodes.key) != _plain(self.document, self.nodes.key) or _edges(now) != edges:
            raise InputError(_NOT_HERE, hint=_BY_HAND)
        return self.head + text.replace("\n", self.line_end)

    def _put_row(self, task: dict[str, Any]) -> None:
        """Add a task to the document."""
        if isinstance(self.document, list):
            self.document.append(task)
        else:
            key = self.nodes.key.value if self.nodes.key is not None else "tasks"
            self.document = (self.document or {}) | {key: [*self.rows, task]}
        self.edges[task["id"]] = list(task.get("depends_on", ()))

    def _cut(self, listed: yaml.SequenceNode, at: int) -> None:
        """Take an item out of a list."""
        items = listed.value
        start, end = items[at].start_mark.index, self.nodes.end(items[at])
        if not _is_flow(listed):
            while self.text[start - 1].isspace():  # its dash may stand on a line before
                start -= 1
            self.put(self._line_start(start - 1), self._line_end(end), "")
            return
        if at + 1 < len(items):
            end = items[at + 1].start_mark.index
        elif at:
            start = self.nodes.end(items[at - 1])
        else:  # with a comma that may stand behind it
            start, end = listed.start_mark.index + 1, listed.end_mark.index - 1
        self.put(start, end, "")

    def _put_items(self, listed: yaml.SequenceNode, before: Any, after: list[str]) -> bool:
        """Take one text out of a list, or put one behind it; False if the whole list has to be rewritten."""
        texts = [one.value if isinstance(one, yaml.ScalarNode) else None for one in listed.value]
        gone = [at for at, text in enumerate(texts) if text not in after]
        if texts != before or not texts or not after:
            return False
        if len(gone) == 1 and after == texts[: gone[0]] + texts[gone[0] + 1 :]:
            self._cut(listed, gone[0])
        elif after[:-1] == texts:
            last, is_flow = listed.value[-1], _is_flow(listed)
            written = _written(after[-1], quoted=is_flow and last.style == '"')
            if is_flow:
                self.put(self.nodes.end(last), self.nodes.end(last), f", {written}")
            else:
                self._put_lines(last, [f"{' ' * listed.start_mark.column}- {written}"])
        else:
            return False
        return True

    def _put_behind(self, last: yaml.Node, task: Mapping[str, Any]) -> None:
        """Write a task behind another one in brackets, on lines of its own if that one is."""
        start, indent = last.start_mark.index, ""
        begin = self._line_start(start)
        if begin and not (indent := self.text[begin:start]).strip():
            written = json.dumps(task, ensure_ascii=False, indent=2).replace("\n", "\n" + indent)
            self.put(self.nodes.end(last), self.nodes.end(last), f",\n{indent}{written}")
        else:
            self.put(self.nodes.end(last), self.nodes.end(last), f", {json.dumps(task, ensure_ascii=False)}")

    def _put_lines(self, node: yaml.Node, lines: Sequence[str]) -> None:
        """Write lines below a node."""
        end = self._line_end(self.nodes.end(node))
        broken = "" if self.text.endswith("\n", 0, end) else "\n"
        self.put(end, end, broken + "\n".join((*lines, "")))

    def _put_key(self, node: yaml.Node, key: str, written: str, value: list[str], row: dict[str, Any]) -> None:
        if not value:
            return
        row[key] = value
        if not _is_flow(node):
            column = next(pairs(node))[0].start_mark.column
            self._put_lines(node, [f"{' ' * column}{key}: {written}"])
            return
        first, last = next(pairs(node))[0].start_mark.index, self.nodes.end(node.value[-1][1])
        begin = self._line_start(first)
        indent = self.text[begin:first]
        self.put(last, last, f",{' ' if not begin or indent.strip() else chr(10) + indent}{json.dumps(key)}: {written}")

    def _put_id(self, node: yaml.Node, task: str) -> None:
        style = getattr(node, "style", None)
        written = f"{style}{task}{style}" if style in ("'", '"') else _written(task, quoted=False)
        self.put(node.start_mark.index, node.end_mark.index, written)

    def _put_references(self, nodes: Sequence[yaml.Node], ids: Mapping[str, str], but: Sequence[yaml.Node]) -> None:
        done = set(map(id, but))
        for one in (one for node in nodes for one in walk(node)):
            if isinstance(one, yaml.ScalarNode) and id(one) not in done and "<<" in one.value:
                start, end = one.start_mark.index, one.end_mark.index
                self.put(start, end, renamed(self.text[start:end], ids))

    def _line_start(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def _line_end(self, index: int) -> int:
        """Behind the line break of a line, or where a line that follows begins."""
        if self.text.endswith("\n", 0, index):
            return index
        found = self.text.find("\n", index)
        return len(self.text) if found < 0 else found + 1


def _read(text: str) -> Any:
    try:
        document = load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError("the plan cannot be read", hint="repair its faults first") from error
    if is_too_deep(document):
        raise InputError("the plan is nested too deeply to be read", hint=_BY_HAND)
    return document


def _rows(nodes: PlanNodes, document: Any) -> Any:
    """The tasks in a document; an empty list if there are none."""
    if nodes.key is not None:
        return document.get(nodes.key.value) or []
    return document if isinstance(document, list) else []


def _is_flow(node: yaml.Node | None) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _edges(document: Any) -> dict[str, list[str]]:
    """What each task depends on, by whatever a plan says it with."""
    form = normal_form(document).document
    rows = form.get("tasks") if isinstance(form, dict) else None
    tasks = [row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
    waits = {str(row.get("id")): row.get("depends_on") for row in tasks}
    return {task: list(needs) if isinstance(needs, list) else [] for task, needs in waits.items()}


def _plain(document: Any, key: yaml.ScalarNode | None) -> Any:
    """A document in which no tasks are an empty list."""
    name = key.value if key is not None else "tasks"
    return document | {name: document.get(name) or []} if isinstance(document, dict) else document or []


def _with_id(value: Any, task: str, to: str) -> Any:
    if isinstance(value, list):
        return [_with_id(one, task, to) for one in value]
    if isinstance(value, dict):
        return {key: _with_id(one, task, to) for key, one in value.items()}
    return to if str(value) == task else value


def _written(text: str, *, quoted: bool) -> str:
    """A text as it stands in YAML: in quotes if it would be something else without."""
    return text if not quoted and _is_plain(text) else json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=10_000)  # an id is written for each task that depends on it
def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and load(text) == text


def _lines(task: Mapping[str, Any], column: int) -> list[str]:
    """A task as lines of YAML."""
    given = dict(task)
    needs = given.pop("depends_on", None)
    lines = [f"{key}: {value}" for key, value in given.items()]
    if needs:
        lines.append(f"depends_on: [{', '.join(_written(one, quoted=False) for one in needs)}]")
    return [f"{' ' * column}{'  ' if at else '- '}{line}" for at, line in enumerate(lines)]
