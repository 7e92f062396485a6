"""Secrets never enter a journal: known values, and values whose name or form says what they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from executor.capture import secret_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REDACTED = "[redacted]"
# From here on a value is left out wherever it occurs, inside longer words too; below, as a word of its own.
_LONG = 8
_SHORTEST = 4
# A word of its own in the name: after a sign, or after a small letter where it begins with a capital (`clientSecret`).
_WORD = r"(?:^|[_\-.]|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
_NAME = re.compile(
    rf"{_WORD}(?:(?:api|access|private|secret|auth)[_\-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization)$",
    re.IGNORECASE,
)
# A place in a list of results: who goes on from it needs it as it was.
_PLACE = re.compile(r"(?:page|next|continuation|sync|cursor)[_\-]?token$", re.IGNORECASE)
# In an environment any key is one, and names run words together (PGPASSWORD); a field named `key` is mostly none.
_VARIABLE = re.compile(
    rf"(?:^|_)(?:KEY|PASS|PAT)$|_PWD$|(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|APIKEY)$|{_NAME.pattern}", re.IGNORECASE
)
_FORM = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}"  # OpenAI, Anthropic, Stripe and those who follow them
    r"|\b(?:ghp|gho|ghs|ghu|ghr|glpat|xox[abprs]|hf|gsk)[_\-][A-Za-z0-9_\-]{16,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_\-]{30,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
# A name that says so, then a value that looks made by a machine: 12 characters or more without a space, with a digit.
_NAMED = re.compile(
    r"""((?:api[_\-]?key|token|secret|passw(?:or)?d|authorization)[\w\-]{0,20}\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?
        (?:bearer\s|basic\s|token\s)?)((?=[A-Za-z_\-./+=]{0,64}\d)[A-Za-z0-9_\-./+=]{12,})""",
    re.IGNORECASE | re.VERBOSE,
)
_IN_URL = re.compile(r"(://[^\s/:@]{0,100}:)([^\s/@]{1,200})(@)")


# What every text that one of these patterns matches holds. Looking for plain words is many times as quick as the
# patterns, and all that is ever recorded is looked through.
_FORM_BEGINS = ("sk-", "pk-", "rk-", "gh", "glpat", "xox", "hf", "gsk", "github_pat_", "AKIA", "AIza", "eyJ")
_ALNUM_BEGINS = ("AKIA", "AIza")  # what of it may stand in a text without any sign, such as a hash
_SHORTEST_FORM = 19
_LARGE = 400
_MOST_SEEN = 200
_MOST_NAMES = 2000
_NAMED_BEGINS = ("api", "token", "secret", "passw", "authorization")


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be written down."""

    values: tuple[tuple[str, re.Pattern[str] | None], ...] = ()  # with what finds it, where more than the text counts
    shortest: int = _LONG  # no text shorter than this holds one
    _seen: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _names: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Secrets:
        """The secrets in an environment: values of variables whose names say so, unless they may be plain words."""
        return _in_environment(tuple(env.items()))

    def redact(self, text: str) -> str:
        """The text without secrets; a large one, such as a prompt that every goal repeats, is looked through once."""
        if len(text) < self.shortest:
            return text
        if len(text) < _LARGE:
            return self._redacted(text)
        if text not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen[text] = redacted = self._redacted(text)
            return redacted
        return self._seen.get(text) or self._redacted(text)  # another thread may have cleared it meanwhile

    def name(self, text: str) -> str:
        """The name of a field without secrets; names are few and come again and again."""
        known = self._names.get(text)
        if known is None:
            if len(self._names) >= _MOST_NAMES:
                self._names.clear()
            self._names[text] = known = self.redact(text)
        return known

    def _redacted(self, text: str) -> str:
        for value, pattern in self.values:
            if value in text:
                text = text.replace(value, REDACTED) if pattern is None else pattern.sub(REDACTED, text)
        if len(text) >= _SHORTEST_FORM and _begins(text, _ALNUM_BEGINS if text.isalnum() else _FORM_BEGINS, _FORM):
            text = _FORM.sub(REDACTED, text)
        if "PRIVATE KEY" in text:
            text = _BLOCK.sub(REDACTED, text)
        if "=" in text or ":" in text:
            if _may_be_named(text):
                text = _NAMED.sub(lambda match: match.group(1) + REDACTED, text)
            if "://" in text:
                text = _IN_URL.sub(rf"\1{REDACTED}\3", text)
        return text


@lru_cache(maxsize=8)
def _in_environment(env: tuple[tuple[str, str], ...]) -> Secrets:
    named = {value.strip() for name, value in env if _holds_one(name)}
    found = dict(pair for value in named for pair in _patterns(value))
    longest_first = sorted(found, key=len, reverse=True)  # one may begin like another
    return Secrets(tuple((text, found[text]) for text in longest_first), min((_LONG, *map(len, found))))


def _may_be_named(text: str) -> bool:
    low = text.lower()
    # Where lower case has another length (a Turkish İ has), a place in it is none in the text.
    return len(low) != len(text) or _begins(low, _NAMED_BEGINS, _NAMED)


def _begins(text: str, words: tuple[str, ...], pattern: re.Pattern[str]) -> bool:
    """Whether the pattern, which begins with one of the words, matches anywhere in the text."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if pattern.match(text, at):
                return True
            at = text.find(word, at + 1)
    return False


def _patterns(value: str) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    """What finds a value in a text, as it is and in other writing; nothing for one that may as well be a word.

    A short value counts only as a whole word, and only where it mixes letters with digits or holds a sign:
    a goal that says `test`, or names a year, must not lose the word because some variable is set to it.
    """
    if len(value) >= _LONG:
        yield from ((text, None) for text in secret_forms.forms(value))
    elif len(value) >= _SHORTEST and not value.isalpha() and not value.isdigit():
        yield value, re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])")


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether a field of that name holds a secret."""
    return _NAME.search(name) is not None and _PLACE.search(name) is None


@lru_cache(maxsize=4096)
def _holds_one(variable: str) -> bool:
    return _VARIABLE.search(variable) is not None
