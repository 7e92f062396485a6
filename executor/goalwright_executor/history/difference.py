"""Describes how two texts, listings, selections, plans or prompts differ, in one line each."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.events import CallStarted, PlanChanged
    from goalwright_planner.model import Request
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task

_WIDTH = 120
_ENTRY = re.compile(r"<(?:skill|tool)>\s*<name>(.*?)</name>.*?</(?:skill|tool)>", re.DOTALL)


def difference(then: str, now: str) -> str | None:
    """Return the first different line before and after; None if the texts are equal."""
    if then == now:
        return None
    pairs = zip_longest(then.splitlines(), now.splitlines())
    for number, (before, after) in enumerate(pairs, start=1):
        if before != after:
            return f"line {number} was {_cut(before, after)}, is {_cut(after, before)}"
    return "only the line endings differ"


def of_listings(then: str, now: str, kind: str) -> Iterator[str]:
    """The differences between two listings of skills or tools, entry by entry."""
    if then == now:
        return
    before, after = ({match.group(1): match.group() for match in _ENTRY.finditer(text)} for text in (then, now))
    label = kind if kind == "skill" else f"prompt of planning: {kind}"
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield f"{label} {name!r} is no longer in the listing"
        elif name not in before:
            yield f"{label} {name!r} is new in the listing"
        elif (change := difference(before[name], after[name])) is not None:
            yield f"{label} {name!r} is listed differently: {change}"
    if before == after:
        order = f"{', '.join(before)} → {', '.join(after)}" if list(before) != list(after) else difference(then, now)
        yield f"prompt of planning: the listing of {kind}s differs: {order}"


def of_names(then: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """The differences between two selections of skills."""
    yield from (f"skill {name!r} is no longer selected" for name in then if name not in now)
    yield from (f"skill {name!r} is newly selected" for name in now if name not in then)
    if set(then) == set(now) and list(then) != list(now):
        yield f"skills are selected in another order: {', '.join(then)} → {', '.join(now)}"


def of_plans(then: Plan, now: Plan) -> Iterator[str]:
    """The differences between two plans, task by task."""
    yield from of_tasks(then.tasks, now.tasks)
    for part, prompt in (("synthesis", "synthesis"), ("clarification", "planning")):
        if (change := difference(getattr(then, part) or "", getattr(now, part) or "")) is not None:
            yield f"prompt of {prompt}: the plan's {part}: {change}"
    if then.unused != now.unused:
        reasons = f"{_shown(then.unused)} → {_shown(now.unused)}"
        yield f"prompt of planning: the plan's reasons for unused skills: {reasons}"


def of_tasks(then: Sequence[Task], now: Sequence[Task]) -> Iterator[str]:
    """The differences between the tasks of two plans."""
    before, after = ({task.id: _json(task.to_dict()) for task in tasks} for tasks in (then, now))
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield f"task {name!r} is no longer in the plan"
        elif name not in before:
            yield f"task {name!r} is new in the plan"
        elif (change := difference(before[name], after[name])) is not None:
            yield f"task {name!r} is planned differently: {change}"
    if before == after and list(before) != list(after):
        yield f"tasks are in another order: {', '.join(before)} → {', '.join(after)}"


def of_changes(then: PlanChanged, now: PlanChanged, capture: Capture) -> Iterator[str]:
    """The differences between two changes of a plan."""
    yield from of_tasks(then.added, now.added)
    for part in ("dropped", "rewired"):
        before, after = (capture.value(getattr(change, part)) for change in (then, now))
        if before != after:
            yield f"the tasks that are {part}: {_shown(before)} → {_shown(after)}"
    for part in ("synthesis", "note"):
        texts = [capture.text(getattr(change, part) or "") for change in (then, now)]
        if (change := difference(*texts)) is not None:
            yield f"the {part} of the change: {change}"


def of_messages(then: CallStarted, now: Request, capture: Capture) -> str:
    """Return the difference of the first message that differs, or of the rest of the request."""
    for number, (before, after) in enumerate(zip_longest(then.messages, now.messages), start=1):
        if before is None or after is None:
            return f"message {number} is {'new' if before is None else 'gone'}"
        change = difference(capture.text(before.content), capture.text(after.content))
        if change is not None:
            return f"the {after.role} message, {change}"
        if before.tool_calls != after.tool_calls:
            return f"the {after.role} message calls other tools"
        if [image.sha256 for image in before.images] != [image.sha256 for image in after.images]:
            was, now_is = (", ".join(image.name for image in message.images) or "none" for message in (before, after))
            return f"the images of the {after.role} message were {was}, are {now_is}"
    names = tuple(tool.name for tool in now.tools)
    if names != then.tools:
        return f"the tools offered were {', '.join(then.tools) or 'none'}, are {', '.join(names) or 'none'}"
    return "the model, a tool's description or the answer's schema differs"


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else "none"


def _cut(text: str | None, other: str | None) -> str:
    """Return the part of a line around its first difference from the other."""
    if text is None:
        return "missing"
    pairs = enumerate(zip(text, other or "", strict=False))
    common = next((index for index, (a, b) in pairs if a != b), len(other or ""))
    begin = max(0, min(common, len(text)) - _WIDTH // 3)
    part = text[begin : begin + _WIDTH]
    return repr(("…" if begin else "") + part + ("…" if begin + _WIDTH < len(text) else ""))
