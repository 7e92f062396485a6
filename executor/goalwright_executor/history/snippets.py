"""Where the words of a search stand in a run: a short piece of one of its texts, with the words marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from goalwright_executor.history import run_texts
from goalwright_executor.history.unmarked import unmarked
from goalwright_executor.stores import words
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from goalwright_executor.stores.row import RunSummary
    from goalwright_executor.stores.store import Store

# How much stands before the first word that is marked, and how long the whole is, in characters.
_BEFORE = 60
_LENGTH = 200
_SPACES = re.compile(r"\s+")


class SnippetPart(NamedTuple):
    """A piece of text; `is_match` says whether it was searched for."""

    text: str
    is_match: bool


class Snippet(NamedTuple):
    """A piece of a run's text in parts; `where` says of which: `answer`, `error`, `task` and so on."""

    where: str
    parts: tuple[SnippetPart, ...]

    def to_dict(self) -> dict[str, Any]:
        """The snippet as JSON values."""
        return {"where": self.where, "parts": [list(part) for part in self.parts]}


def snippet(store: Store, run: RunSummary, search: str, local: Callable[[str], str]) -> Snippet | None:
    """Where a run has the words of a search that its line in a list does not show; None if it shows them all.

    `local` gives a recorded text with the paths of this checkout.
    """
    left = list(words.phrases(search))
    for text in (run.goal, *run.tags, run.note, *run.skills):
        left = [phrase for phrase in left if not _found(words.shown(text), [phrase])]
    if not left:
        return None
    try:
        for texts in (run_texts.ended, run_texts.tasks):
            if found := _first(((where, local(text)) for where, text in texts(store, run.run_id)), left):
                return found
    except (GoalwrightError, ValueError, TypeError, AttributeError, KeyError):  # an imported record may have any events
        pass
    return None


def _first(texts: Iterable[tuple[str, str]], phrases: Sequence[Sequence[str]]) -> Snippet | None:
    for where, text in texts:
        shown = words.shown(text)
        if found := _found(shown, phrases):
            plain = words.shown(unmarked(text))
            if places := _found(plain, phrases):
                return Snippet(where, tuple(_parts(plain, places)))
            return Snippet(where, tuple(_parts(shown, found)))  # it stands in the address of a link, say
    return None


def _found(text: str, phrases: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Where phrases stand in a text, each by its begin and end; the last word of one is found by its beginning."""
    placed = list(words.placed(text))
    found: list[tuple[int, int]] = []
    for at, (word, begin, _) in enumerate(placed):
        for phrase in phrases:
            *whole, last = phrase
            if not word.startswith(phrase[0]):  # most words are none of them
                continue
            row = placed[at : at + len(phrase)]
            if len(row) < len(phrase) or [one for one, _, _ in row[:-1]] != whole or not row[-1][0].startswith(last):
                continue
            if not found or begin >= found[-1][1]:
                found.append((begin, row[-1][2]))
    return found


def _parts(text: str, found: Sequence[tuple[int, int]]) -> Iterator[SnippetPart]:
    """The text around the first of the found places, with those that are near marked."""
    start = max(0, found[0][0] - _BEFORE)
    if start:  # at the beginning of a word, if there is one
        start = text.find(" ", start, found[0][0]) + 1 or start
    stop = min(len(text), start + _LENGTH)
    at = start
    opening = "…" if start else ""
    for begin, end in found:
        if begin >= stop:
            break
        if before := f"{opening}{text[at:begin]}":
            yield SnippetPart(_flat(before), is_match=False)
        opening = ""
        at = min(end, begin + _LENGTH)
        yield SnippetPart(_flat(text[begin:at]), is_match=True)
    if rest := text[at:stop] + ("…" if stop < len(text) and at < len(text) else ""):
        yield SnippetPart(_flat(rest), is_match=False)


def _flat(text: str) -> str:
    """A text in one line, with a space at its ends where there is one."""
    return _SPACES.sub(" ", text)
