"""What unquoted YAML scalars mean, and the values and errors that all readers of frontmatter share.

Separate from `safe_yaml`, so that plain files are read without importing a YAML parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{0,17}(?:[eE][-+][0-9]{1,3})?")
_WORDS: dict[str, bool | None] = {"": None, "~": None}
_WORDS |= {form(word): None for word in ("null",) for form in (str.lower, str.title, str.upper)}
_WORDS |= {form(w): True for w in ("true", "yes", "on") for form in (str.lower, str.title, str.upper)}
_WORDS |= {form(w): False for w in ("false", "no", "off") for form in (str.lower, str.title, str.upper)}


class Malformed(ValueError):
    """The text is not valid YAML; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Unsafe(Malformed):
    """The text asks for objects, or is deeper or larger than any honest file."""


@dataclass(slots=True)
class Fields:
    """A mapping's values, and in `texts` the source text of the scalars that are not strings."""

    values: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def resolve(text: str) -> Any:
    """What an unquoted scalar means: null, a boolean, a number, or the text itself (dates stay text)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
