"""Conditions, for the `when` of a task and the `until` of its rounds: comparisons joined by `and`, `or` and `not`.

    <<review.output.severity>> == "high" and (<<files.count>> > 0 or not <<notes.output>> is empty)

The language is small, is parsed here and is never evaluated as code: no calls, no patterns, at most 500 characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from goalwright_planner.plan.references import ITEM, REFERENCE, reference_of, spelled
from goalwright_planner.plan.task_id import item_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright_planner.plan.references import Reference

LONGEST = 500
_DEEPEST = 20
_VALUE = re.compile(r"<<[^<>]*>>")  # a value, or text that looks like one
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<value><<[^<>]*>>)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?(?![\w.]))
    |(?P<sign>[=!]=|[<>]=?|[()])
    |(?P<word>[^\W\d]\w*)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_COMPARING = ("==", "!=", "<", "<=", ">", ">=", "contains")
_CONSTANTS = {"true": True, "false": False, "null": None}
_INSTEAD = {
    "=": "==", "&": "and", "|": "or", "!": "not", "in": "contains", "has": "contains", "equals": "==", "none": "null",
    "exists": "is not empty",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ValueOf:
    """The `output`, `status` or `count` of a task or of one of its items; an output may have a path.

    Without a `part` it is the value at a path of the item that the condition is about.
    """

    id: str
    part: str
    path: str = ""
    item: int | None = None

    @property
    def of(self) -> str:
        """The id of the task that has the value: the named one, or its item."""
        return self.id if self.item is None else item_id(self.id, self.item)

    def __str__(self) -> str:
        return f"<<{self.of}{f'.{self.part}' if self.part else ''}{self.path}>>"


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: text, a number, true, false or null."""

    value: str | Decimal | bool | None


@dataclass(frozen=True, slots=True)
class CompareTest:
    """A comparison of two values."""

    left: ValueOf | Constant
    sign: str
    right: ValueOf | Constant


@dataclass(frozen=True, slots=True)
class EmptyTest:
    """A test whether a value is empty."""

    value: ValueOf | Constant


@dataclass(frozen=True, slots=True)
class Negation:
    """A condition that holds if another does not."""

    of: Condition


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by `and` or by `or`."""

    word: str
    parts: tuple[Condition, ...]


Condition = CompareTest | EmptyTest | Negation | Junction


class ConditionError(ValueError):
    """Raised for a text that is not a condition; the message begins with the column."""


def parse(text: str) -> Condition:
    """Parse a condition; raises ConditionError."""
    if len(text) > LONGEST:
        raise ConditionError(f"it has {len(text)} characters, more than {LONGEST}; shorten it, or ask a question")
    return _Parser(text).whole()


def values_in(when: object) -> list[ValueOf]:
    """Return the distinct values that a condition or a question reads; the condition may be invalid."""
    text = when.get("ask") if isinstance(when, Mapping) else when
    values = map(_value_in, _VALUE.findall(text)) if isinstance(text, str) and "<<" in text else ()
    return list(dict.fromkeys(value for value in values if value is not None))


def problems(when: object, key: str = "when") -> Iterator[str]:
    """Yield the faults of a condition under a key of a task, whatever the other tasks are."""
    match when:
        case None:
            return
        case str():
            try:
                parse(when)
            except ConditionError as error:
                yield f"'{key}' is not a condition: {error}"
        case {"ask": str(question), **more} if question.strip() and not more:
            return
        case _:
            yield f'\'{key}\' must be a condition as text, or a question to a model as {{"ask": "…"}}'


def value_of(reference: Reference) -> ValueOf:
    """Return the value that a reference names."""
    return ValueOf(reference.id, reference.part, spelled(reference.path), reference.item)


def filled(question: str, text_of: Callable[[ValueOf], str]) -> str:
    """Return a question with its values replaced in one pass, so that text inside a value is never replaced."""

    def replaced(match: re.Match[str]) -> str:
        value = _value_in(match[0])
        return match[0] if value is None else text_of(value)

    return _VALUE.sub(replaced, question)


def _value_in(text: str) -> ValueOf | None:
    """Return the value that a text such as `<<a.output>>` names, or None."""
    if (reference := REFERENCE.fullmatch(text)) is not None:
        return value_of(reference_of(reference))
    item = ITEM.fullmatch(text)
    return ValueOf("item", "", item["path"]) if item is not None else None


class _Parser:
    """A recursive descent parser for `or`, `and`, `not`, brackets and tests."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup != "space"]
        self._at = self._depth = 0

    def whole(self) -> Condition:
        condition = self._junction("or")
        if self._at < len(self._tokens):
            raise self._fault("expected 'and', 'or' or the end")
        return condition

    def _junction(self, word: str) -> Condition:
        following = self._test if word == "and" else lambda: self._junction("and")
        parts = [following()]
        while self._accept(word):
            parts.append(following())
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def _test(self) -> Condition:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ConditionError(f"column {self._column}: brackets and 'not' are nested more than {_DEEPEST} deep")
        if self._accept("not"):
            condition: Condition = Negation(self._test())
        elif self._accept("("):
            condition = self._junction("or")
            if not self._accept(")"):
                raise self._fault("expected ')'")
        else:
            condition = self._comparison(self._operand())
        self._depth -= 1
        return condition

    def _comparison(self, left: ValueOf | Constant) -> Condition:
        if self._accept("is"):
            negated = self._accept("not")
            if not self._accept("empty"):
                raise self._fault("expected 'empty' or 'not empty' after 'is'")
            return Negation(EmptyTest(left)) if negated else EmptyTest(left)
        for sign in _COMPARING:
            if self._accept(sign):
                return CompareTest(left, sign, self._operand())
        raise self._fault(f"expected a test after the value: {', '.join(_COMPARING)}, is empty or is not empty")

    def _operand(self) -> ValueOf | Constant:
        kind, text = self._next()
        if kind == "value":
            value = _value_in(text)
            if value is None:
                raise self._fault("expected <<id.output>>, <<id.output.field>>, <<id.status>> or <<id.count>>")
            operand: ValueOf | Constant = value
        elif kind == "text":
            if REFERENCE.search(text):
                raise ConditionError(f"column {self._column}: a reference in quotes is only text; leave the quotes out")
            operand = Constant(re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL))
        elif kind == "number":
            operand = Constant(Decimal(text))
        elif kind == "word" and text.lower() in _CONSTANTS:
            operand = Constant(_CONSTANTS[text.lower()])
        else:
            raise self._fault("expected a value: <<id.output>>, quoted text, a number, true, false or null")
        self._at += 1
        return operand

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            return "", ""
        match = self._tokens[self._at]
        return match.lastgroup or "", match.group()

    def _accept(self, word: str) -> bool:
        kind, text = self._next()
        if kind not in ("word", "sign") or text.lower() != word:
            return False
        self._at += 1
        return True

    @property
    def _column(self) -> int:
        return self._tokens[self._at].start() + 1 if self._at < len(self._tokens) else len(self._text) + 1

    def _fault(self, expected: str) -> ConditionError:
        _, text = self._next()
        instead = f", not {text!r}" if text else ", but it ends there"
        if text in ("'", '"'):
            instead += "; the quote is never closed"
        elif text == "<" and self._text[self._column :].startswith("<"):
            instead += "; close the reference with >>"
        elif text.lower() in _INSTEAD:
            instead += f"; write {_INSTEAD[text.lower()]!r}"
        return ConditionError(f"column {self._column}: {expected}{instead}")
