"""The formats of goal files: parses a file into rows with line numbers, before the rows are validated.

JSONL, plain text and CSV are read line by line; a list in JSON or YAML is read whole.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from yaml import Node

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".yaml": "yaml", ".yml": "yaml"}
NOT_A_LIST = "the file must be a list of goals"
OWN_COLUMNS = ("id", "custom_id", "goal", "skills", "model", "recipe")
_KEYS = (*OWN_COLUMNS, "vars", "plan")
# Fields may be long, but an unclosed quote must not read the whole file into memory.
_LONGEST_FIELD = 1 << 24
_MERGE = "tag:yaml.org,2002:merge"
_SPACE = re.compile(r"\s*")
# The beginning of a JSON list; a plain-text goal may begin with a bracket too.
_JSON_LIST = re.compile(r'\[\s*["{]')


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A row with its line number; `nth` counts the rows of a list that begin on the same line."""

    line: int
    value: object
    nth: int = 1


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that cannot be read, and why."""

    line: int
    fault: str


def form_of(path: Path) -> str:
    """Return the format for a file name."""
    return _SUFFIXES.get(path.suffix.lower(), "text")


def guess(path: Path) -> str:
    """Guess the format of unnamed input from its first characters."""
    with path.open("rb") as file:
        start = file.read(4096).decode("utf-8-sig", errors="replace").lstrip()
    if start.startswith("{"):
        return "jsonl"
    if _JSON_LIST.match(start):
        return "json"
    first = first_line(start)
    return "yaml" if first == "goals:" or begins_yaml(first, _KEYS) else form_of_line(first)


def first_line(text: str) -> str:
    """Return the first line that is neither blank nor a comment."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")


def begins_yaml(line: str, keys: Iterable[str]) -> bool:
    """Whether a line begins a YAML document, or a list of objects with one of these keys."""
    return line == "---" or bool(re.match(rf"- *\{{|- +(?:{'|'.join(keys)}):(?:\s|$)", line))


def form_of_line(line: str) -> str:
    """Return `csv` for a header with the columns of goals, else `text`."""
    columns = [name.strip().strip('"') for name in line.split(",")]
    return "csv" if "goal" in columns or ("recipe" in columns and len(columns) > 1) else "text"


def rows(path: Path, form: str) -> Iterator[GoalRow | BadRow]:
    """Yield every row of a file."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="" if form == "csv" else None) as file:
        yield from READERS[form](file)


def _text(file: IO[str]) -> Iterator[GoalRow]:
    for number, line in enumerate(file, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield GoalRow(number, {"goal": text})


def _jsonl(file: IO[str]) -> Iterator[GoalRow | BadRow]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            yield GoalRow(number, json.loads(line, object_pairs_hook=_object))
        except _RepeatedKey as error:
            yield BadRow(number, str(error))
        except json.JSONDecodeError as error:
            yield BadRow(number, f"not valid JSON: {error.msg}, at column {error.colno}")
        except ValueError as error:
            yield BadRow(number, f"not valid JSON: {error}")
        except RecursionError:
            yield BadRow(number, "nested too deeply")


class _RepeatedKey(ValueError):
    """An object has a key twice, of which only one value would count."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key[:80]!r} occurs more than once in an object")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _RepeatedKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


