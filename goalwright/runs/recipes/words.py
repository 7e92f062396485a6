"""A goal as words: what each of them weighs when two goals are compared, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from goalwright_skills.selection.query.terms import SCRIPTS_WITHOUT_SPACES, STOP_WORDS, terms

WordKind = Literal["word", "number", "path", "quoted", "mark"]

# A longer goal holds material, and is planned.
MOST_CHARACTERS = 2_000
_WORD = re.compile(
    r"(?P<quoted>\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w))"
    r"|(?P<path>https?://[^\s\"'<>]*[^\s\"'<>.,;:!?)\]]|(?:[\w.~-]{0,80}/){1,20}[\w.~*-]{0,80}\w"
    r"|\w[\w-]{0,80}(?:\.[\w-]{1,40}){0,4}\.[A-Za-z]\w{0,7}\b)"
    r"|(?P<number>[$€£]?\d+(?:[.,:]\d+){0,6}%?(?![\w-]))"
    rf"|(?P<word>[{SCRIPTS_WITHOUT_SPACES}]|[^\W_{SCRIPTS_WITHOUT_SPACES}]"
    rf"(?:[\w'’+#-](?<![{SCRIPTS_WITHOUT_SPACES}])){{0,80}}(?:\.\d+){{0,3}})"
    r"|(?P<mark>[,;:.!?()\[\]、。，；：！？&\n])"
)
# Words that a goal can have or lack without another meaning, and those that turn one round.
_POLITE = frozenset(
    [
        "please",
        "can",
        "could",
        "would",
        "will",
        "you",
        "me",
        "us",
        "i",
        "we",
        "my",
        "our",
        "your",
        "the",
        "a",
        "an",
        "some",
        "need",
        "want",
        "like",
        "help",
        "now",
    ]
)
_DECISIVE = frozenset(
    ["not", "no", "never", "without", "except", "only", "instead", "unless", "but", "don't", "dont", "isn't", "avoid"]
)
# Verbs that ask for a thing to be made; what they make decides.
_MAKES = frozenset(["write", "create", "generate", "compose", "prepare", "produce", "draft", "make"])
CONTENT, WEAK, LIGHT, _HEAVY = 1.0, 0.3, 0.05, 3.0


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, or a number, a path or an address, a quotation, or a mark; `term` is what is compared."""

    text: str
    start: int
    end: int
    kind: WordKind
    term: str
    weight: float

    @property
    def is_content(self) -> bool:
        """Whether it says what is wanted, and not only how that hangs together."""
        return self.weight >= CONTENT

    @property
    def says_something(self) -> bool:
        """Whether it is a word of its own meaning, whatever its weight."""
        return self.kind != "mark" and self.text.casefold() not in STOP_WORDS

    @property
    def is_typed(self) -> bool:
        """Whether its form alone tells what it is: a number, a path, an address, a quotation."""
        return self.kind in ("number", "path", "quoted")

    @property
    def is_name(self) -> bool:
        """Whether it is written like a name."""
        return self.kind == "word" and self.text[:1].isupper() and self.is_content


@lru_cache(maxsize=8)  # a goal is compared with one recipe after the other
def words(text: str) -> tuple[Word, ...]:
    """The words of a text, in order."""
    return tuple(_word(match) for match in _WORD.finditer(text))


def _word(match: re.Match[str]) -> Word:
    text, kind = match.group(), match.lastgroup
    folded = text.casefold()
    if kind == "mark":
        return Word(text, match.start(), match.end(), "mark", text, 0.0)
    if kind != "word":
        return Word(text, match.start(), match.end(), kind, folded.strip("\"'`“”"), _HEAVY)  # type: ignore[arg-type]
    if folded in _DECISIVE:
        return Word(text, match.start(), match.end(), "word", folded, _HEAVY)
    if folded in _MAKES:
        return Word(text, match.start(), match.end(), "word", "write", CONTENT)
    weight = LIGHT if folded in _POLITE else WEAK if folded in STOP_WORDS else CONTENT
    stems = terms(text) if weight == CONTENT else []
    return Word(text, match.start(), match.end(), "word", " ".join(stems) or folded, weight)
