"""Search snippets: a short excerpt of a run's answer, error or tasks, with the matched words marked."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from goalwright_executor.stores import words
from goalwright_planner.events import PlanMade, RunFinished, RunStarted, TaskFinished, decode
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import Event
    from goalwright_planner.plan.task import Task

# Searched characters of a long and of a short text.
LONG = 40_000
SHORT = 1_000
# Characters before the first match, and of the whole excerpt.
_BEFORE = 60
_LENGTH = 200
_TASK_EVENTS = ("run_started", "plan_made", "plan_changed", "task_finished")
_SPACES = re.compile(r"\s+")

# Lines that consist only of Markdown: code fences, rules, and the line below a table's header.
_MARK_LINES = re.compile(
    r"^[ \t]*(?:(?:`{3,}|~{3,})[^\n`]*|[-=*_ \t]{3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+)$", re.M
)
_HEADINGS = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|(?:>[ \t]?)+)", re.M)
_ITEMS = re.compile(r"^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?", re.M)
_TABLE_ROWS = re.compile(r"^[ \t]*\|(.{0,2000})\|[ \t]*$", re.M)
_LINKS = re.compile(r"!?\[([^\]\n]{0,500})\]\([^()\s]{0,2000}(?:[ \t]+\"[^\"\n]{0,200}\")?\)")
# Emphasis and code: the same marks before and after a text. Applied twice, because they may be nested.
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|~~|`+)(?=[^\s*_~`]|[*_~`]+\w)([^\n]{1,500}?)(?<=\S)\1(?!\w)")


class SnippetPart(NamedTuple):
    """A piece of text; `is_match` is whether it was searched for."""

    text: str
    is_match: bool


class Snippet(NamedTuple):
    """An excerpt in parts; `where` names the text that it is from: `answer`, `error`, `task` and so on."""

    where: str
    parts: tuple[SnippetPart, ...]

    def to_dict(self) -> dict[str, Any]:
        """The snippet as JSON values."""
        return {"where": self.where, "parts": [list(part) for part in self.parts]}


class _RunText(NamedTuple):
    where: str
    text: str


def snippet(store: Store, run: RunSummary, search: str, local: Callable[[str], str]) -> Snippet | None:
    """Return an excerpt with the searched words that the run's line in a list does not show; None if it shows all.

    `local` replaces the names of folders in a recorded text by the paths of this checkout.
    """
    phrases = list(words.phrases(search))
    for text in (run.goal, *run.tags, run.note, *run.skills):
        phrases = [phrase for phrase in phrases if not _matches(words.normalized(text), [phrase])]
    if not phrases:
        return None
    try:
        for where, text in chain(_end_texts(store, run.run_id), _task_texts(store, run.run_id)):
            if excerpt := _excerpt(where, local(text), phrases):
                return excerpt
    except (GoalwrightError, ValueError, TypeError, AttributeError, KeyError):  # an imported record may have any events
        pass
    return None


def titles(event: Event) -> Iterator[str]:
    """The titles and item values of the tasks that an event adds."""
    added: Sequence[Task] = getattr(event, "added", ())
    if isinstance(event, PlanMade | RunStarted) and event.plan is not None:
        added = event.plan.tasks
    for task in added:
        yield task.title[:SHORT]
        if task.item is not None:
            yield str(task.item.value)[:SHORT]


def _end_texts(store: Store, run_id: str) -> Iterator[_RunText]:
    for row in store.rows(run_id, types=("run_finished",)):
        match decode(row.type, row.body):
            case RunFinished(answer=answer, error=error, question=question):
                yield _RunText("answer", (answer or "")[:LONG])
                yield _RunText("error", (error or "")[:SHORT])
                yield _RunText("question", (question or "")[:SHORT])
            case _:
                pass


def _task_texts(store: Store, run_id: str) -> Iterator[_RunText]:
    for row in store.rows(run_id, types=_TASK_EVENTS):
        event = decode(row.type, row.body)
        if event is None:
            continue
        yield from (_RunText("task", title) for title in titles(event))
        if isinstance(event, TaskFinished) and event.error:
            yield _RunText("error of a task", event.error[:SHORT])


def _excerpt(where: str, text: str, phrases: Sequence[Sequence[str]]) -> Snippet | None:
    shown = words.normalized(text)
    if not (matches := _matches(shown, phrases)):
        return None
    plain = words.normalized(_without_markdown(text))
    if plain_matches := _matches(plain, phrases):
        return Snippet(where, tuple(_parts(plain, plain_matches)))
    return Snippet(where, tuple(_parts(shown, matches)))  # the words are in the address of a link, for example


def _matches(text: str, phrases: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The start and end of every phrase in a text; the last word of a phrase matches as a prefix."""
    placed = list(words.positions(text))
    matches: list[tuple[int, int]] = []
    for index, (word, start, _) in enumerate(placed):
        for phrase in phrases:
            *whole, last = phrase
            if not word.startswith(phrase[0]):  # rejects most words quickly
                continue
            row = placed[index : index + len(phrase)]
            if len(row) < len(phrase) or [first for first, _, _ in row[:-1]] != whole:
                continue
            if row[-1][0].startswith(last) and (not matches or start >= matches[-1][1]):
                matches.append((start, row[-1][2]))
    return matches


def _parts(text: str, matches: Iterable[tuple[int, int]]) -> Iterator[SnippetPart]:
    """The text around the first match, with all matches in it marked."""
    matches = list(matches)
    start = max(0, matches[0][0] - _BEFORE)
    if start:  # move to the start of a word, if possible
        start = text.find(" ", start, matches[0][0]) + 1 or start
    stop = min(len(text), start + _LENGTH)
    offset = start
    opening = "…" if start else ""
    for begin, end in matches:
        if begin >= stop:
            break
        if before := f"{opening}{text[offset:begin]}":
            yield SnippetPart(_SPACES.sub(" ", before), is_match=False)
        opening = ""
        offset = min(end, begin + _LENGTH)
        yield SnippetPart(_SPACES.sub(" ", text[begin:offset]), is_match=True)
    if after := text[offset:stop] + ("…" if stop < len(text) and offset < len(text) else ""):
        yield SnippetPart(_SPACES.sub(" ", after), is_match=False)


def _without_markdown(text: str) -> str:
    """Remove the marks of headings, lists, tables, links, code and emphasis."""
    text = _HEADINGS.sub("", _MARK_LINES.sub("", text))
    text = _TABLE_ROWS.sub(lambda row: " · ".join(cell.strip() for cell in row[1].split("|")), text)
    text = _LINKS.sub(r"\1", _ITEMS.sub("• ", text))
    return _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)).strip()
