"""A bounded edit of a SKILL.md, which replaces one passage, and asking a model for one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.models.budget import Budget
from goalwright.models.roles import RoleModels
from goalwright_executor.results.memo import Memo
from goalwright_planner.json_answer import NotJson, extract
from goalwright_planner.model import Message, Reply, Request
from goalwright_skills.format import frontmatter
from goalwright_skills.text.formatting import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.evaluation.scoring import Score
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import TaskReport
    from goalwright_planner.events import Event


SCHEMA = {
    "type": "object",
    "properties": {"old": {"type": "string"}, "new": {"type": "string"}, "why": {"type": "string"}},
    "required": ["old", "new", "why"],
    "additionalProperties": False,
}
_LONGEST = 20_000
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class BadEdit(ValueError):
    """An edit is invalid."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of one passage, with its reason."""

    old: str
    new: str
    why: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the edit as `--json` prints it."""
        return {"old": self.old, "new": self.new, "why": self.why}

    @property
    def added(self) -> list[str]:
        """The lines that the edit adds."""
        before = set(self.old.splitlines())
        return [line for line in self.new.splitlines() if line.strip() and line not in before]


def read_edit(value: Any) -> Edit:
    """Parse the edit in a model's answer; raises BadEdit if it is invalid."""
    if not isinstance(value, Mapping) or not all(isinstance(value.get(key), str) for key in ("old", "new")):
        raise BadEdit('it must be an object with the strings "old", "new" and "why"')
    if len(value["new"]) > _LONGEST:
        raise BadEdit(f"'new' is longer than {_LONGEST:,} characters")
    return Edit(value["old"], value["new"], str(value.get("why") or ""))


def applied(edit: Edit, text: str, *, most_lines: int, description: bool) -> str:
    """Apply an edit to a SKILL.md; raises BadEdit if it is not one bounded change of one passage."""
    matches = list(_passage(edit.old).finditer(text)) if edit.old.strip() else []
    if len(matches) != 1:
        raise BadEdit(f"'old' occurs {len(matches)} times in the SKILL.md; it must occur once")
    start, end = matches[0].span()
    newline = _NEWLINE.search(text, start, end) or _NEWLINE.search(text)
    changed = text[:start] + _NEWLINE.sub(newline[0] if newline else "\n", edit.new) + text[end:]
    if changed == text:
        raise BadEdit("it changes nothing")
    lines = changed_lines(text, changed)
    if lines > most_lines:
        raise BadEdit(f"it changes {lines} lines, more than {most_lines}")
    before, after = _head(text), _head(changed)
    if description:
        before.pop("description", None)
        after.pop("description", None)
    if before != after:
        keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        raise BadEdit(f"it changes the frontmatter ({', '.join(keys) or 'its format'}), which is not allowed")
    return changed


def plain(text: str) -> str:
    """Normalize line ends, as in the text that the model sees and quotes."""
    return _NEWLINE.sub("\n", text)


def changed_lines(before: str, after: str) -> int:
    """Count the removed and added lines."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return sum(line[:1] in "+-" and not line.startswith(("+++", "---")) for line in lines)


def patch(before: str, after: str, path: str) -> str:
    """Return the change as a unified diff."""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _passage(text: str) -> re.Pattern[str]:
    """Match a passage with any line ends."""
    return re.compile(f"(?:{_NEWLINE.pattern})".join(map(re.escape, _NEWLINE.split(text))))


def _head(text: str) -> dict[str, str]:
    """Return the raw lines of the frontmatter by key."""
    lines: dict[str, str] = {}
    key = ""
    for line in frontmatter.split(text).block.splitlines():
        if line[:1] not in (" ", "\t", "#", "-", "") and ":" in line:
            key = line.partition(":")[0].strip()
        lines[key] = lines.get(key, "") + line + "\n"
    return lines


_MOST_FAILURES = 12
_MOST_CHECKS, _MOST_TASKS = 5, 8
_EXCERPT = 1_000
_MOST_SKILL = 60_000


@dataclass(frozen=True, slots=True)
class Rejected:
    """An edit that a gate refused, with the reason."""

    edit: Edit
    gate: str
    reason: str


@dataclass(slots=True)
class Proposer:
    """Asks a model for edits of a skill, and sums the cost of its calls, None if it is unknown.

    It sees only the working cases.
    """

    goalwright: Goalwright
    model: str
    most_lines: int
    description: bool
    cost: float | None = 0.0

    async def propose(self, skill: str, failed: Sequence[Score], rejected: Sequence[Rejected]) -> Edit:
        """Ask for an edit; raises BadEdit if two answers are invalid."""
        variables = {
            "skill": clip(plain(skill), _MOST_SKILL),
            "failures": [_failure(score) for score in failed[:_MOST_FAILURES]],
            "rejected": [item.edit.to_dict() | {"gate": item.gate, "reason": item.reason} for item in rejected],
        }
        limits = {"most_lines": self.most_lines, "description": self.description}
        messages = self.goalwright.workspace.prompts().messages("improver", variables | limits)
        reply = await self._reply(messages)
        try:
            return _edit(reply)
        except BadEdit as error:
            again = self.goalwright.workspace.prompts().render("improver", "again", {"fault": str(error)})
            return _edit(await self._reply((*messages, Message("assistant", reply.text), Message("user", again))))

    async def _reply(self, messages: tuple[Message, ...]) -> Reply:
        models = RoleModels(self.goalwright.settings, Memo(_ignore), Budget(), self.goalwright.open_model)
        reply = await models.named(self.model).complete(Request(messages, schema=SCHEMA))
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        return reply


def _edit(reply: Reply) -> Edit:
    try:
        return read_edit(extract(reply.text, "old", "new"))
    except (NotJson, RecursionError) as error:
        raise BadEdit(f"the answer is not JSON: {error}") from error


def _failure(score: Score) -> dict[str, Any]:
    return {
        "goal": clip(score.result.goal, _EXCERPT),
        "checks": [check.to_dict() for check in score.checks if not check.passed][:_MOST_CHECKS],
        "tasks": [_task(task) for task in score.result.tasks[:_MOST_TASKS]],
        "excerpt": clip(score.result.answer or "", _EXCERPT),
    }


def _task(task: TaskReport) -> dict[str, str]:
    """Summarize a task: its skill or tool, its status, and its output or error."""
    text = task.error or task.output or ""
    return {"id": task.id, "name": task.name or "", "status": task.status, "text": clip(text, _EXCERPT // 4)}


def _ignore(_: Event) -> None:
    """Discard events: the call belongs to no run."""
