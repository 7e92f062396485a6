"""Extracts the JSON value from a model's answer, without guessing.

A valid document is never changed. Only text that does not parse is repaired, and only outside strings. A document that
is cut off inside a value is never completed.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator

_THINKING = re.compile(r"\A(?:\s*<(think|thinking|reasoning)>.*?</\1>)+", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(r"\A.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1|(?<=[}\]])\1|\Z)", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<open>[{\[])
    |(?P<close>[}\]])
    |(?P<comma>,)
    |(?P<colon>:)
    |(?P<scalar>[^\s{}\[\],:"/\#]+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_MAX_PIECES = 50
# Each unclosed bracket costs a scan to the end of the text.
_MAX_UNCLOSED = 5
_CLOSER = {"{": "}", "[": "]"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}


class NotJson(ValueError):
    """Raised for a text without a JSON document."""


def extract(text: str, *keys: str) -> Any:
    """Return the JSON document in a model's answer; of several, the last that has one of the keys."""
    answer = without_thinking(text)
    if not answer.strip():
        raise NotJson("the answer is empty")
    whole = [value for block in (answer, *fenced(answer)) if (value := _load(block)) is not None]
    embedded = [] if whole else [_load(piece) for piece in islice(objects(answer), _MAX_PIECES)]
    fitting = [value for value in (*whole, *embedded) if isinstance(value, dict) and not value.keys().isdisjoint(keys)]
    if fitting or whole:
        return (fitting or whole)[-1]
    raise NotJson(complaint(answer))


def without_thinking(text: str) -> str:
    """Return an answer without the thinking before it."""
    without = _THINKING.sub("", text)
    if without == text and (unopened := _UNOPENED.match(text)) and _load(text.strip()) is None:
        without = text[unopened.end() :]
    return without


def repair(text: str, *, ended: bool = False) -> str | None:
    """Return a text without comments and with commas and closing brackets corrected, or None if that is impossible.

    With `ended`, inner brackets may be missing, but not the last one.
    """
    written: list[str] = []
    open_brackets: list[str] = []
    after_value = False
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind in ("space", "comment"):
            written.append(token if kind == "space" else " ")
            continue
        if kind == "other":
            return None
        if kind == "close":
            closers = _closing(open_brackets, token)
            if closers is None:
                return None
            _drop_comma(written)
            written.append(closers)
            after_value = True
            if not open_brackets:
                return "".join(written) if not text[match.end() :].strip() else None
            continue
        if after_value and kind in ("string", "open", "scalar"):
            written.append(",")
        if kind == "open":
            open_brackets.append(token)
        written.append(token)
        after_value = kind in ("string", "scalar")
    if ended or len(open_brackets) != 1 or not after_value:
        return None  # cut off inside a value: completing it would invent a plan
    return "".join(written) + _CLOSER[open_brackets[0]]


def comments_in(text: str) -> list[str]:
    """Return the comments outside the strings of a text."""
    return [match.group() for match in _TOKEN.finditer(text) if match.lastgroup == "comment"]


def fenced(answer: str) -> list[str]:
    """Return the contents of the fenced blocks in an answer."""
    return [match.group(2) for match in _FENCE.finditer(answer)]


def fences(answer: str) -> list[re.Match[str]]:
    """Return matches for the fenced blocks in an answer; the second group is the content."""
    return list(_FENCE.finditer(answer))


def objects(text: str) -> Iterator[str]:
    """Yield every outermost {...} or [...] in prose, ignoring brackets in strings; a few may be unclosed."""
    position = unclosed = 0
    while (start := _first_bracket(text, position)) >= 0 and unclosed < _MAX_UNCLOSED:
        depth, end = 0, len(text)
        for match in _TOKEN.finditer(text, start):
            depth += (match.lastgroup == "open") - (match.lastgroup == "close")
            if depth == 0:
                end = match.end()
                break
        yield text[start:end]
        unclosed += depth != 0
        position = end if depth == 0 else start + 1


def breaks_off(text: str) -> bool:
    """Whether the first bracket of an answer is never closed."""
    answer = without_thinking(text)
    first = next(objects(answer), "")
    return sum((token.lastgroup == "open") - (token.lastgroup == "close") for token in _TOKEN.finditer(first)) > 0


def _first_bracket(text: str, position: int) -> int:
    starts = [start for start in (text.find("{", position), text.find("[", position)) if start >= 0]
    return min(starts, default=-1)


def _load(candidate: str) -> Any:
    """Parse a JSON object or list, repaired if necessary; None if the text is neither."""
    stripped = candidate.strip().removeprefix("\ufeff")
    if not stripped.startswith(("{", "[")):
        return None
    for attempt in (str, repair):
        if (text := attempt(stripped)) is None:
            continue
        try:
            return join_surrogates(json.loads(text, strict=False))
        except RecursionError:
            break  # no repair removes brackets
        except ValueError:
            continue
    return None


def _closing(open_brackets: list[str], token: str) -> str | None:
    """Return a closing bracket with the missing inner ones before it, or None if it was never opened."""
    if _OPENER[token] not in open_brackets:
        return None
    closers = ""
    while open_brackets:
        closer = _CLOSER[open_brackets.pop()]
        closers += closer
        if closer == token:
            break
    return closers


def _drop_comma(written: list[str]) -> None:
    for index in range(len(written) - 1, -1, -1):
        if written[index] == ",":
            written[index] = ""
            return
        if written[index].strip():
            return


def complaint(answer: str) -> str:
    """Return why an answer holds no JSON document."""
    start = _first_bracket(answer, 0)
    if start < 0:
        return "the answer is prose without a JSON object"
    try:
        json.loads(answer[start:], strict=False)
    except json.JSONDecodeError as error:
        return f"the answer is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno} of the JSON"
    except RecursionError:
        return "the answer is nested too deeply to be read"
    except ValueError:
        return "the answer is not valid JSON: it has a number with too many digits"
    return "the answer holds no JSON object"
