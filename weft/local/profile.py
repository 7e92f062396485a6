"""How to work with a small model: bounds, sampling and short prompts, as data that its entry names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Message = dict[str, Any]
CUT = "\n[…]\n"
# Characters that a message keeps, however little room there is.
LEAST = 48
# A model's name often ends in its size: qwen3:4b, gemma3:270m, llama3.2:1b-instruct.
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_NEXT_PART = re.compile(r"\bthen\b|\bafterwards\b|;|^\s*(?:\d+[.)]|[-*])\s", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """A goal and its plan, shown to the model as a turn of the conversation."""

    goal: str
    skills: tuple[str, ...]
    plan: str


@dataclass(frozen=True, slots=True)
class Profile:
    """What a kind of model needs; `calls` holds the sampling of a plan, a task and an answer."""

    name: str
    most_tasks: int
    skills_shown: int
    prompt_tokens: int
    calls: Mapping[str, Mapping[str, Any]]
    server: Mapping[str, Any]
    prompts: Mapping[str, str]
    examples: tuple[Example, ...]

    def tasks(self, goal: str) -> int:
        """How many tasks a plan of this goal may have: small models fill whatever room they are given."""
        return min(self.most_tasks, max(1, parts(goal)))

    def plan_messages(self, goal: str, skills: Sequence[str]) -> list[Message]:
        """The conversation that asks for a plan in the small schema; `skills` are those selected."""
        messages = [_message("system", self.prompts["plan"])]
        for example in self.examples:
            messages += [_asked(example.goal, example.skills), _message("assistant", example.plan)]
        return [*messages, _asked(goal, skills[: self.skills_shown])]

    def task_messages(
        self, goal: str, instruction: str, skill: str = "", inputs: Mapping[str, str] | None = None
    ) -> list[Message]:
        """The conversation of one task: its SKILL.md and upstream results by task id, where it has any."""
        given = [f"Result of {name}:\n{text}" for name, text in (inputs or {}).items()]
        # Said twice, a small model answers twice.
        same = _plain(goal) == _plain(instruction)
        asked = [instruction] if same else [f"Goal: {goal}", f"Your task: {instruction}"]
        user = _message("user", "\n\n".join([*given, *asked, self.prompts["task"]]))
        return [_message("system", skill), user] if skill else [user]

    def answer_messages(self, goal: str, outputs: Mapping[str, str]) -> list[Message]:
        """The conversation that puts the final tasks' outputs together."""
        results = [f"Result {number}:\n{text}" for number, text in enumerate(outputs.values(), start=1)]
        user = "\n\n".join([*results, f"Goal: {goal}", self.prompts["answer"]])
        return [_message("user", user)]


def parts(goal: str) -> int:
    """How many parts a goal names one after the other."""
    return 1 + len(_NEXT_PART.findall(goal.strip().lstrip("-*").strip()))


def bounded(messages: Sequence[Message], count: Callable[[Sequence[Message]], int], limit: int) -> list[Message]:
    """The messages, the longest of them cut in the middle until `count` says that they fit the limit."""
    fitting = [dict(message) for message in messages]
    while (tokens := count(fitting)) > limit:
        longest = max(fitting, key=lambda message: len(message["content"]))
        text = longest["content"]
        share = tokens * len(text) / sum(len(message["content"]) for message in fitting)
        # A little less than its share, since how tokens spread over the text is not known.
        room = max(LEAST, int(0.95 * len(text) * (share - (tokens - limit)) / share) - len(CUT))
        if room + len(CUT) >= len(text):
            raise ValueError(f"the messages take {tokens} tokens even when cut, and {limit} fit")
        head = room * 2 // 3
        longest["content"] = text[:head] + CUT + text[len(text) - (room - head) :]
    return fitting


@cache
def profiles() -> Mapping[str, Profile]:
    """The profiles as shipped, by name."""
    rows: Mapping[str, Any] = _document()["profiles"]
    return {name: _profile(name, row) for name, row in rows.items()}


def profile_for(model: str) -> Profile | None:
    """The profile of another server's model by the size in its name; None for one that needs no help."""
    rule = _document()["by_size"]
    sizes = [float(number) / (1000 if unit == "m" else 1) for number, unit in _SIZE.findall(model.lower())]
    return profiles()[rule["profile"]] if sizes and sizes[-1] <= rule["largest"] else None


@cache
def _document() -> Any:
    return yaml.safe_load(files("weft.local").joinpath("profiles.yaml").read_text(encoding="utf-8"))


def _profile(name: str, row: Mapping[str, Any]) -> Profile:
    examples = tuple(Example(e["goal"], tuple(e["skills"]), e["plan"]) for e in row["examples"])
    fields = {key: value for key, value in row.items() if key != "examples"}
    return Profile(name=name, examples=examples, **fields)


def _asked(goal: str, skills: Sequence[str]) -> Message:
    return _message("user", f"Goal: {goal}\nSkills: {', '.join(skills) or 'none'}")


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .").casefold()
