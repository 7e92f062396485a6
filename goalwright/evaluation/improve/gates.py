"""The gates of an edit, cheapest first; each returns why it refuses, or nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from goalwright.evaluation.free_part import changed_selections
from goalwright_skills.check.review import skill_md
from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.improve.edit import Edit
    from goalwright.workspace.workspace import Workspace

Gate = Literal["check", "judge-text", "selection", "working", "held-out"]
Outcomes = Mapping[str, Sequence[bool]]

_WORD = re.compile(r"\w{3,}")
_FEWEST_WORDS = 4
_SHORTEST = 12
_NEAR = 3


def check(file: Path) -> str:
    """The problems of severity `error` that `skills check` finds."""
    errors = [finding for finding in skill_md(file).problems if finding.severity == "error"]
    return "; ".join(f"line {finding.line}: {finding.message}" for finding in errors)


def judge_text(edit: Edit, shown: Iterable[Case], hidden: Iterable[Case] = ()) -> str:
    """Whether the edit says what a judge wants to hear: an expectation's words, or an expected text in full.

    The reason reaches the model that proposes edits: those of `hidden` cases are not quoted in it.
    """
    return _told(edit, shown) or (_told(edit, hidden) and "it has the words of an expectation")


def _told(edit: Edit, cases: Iterable[Case]) -> str:
    text = _plain(edit.new)
    added = [_WORD.findall(_plain(line)) for line in edit.added]
    lines, every = [set(line) for line in added], [word for line in added for word in line]
    for case in cases:
        for sentence in (*case.expectations, case.expected):
            wanted = _plain(sentence)
            if len(wanted) >= _SHORTEST and wanted in text and wanted not in _plain(edit.old):
                return f"it has the words of an expectation: {shorten(sentence, 80)}"
            words = set(_WORD.findall(wanted))
            near = _NEAR * len(words)  # spread over lines, they still say it
            windows = (set(every[start : start + near]) for start in range(max(len(every) - near, 0) + 1))
            if len(words) >= _FEWEST_WORDS and any(words <= group for group in (*lines, *windows)):
                return f"it has all the words of an expectation: {shorten(sentence, 80)}"
    return ""


def selection(name: str, before: Workspace, after: Workspace) -> str:
    """Whether a recorded goal would lose the skill, or another skill be displaced."""
    for change in changed_selections(before, after)[1]:
        for lost in change.before:
            if lost not in change.after:
                what = "would no longer select it" if lost == name else f"would no longer select {lost}"
                return f"the recorded goal {shorten(change.goal, 80)!r} {what}"
    return ""


def working(before: Outcomes, after: Outcomes) -> str:
    """Whether the working cases fall."""
    less, more = share(before), share(after)
    return f"the working cases fall from {less:.2f} to {more:.2f}" if more < less else ""


def held_out(before: Outcomes, after: Outcomes) -> str:
    """Whether the held-out cases do not rise, or one that always passed now always fails; none of them is named."""
    less, more = share(before), share(after)
    if more <= less:
        return f"the held-out cases do not rise: {less:.2f} before, {more:.2f} after"
    broken = [case for case, runs in before.items() if all(runs) and not any(after.get(case, runs))]
    return f"{len(broken)} held-out case(s) that always passed now always fail" if broken else ""


def share(outcomes: Outcomes) -> float:
    """The share of runs that passed."""
    runs = [passed for case in outcomes.values() for passed in case]
    return sum(runs) / len(runs) if runs else 0.0


def _plain(text: str) -> str:
    """A text as it reads: look-alike forms of letters, and characters that nobody sees, hide no words."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return " ".join(seen.casefold().split()).strip(" .")