def _csv(file: IO[str]) -> Iterator[GoalRow | BadRow]:
    csv.field_size_limit(_LONGEST_FIELD)
    # Without strict, everything after an unclosed quote would be one long goal.
    reader = csv.reader(file, strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1  # a quoted field may hold line breaks, and blank lines count
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield BadRow(line, f"not valid CSV: {error}")
            continue
        if header is not None and fields:
            yield _fields(line, header, fields)
        elif fields:
            header = [name.strip() for name in fields]
            if fault := _header_fault(header):
                yield BadRow(line, fault)
                return


def _header_fault(header: list[str]) -> str:
    if "goal" not in header and "recipe" not in header:
        return f"the header has no column 'goal' or 'recipe'; it has: {', '.join(header)}"
    twice = sorted({name for name in header if name and header.count(name) > 1})
    return f"the header has more than one column {', '.join(twice)}" if twice else ""


def _fields(line: int, header: list[str], fields: list[str]) -> GoalRow | BadRow:
    if len(fields) > len(header):
        return BadRow(line, f"{len(fields)} fields for {len(header)} columns; quote texts that contain commas")
    row = dict(zip(header, fields, strict=False))
    own: dict[str, Any] = {key: value for key, value in row.items() if key in OWN_COLUMNS and value}
    if "skills" in own:
        own["skills"] = [name for name in re.split(r"[\s,;]+", own["skills"]) if name]
    return GoalRow(line, own | {"vars": {key: value for key, value in row.items() if key and key not in OWN_COLUMNS}})


def _json(file: IO[str]) -> Iterator[GoalRow | BadRow]:
    text = file.read()
    try:
        if is_list := isinstance(json.loads(text), list):
            items = list(_json_items(text))
        else:
            json.loads(text, object_pairs_hook=_object)
    except _RepeatedKey as error:
        yield BadRow(1, str(error))
    except json.JSONDecodeError as error:
        yield BadRow(error.lineno, f"not valid JSON: {error.msg}, at column {error.colno}")
    except ValueError as error:
        yield BadRow(1, f"not valid JSON: {error}")
    except RecursionError:
        yield BadRow(1, "nested too deeply")
    else:
        yield from _items(items) if is_list else [BadRow(1, NOT_A_LIST)]


def _json_items(text: str) -> Iterator[tuple[int, object]]:
    """Yield the items of a JSON list with their first lines; an item with a repeated key is a BadRow."""
    repeated: list[_RepeatedKey] = []

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        try:
            return _object(pairs)
        except _RepeatedKey as error:  # reported once the end of the item is known
            repeated.append(error)
            return {}

    decoder, line, seen, offset = json.JSONDecoder(object_pairs_hook=read_object), 1, 0, text.index("[") + 1
    while text[offset := _skip_space(text, offset)] != "]":
        line, seen = line + text.count("\n", seen, offset), offset
        value, end = decoder.raw_decode(text, offset)
        yield line, BadRow(line, str(repeated[0])) if repeated else value
        repeated.clear()
        offset = _skip_space(text, end)
        offset += text[offset] == ","


def _skip_space(text: str, offset: int) -> int:
    """Return the offset after the white space at an offset."""
    space = _SPACE.match(text, offset)
    return space.end() if space else offset


def _yaml(file: IO[str]) -> Iterator[GoalRow | BadRow]:
    import yaml

    from goalwright_skills.format import safe_yaml
    from goalwright_skills.format.documents import TooDeep

    text = file.read()
    try:
        safe_yaml.check(text)
        loader = safe_yaml.FastLoader(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.SequenceNode):
            yield (root and _repeated_key(root)) or BadRow(1, NOT_A_LIST)
            return
        repeated = [_repeated_key(node) for node in root.value]  # before `<<` brings in other keys
        values = [
            (node.start_mark.line + 1, bad or loader.construct_object(node, deep=True))
            for node, bad in zip(root.value, repeated, strict=True)
        ]
    except (yaml.YAMLError, TooDeep, RecursionError) as error:
        yield not_yaml(error)
        return
    yield from _items(values)


def not_yaml(error: Exception) -> BadRow:
    """Return the fault of a text that is not valid YAML."""
    mark = getattr(error, "problem_mark", None)
    return BadRow(mark.line + 1 if mark else 1, f"not valid YAML: {str(error).splitlines()[0]}")


def _repeated_key(root: Node) -> BadRow | None:
    """Return the first key that an object within a node has twice."""
    from yaml import MappingNode, ScalarNode, SequenceNode

    nodes, seen = [root], {id(root)}
    while nodes:
        node, inner = nodes.pop(), list[Any]()
        if isinstance(node, MappingNode):
            own = set[str]()
            for key, value in node.value:
                if isinstance(key, ScalarNode) and key.tag != _MERGE:
                    if key.value in own:
                        fault = f"{_RepeatedKey(key.value)}; is a `- ` missing before one of them?"
                        return BadRow(key.start_mark.line + 1, fault)
                    own.add(key.value)
                inner += (key, value)
        elif isinstance(node, SequenceNode):
            inner = node.value
        fresh = [child for child in inner if id(child) not in seen]  # an alias may refer to its own parent
        seen.update(map(id, fresh))
        nodes += reversed(fresh)
    return None


def _items(values: Iterable[tuple[int, object]]) -> Iterator[GoalRow | BadRow]:
    """Yield the items of a list as rows; a string is the text of a goal."""
    last = nth = 0
    for line, value in values:
        nth = nth + 1 if line == last else 1
        last = line
        if isinstance(value, BadRow):
            yield value
        else:
            yield GoalRow(line, {"goal": value} if isinstance(value, str) else value, nth)


# The parser of each format.
READERS = {"text": _text, "jsonl": _jsonl, "csv": _csv, "json": _json, "yaml": _yaml}
