"""Safe YAML: plain values only, no dates, no objects.

`load` builds frontmatter from parser events with its own stack, bounded in depth and size; an alias counts as much as
the value that it repeats. `load_own` reads files that goalwright ships. `JsonLoader` reads other files (`yaml_lines`,
plans) with the values of YAML 1.1. `FastLoader` uses libyaml, which crashes on deep nesting: call `check` first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from goalwright_skills.format.documents import TooDeep
from goalwright_skills.format.plain_yaml import Fields, Malformed, Unsafe, resolve
from goalwright_skills.text.untrusted import MOST_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEPTH = 32
NODES = 20_000
_MOST_REPEATED = 1_000_000  # the limit on repetition by aliases, in characters and values
_DEEPEST_FLOW = 300  # the limit on nested brackets: PyYAML's time is quadratic in the number of open brackets
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LATE = ("while scanning a quoted scalar", "while scanning a simple key")
_CORE = "tag:yaml.org,2002:"
_TIMESTAMP = f"{_CORE}timestamp"
_PLAIN_TAGS = {_TIMESTAMP, *(_CORE + kind for kind in ("str", "int", "float", "bool", "null", "map", "seq"))}


class _Constructing(yaml.constructor.SafeConstructor):
    """Reports the line of a value that does not fit its tag, for which PyYAML raises arbitrary errors."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node; raises YAMLError."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            if not isinstance(node, yaml.ScalarNode):
                raise
            kind = str(node.tag).rpartition(":")[2]
            problem = str(error) if isinstance(error, ValueError) else f"{node.value!r:.80} is no {kind}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


class FastLoader(_Constructing, _LOADER):  # type: ignore[misc]
    """The safe loader with the values of YAML 1.1, on libyaml if available; call `check` first."""

    def __init__(self, text: str) -> None:
        super().__init__(text)  # type: ignore[call-arg]


class JsonLoader(_Constructing, yaml.SafeLoader):
    """YAML with the values of JSON only: a date is text, as if quoted; bytes, sets and other objects are refused.

    Repetition by aliases is bounded.
    """

    yaml_constructors = {  # noqa: RUF012  declared this way in the base class
        tag: yaml.SafeLoader.construct_yaml_str if tag == _TIMESTAMP else construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag in _PLAIN_TAGS
    }
    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in pairs if tag != _TIMESTAMP]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._repeats = _Repeats()

    def get_event(self) -> Any:
        """Return the next event and count repetitions by aliases."""
        event = super().get_event()  # type: ignore[no-untyped-call]
        self._repeats.note(event)
        return event

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803  as in the base class
        """Open a bracket; raises RecursionError, as the composer would later, if too many are open."""
        if self.flow_level >= _DEEPEST_FLOW:
            raise RecursionError("brackets are nested too deeply")
        super().fetch_flow_collection_start(TokenClass)


