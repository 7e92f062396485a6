"""The gates of an edit, cheapest first; each returns the reason for a refusal, or an empty text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from goalwright.evaluation.preview import changed_selections
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
_WINDOW = 3  # words in which a word of an expectation is looked for, per word


def check(file: Path) -> str:
    """Refuse a SKILL.md with errors in `skills check`."""
    errors = [finding for finding in skill_md(file).problems if finding.severity == "error"]
    return "; ".join(f"line {finding.line}: {finding.message}" for finding in errors)


def judge_text(edit: Edit, shown: Iterable[Case], hidden: Iterable[Case] = ()) -> str:
    """Refuse an edit with the words of an expectation, or with an expected text.

    The model that proposes edits sees the reason, which therefore does not quote `hidden` cases.
    """
    return _copied_text(edit, shown) or (_copied_text(edit, hidden) and "it contains the words of an expectation")


def _copied_text(edit: Edit, cases: Iterable[Case]) -> str:
    text = _plain(edit.new)
    added = [_WORD.findall(_plain(line)) for line in edit.added]
    lines, words_added = [set(line) for line in added], [word for line in added for word in line]
    for case in cases:
        for sentence in (*case.expectations, case.expected):
            expected = _plain(sentence)
            if len(expected) >= _SHORTEST and expected in text and expected not in _plain(edit.old):
                return f"it contains an expectation: {shorten(sentence, 80)}"
            words = set(_WORD.findall(expected))
            size = _WINDOW * len(words)  # the words can be spread over several lines
            windows = (set(words_added[start : start + size]) for start in range(max(len(words_added) - size, 0) + 1))
            if len(words) >= _FEWEST_WORDS and any(words <= group for group in (*lines, *windows)):
                return f"it contains all words of an expectation: {shorten(sentence, 80)}"
    return ""


def selection(name: str, before: Workspace, after: Workspace) -> str:
    """Refuse an edit with which a recorded goal would no longer select this or another skill."""
    for change in changed_selections(before, after)[1]:
        for lost in change.before:
            if lost not in change.after:
                skill = "it" if lost == name else lost
                return f"the recorded goal {shorten(change.goal, 80)!r} would no longer select {skill}"
    return ""


def working(before: Outcomes, after: Outcomes) -> str:
    """Refuse an edit that lowers the pass rate of the working cases."""
    old, new = share(before), share(after)
    return f"the working cases fall from {old:.2f} to {new:.2f}" if new < old else ""


def held_out(before: Outcomes, after: Outcomes) -> str:
    """Refuse an edit unless the held-out cases rise and none that always passed now always fails; names no case."""
    old, new = share(before), share(after)
    if new <= old:
        return f"the held-out cases do not rise: {old:.2f} before, {new:.2f} after"
    broken = [case for case, runs in before.items() if all(runs) and not any(after.get(case, runs))]
    return f"{len(broken)} held-out case(s) that always passed now always fail" if broken else ""


def share(outcomes: Outcomes) -> float:
    """Return the share of passed runs."""
    runs = [passed for case in outcomes.values() for passed in case]
    return sum(runs) / len(runs) if runs else 0.0


def _plain(text: str) -> str:
    """Normalize a text, so that look-alike letters and invisible characters hide no words."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return " ".join(visible.casefold().split()).strip(" .")
