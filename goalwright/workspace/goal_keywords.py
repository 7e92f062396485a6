"""Keywords for a goal in another language than the skills, from one short call to a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_planner.model import Request
from goalwright_skills.selection.query.language import language

if TYPE_CHECKING:
    from goalwright_planner.model import Model
    from goalwright_planner.prompting.prompts import Prompts
    from goalwright_skills.selection.query.language import Foreign

# The limit of the answer. Keywords take a tenth of it; a model that thinks first needs the rest.
MOST_TOKENS = 1_000
# The characters of a long goal that the model gets.
MOST_CHARACTERS = 4_000
MOST_LINES, MOST_WORDS = 6, 12
# A longer line is prose.
_PROSE = 40
_AGENT = "keywords"
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_LABEL = re.compile(r"^\s*(?:[-*•]|\d+[.)])?\s*(?:\w+\s+)?keywords?\s*:", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w.+#-]*")
# Removed from the keywords, since only the goal itself may name a skill.
_NAMING = frozenset({"skill", "skills"})


class NoKeywords(ValueError):
    """The answer has no usable keywords."""


async def ask_for_keywords(goal: str, foreign: Foreign, model: Model, prompts: Prompts, task: str | None = None) -> str:
    """Ask a model for keywords in the language of the skills, one line for each part of the goal.

    `task` is the id of a sub-goal.
    """
    variables = {"goal": goal[:MOST_CHARACTERS], "language": foreign.skills, "most": MOST_LINES}
    messages, about = prompts.messages(_AGENT, variables), ["keywords", goal]
    reply = await model.complete(Request(messages, role="detector", task=task, max_tokens=MOST_TOKENS, about=about))
    return keywords(reply.text, foreign)


def keywords(answer: str, foreign: Foreign) -> str:
    """Read the keywords of an answer; raises NoKeywords if there are none."""
    text = _THOUGHT.sub("", answer)
    if "{" in text:
        raise NoKeywords("the answer is not a list of words")
    lines = [words for line in text.splitlines() if (words := _WORD.findall(_LABEL.sub("", line)))]
    if not lines:
        raise NoKeywords("the answer is empty")
    if max(map(len, lines)) > _PROSE:
        raise NoKeywords("the answer is prose")
    chosen = [[word for word in words if word.lower() not in _NAMING][:MOST_WORDS] for words in lines[:MOST_LINES]]
    keywords = "\n".join(" ".join(words) for words in chosen)
    if language(keywords) == foreign.goal:
        raise NoKeywords(f"the answer is in {foreign.goal} too")
    return keywords