class _Repeats:
    """Bounds repetition by aliases, also nested ones: a few lines can expand to billions of values.

    The size of a value is the number of its characters plus the number of values in it.
    """

    def __init__(self) -> None:
        self._repeated = 0
        self._size = 0
        self._sizes: dict[str, int] = {}
        self._open: list[tuple[str | None, int]] = []  # the anchors of open collections, and the size before each

    def note(self, event: Any) -> None:
        """Count an event."""
        match event:
            case yaml.AliasEvent(anchor=str(anchor)):
                size = self._sizes.get(anchor, 1)
                self._size += size
                self._repeated += size
                if self._repeated > _MOST_REPEATED:
                    problem = f"its aliases repeat more than {_MOST_REPEATED:,} characters"
                    raise yaml.composer.ComposerError(None, None, problem, event.start_mark)  # type: ignore[arg-type]
            case yaml.ScalarEvent():
                before = self._size
                self._size += 1 + len(event.value)
                self._close(event.anchor, before)
            case yaml.CollectionStartEvent():
                self._open.append((event.anchor, self._size))
                self._size += 1
            case yaml.CollectionEndEvent():
                self._close(*self._open.pop())

    def _close(self, anchor: str | None, before: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = self._size - before


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    value: Any
    anchor: str | None
    size: int = 1
    key: str | None = None


def load(text: str) -> Fields:
    """Parse the mapping in a text; raises Malformed."""
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.YAMLError as error:
        raise Malformed(_explain(error), error_line(error)) from error


def load_own(text: str) -> Any:
    """Parse the document in a file that goalwright ships, which needs no bounds."""
    return yaml.load(text, _LOADER)  # noqa: S506 - the safe loader


def check(text: str) -> None:
    """Raise TooDeep for nesting at which libyaml may crash, or YAMLError if aliases repeat too much."""
    level, repeats = 0, _Repeats()
    for event in yaml.parse(text, Loader=_LOADER):
        repeats.note(event)
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1
        if level > MOST_LEVELS:
            raise TooDeep


def dump(fields: Mapping[str, Any]) -> str:
    """Return a mapping as YAML that `load` reads back."""
    text: str = yaml.dump(dict(fields), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes text that other styles would not preserve: line ends of any kind, and unprintable characters."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


class _Builder:
    """Builds one mapping from parser events."""

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.fields = Fields()
        self.nodes = 0
        self.root: Any = None

    def build(self, events: Iterator[Any]) -> Fields:
        documents = 0
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise Malformed("a second document begins", _at(event))
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.AliasEvent():
                    self._alias(event)
                case yaml.MappingStartEvent():
                    self._open(event, {})
                case yaml.SequenceStartEvent():
                    self._open(event, [])
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self._close(event)
        if not isinstance(self.root, dict):
            raise Malformed("it is not a list of `key: value` lines", 1)
        self.fields.values = self.root
        return self.fields

    def _scalar(self, event: Any) -> None:
        self._check_tag(event)
        plain = event.tag is None and event.implicit[0]
        value = resolve(event.value) if plain else event.value
        self._add(value, 1, event, text=event.value)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise Malformed(f"alias *{event.anchor} refers to nothing", _at(event))
        value, size = self.anchors[event.anchor]
        self._add(value, size, event, text=value if isinstance(value, str) else None)

    def _open(self, event: Any, value: Any) -> None:
        self._check_tag(event)
        if len(self.stack) >= DEPTH:
            raise Unsafe(f"it nests deeper than {DEPTH} levels", _at(event))
        self.stack.append(_Open(value, event.anchor))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)
        self._add(done.value, done.size, event, text=None)

    def _add(self, value: Any, size: int, event: Any, *, text: str | None) -> None:
        self.nodes += size
        if self.nodes > NODES:
            raise Unsafe(f"it has more than {NODES} values, with aliases expanded", _at(event))
        if not self.stack:
            self.root = value
            return
        parent = self.stack[-1]
        parent.size += size
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is None:
            if text is None:
                raise Malformed("a key is not plain text", _at(event))
            parent.key = text
        else:
            parent.value[parent.key] = value
            if len(self.stack) == 1:
                self._remember(parent.key, value, text)
            parent.key = None

    def _remember(self, key: str, value: Any, text: str | None) -> None:
        if text is None or isinstance(value, str):
            self.fields.texts.pop(key, None)
        else:
            self.fields.texts[key] = text

    def _check_tag(self, event: Any) -> None:
        tag = event.tag
        if tag is None or tag == "!" or tag in _PLAIN_TAGS:
            return
        error = Unsafe if tag.startswith("tag:") else Malformed
        raise error(f"tag {tag!r} asks for an object", _at(event))


def _at(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def error_line(error: yaml.YAMLError) -> int:
    """Return the line where the faulty value starts; the parser detects some errors only at its end."""
    problem, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    late = problem is not None and context is not None and str(getattr(error, "context", "")).startswith(_LATE)
    mark = context if late or problem is None else problem
    return mark.line + 1 if mark is not None else 1


def _explain(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML")
