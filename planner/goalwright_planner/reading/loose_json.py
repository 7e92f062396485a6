"""Parses almost-JSON without guessing: Python literals, bare keys, curly quotes, and YAML plans.

Each form has its own strict grammar. Text that could mean two things is refused, such as a quote inside a quoted text,
or a key that occurs twice with different values.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_planner.json_answer import NotJson, comments_in, repair
from goalwright_skills.format.safe_yaml import JsonLoader
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 1_000_000
_NAMES = {"null": None, "true": True, "false": False}
_OUTSIDE_STRINGS = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")|(?P<literal>\b(?:None|True|False)\b)|(?P<key>(?<=[{,\s])[A-Za-z_]\w*(?=\s*:))""",
    re.DOTALL,
)
_CURLY = re.compile(r"“([^“”]*)”")
_YAML_PLAN = re.compile(r"(?:---\s*\n)?tasks:[ \t]*(?:#[^\n]*)?\n")
_YAML_COMMENT = re.compile(r"(?:^|\s)(#[^\n]*)", re.MULTILINE)
_TASKS = r"(?:tasks?|steps?|nodes?|items?|entries|plan)"
_MORE = r"(?:more|remaining|rest|other|additional|further|similar)"
_OMITTED = r"(?:omitted|left\s+out|skipped|truncated|as\s+needed|for\s+brevity|to\s+come|(?:go|follow)\s+here|here)"
_OMISSION = re.compile(
    rf"\A\s*(?:\.{{3}}|…)|\b{_MORE}\s+{_TASKS}\b[^.\n]*\b{_OMITTED}\b|\b{_TASKS}\s+(?:(?:were|are)\s+)?{_OMITTED}\b"
    rf"|\b(?:omitted|left\s+out|shortened)\s+for\s+brevity\b",
    re.IGNORECASE,
)
_COMMENT_OMISSION = re.compile(
    rf"\.{{3}}|…|\b(?:etc|rest|omitted|truncated|TODO|TBD|and\s+so\s+(?:on|forth))\b|\b{_MORE}\b[^.\n]*\b{_TASKS}\b",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(r"[\s\W]*(?:\.{3}|…)[\s\W]*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Ambiguous(NotJson):
    """Raised for a text that could be read in two ways."""


class LeftOut(Ambiguous):
    """Raised for a text that says that something was left out of it."""


def load(text: str) -> tuple[Any, str]:
    """Return the object or list in a text, and the repair that it needed; raises NotJson if it is neither."""
    stripped = text.strip().removeprefix("\ufeff")
    if len(stripped) > _LONGEST:
        return _json(stripped), ""
    for read, form in _READERS:
        try:
            value = read(stripped)
        except Ambiguous:
            if read is _json:  # a duplicate key stays ambiguous in every grammar
                raise
            continue
        except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError, yaml.YAMLError):
            continue
        if isinstance(value, dict | list):
            if form and (mark := next(filter(_COMMENT_OMISSION.search, _comments(stripped, read)), None)) is not None:
                raise LeftOut(f"the answer says that something was left out of it: {mark.strip()[:80]!r}; write it all")
            return join_surrogates(value), form
    raise NotJson("it is neither JSON nor anything close to it")


def marks_omission(value: object) -> bool:
    """Whether a text says that tasks were left out."""
    return isinstance(value, str) and _OMISSION.search(value) is not None


def is_ellipsis(value: object) -> bool:
    """Whether a text is nothing but dots."""
    return isinstance(value, str) and _ELLIPSIS.fullmatch(value) is not None


def _comments(text: str, read: Callable[[str], Any]) -> list[str]:
    """Return the comments of a text that this reader parsed."""
    if read is _yaml:
        return _YAML_COMMENT.findall(text)
    if read is _python:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]
    straight = _CURLY.sub(lambda match: f'"{match[1]}"', text) if read is _curly else text
    return comments_in(straight)


def _json(text: str) -> Any:
    return json.loads(text, strict=False, object_pairs_hook=unique_keys)


def _corrected(text: str) -> Any:
    """Parse JSON with commas, comments and inner brackets corrected, but only if its end is not lost."""
    return _json(repair(text, ended=True) or "")


def _relaxed(text: str) -> Any:
    """Parse JSON with Python literals, bare keys, and `\\'` inside strings."""

    def replace(match: re.Match[str]) -> str:
        if match["string"]:
            return match["string"].replace("\\'", "'")
        if match["literal"]:
            return {"None": "null", "True": "true", "False": "false"}[match["literal"]]
        return f'"{match["key"]}"'

    relaxed = _OUTSIDE_STRINGS.sub(replace, text)
    try:
        return _json(relaxed)
    except ValueError:
        return _corrected(relaxed)


def _python(text: str) -> Any:
    """Parse a Python literal; adjacent strings are refused, since Python would join them and lose their quotes."""
    if not text.startswith(("{", "[")):
        raise ValueError(text[:20])
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            if before == tokenize.STRING or token.string[0] not in "'\"":
                raise Ambiguous(token.string)
        elif token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT):
            continue
        before = token.type
    return _value(ast.parse(text, mode="eval").body)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return unique_keys([(_key(key), _value(value)) for key, value in zip(keys, values, strict=True) if key])
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case _:
            raise ValueError(type(node).__name__)


def _key(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):  # a bare key
        return node.id
    raise ValueError("a key must be a string")


def _curly(text: str) -> Any:
    """Parse JSON with curly quotes around its strings; refused if straight quotes delimit any."""
    if '"' in re.sub(r"\\.", "", text) or text.count("“") != text.count("”"):
        raise Ambiguous("quotes of two kinds")
    straight = _CURLY.sub(lambda match: f'"{match[1]}"', text)
    if "“" in straight or "”" in straight:
        raise Ambiguous("nested quotes")
    try:
        return _json(straight)
    except ValueError:
        return _relaxed(straight)


def _yaml(text: str) -> Any:
    """Parse a YAML plan whose first key is `tasks`; numbers, dates and words are read as in JSON."""
    if not _YAML_PLAN.match(text):
        raise ValueError("not a plan in YAML")
    return yaml.load(text, _PlanLoader)  # noqa: S506 - stricter than the safe loader


class _PlanLoader(JsonLoader):
    """A YAML loader with the scalars of JSON: `yes` and 010 are text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the parent class

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping; a duplicate key is an error."""
        pairs = [(self.construct_object(key, deep=True), value) for key, value in node.value]
        if len({str(key) for key, _ in pairs}) < len(pairs):
            raise Ambiguous("duplicate key")
        return super().construct_mapping(node, deep)


for _first in "0123456789-":
    _PlanLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9]\d*)$"), [_first])
    _PlanLoader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(rf"^{_JSON_NUMBER.pattern}$"), [_first])
_PlanLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), ["t", "f"])
_PlanLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as an object; a key may be repeated only with the same value."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping and mapping[key] != value:
            raise Ambiguous(f"the key {key!r} occurs twice with different values")
        mapping[key] = value
    return mapping


_READERS: tuple[tuple[Callable[[str], Any], str], ...] = (
    (_json, ""),
    (_corrected, "commas, comments or an inner bracket corrected"),
    (_relaxed, "bare keys or Python literals read as JSON"),
    (_python, "a Python literal read as JSON"),
    (_curly, "curly quotes read as straight ones"),
    (_yaml, "YAML read as JSON"),
)
