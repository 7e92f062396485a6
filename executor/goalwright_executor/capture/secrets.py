"""Redacts secrets: known values, and values whose name or form gives them away."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from goalwright_executor.capture import secret_forms
from goalwright_executor.capture.disguises import Disguises

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REDACTED = "[redacted]"
# Values of this length are redacted even inside longer words; shorter ones only as whole words.
_LONG = 8
_SHORTEST = 4
_WORDY = 12  # a password of fewer letters, and nothing else, may be a plain word
# The start of a word in a name: after a separator, or a capital after a small letter (`clientSecret`).
_WORD = r"(?:^|[_\-.]|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
_NAME = re.compile(
    rf"{_WORD}(?:(?:api|access|private|secret|auth)[_\-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization)$",
    re.IGNORECASE,
)
# A position in paged results: the next call needs it unchanged.
_PLACE = re.compile(r"(?:page|next|continuation|sync|cursor)[_\-]?token$", re.IGNORECASE)
# In an environment every key is a secret, and names join words (PGPASSWORD); a field named `key` rarely is one.
_VARIABLE = re.compile(
    r"(?:^|_)(?:KEY|PASS|PAT)$|_PWD$|(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|APIKEY|WEBHOOK|WEBHOOK_URL)$"
    rf"|{_NAME.pattern}",
    re.IGNORECASE,
)
# The password in a variable of any name: `postgres://user:password@host`, `user:password@tcp(host)`, `Password=…;`.
_PASSWORD = re.compile(
    r"(?:://|^)([^\s/:@]{0,100}):([^\s/@]{1,200})@|\b(?:password|pwd)=([^\s;&]{1,200})", re.IGNORECASE
)
_FORM = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}"  # OpenAI, Anthropic, Stripe and those that follow them
    r"|\b(?:ghp|gho|ghs|ghu|ghr|glpat|xox[abeprs]|hf|gsk|npm|pypi)[_\-][A-Za-z0-9_\-]{16,}"
    r"|k_live_[A-Za-z0-9]{16,}"  # Stripe, without the first letter
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bA(?:KI|SI)A[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_\-]{30,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"
)
# The address of a webhook is all that is needed to write to the channel behind it.
_WEBHOOK = re.compile(
    r"(hooks\.slack\.com\\?/(?:services|workflows|triggers)|discord(?:app)?\.com\\?/api(?:\\?/v\d+)?\\?/webhooks"
    r"|webhook\.office\.com\\?/webhookb2|outlook\.office(?:365)?\.com\\?/webhook|api\.telegram\.org\\?/bot"
    r")[\w\-.~%:@/?&=+\\]{8,}",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
# A telling name, then a value that looks generated: 12 characters or more, without a space, with a digit.
_NAMED = re.compile(
    r"""((?:api[_\-]?key|token|secret|passw(?:or)?d|authorization)[\w\-]{0,20}\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?
        (?:bearer\s|basic\s|token\s)?)((?=[A-Za-z_\-./+=]{0,64}\d)[A-Za-z0-9_\-./+=]{12,})""",
    re.IGNORECASE | re.VERBOSE,
)
_IN_URL = re.compile(r"(://[^\s/:@]{0,100}:)([^\s/@]{1,200})(@)")


# What a match of these patterns starts with. Searching for plain words is many times faster than the patterns, and
# everything that is recorded is searched.
_FORM_BEGINS = (
    "sk-", "pk-", "rk-", "gh", "glpat", "xox", "hf", "gsk", "github_pat_", "AKIA", "ASIA", "AIza", "eyJ", "k_live_",
    "npm_", "pypi-",
)  # fmt: skip
_ALNUM_BEGINS = ("AKIA", "ASIA", "AIza")  # those that a text of only letters and digits, such as a hash, may hold
_SHORTEST_FORM = 19
_LARGE = 400
_MAX_SEEN = 200
_MAX_NAMES = 20_000
_NAMED_BEGINS = ("api", "token", "secret", "passw", "authorization")


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be recorded."""

    values: tuple[tuple[str, re.Pattern[str] | None], ...] = ()  # with a pattern if a plain search is not enough
    shortest: int = _LONG  # no shorter text holds a secret
    lines: tuple[str, ...] = ()  # those of multi-line secrets
    disguises: Disguises = field(default_factory=Disguises)  # what only decoding shows, looked for last
    _seen: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _clean: dict[str, None] = field(default_factory=dict, repr=False, compare=False)
    names: dict[str, tuple[str, bool]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Secrets:
        """The secrets in an environment: the values of variables with telling names, unless they may be plain words."""
        return _in_environment(tuple(env.items()))

    def redact(self, text: str) -> str:
        """The text without secrets; large texts, such as a prompt that every goal repeats, are searched once."""
        if len(text) < self.shortest:
            return text
        if len(text) < _LARGE:
            return text if text in self._clean else self._short(text)
        if text not in self._seen:
            if len(self._seen) >= _MAX_SEEN:
                self._seen.clear()
            self._seen[text] = redacted = self._redacted(text)
            return redacted
        return self._seen.get(text) or self._redacted(text)  # another thread may have cleared it

    def _short(self, text: str) -> str:
        """A short text without secrets; those that hold none are kept, because names and states repeat in events."""
        redacted = self._redacted(text)
        if redacted == text:
            if len(self._clean) >= _MAX_NAMES:
                self._clean.clear()
            self._clean[text] = None
        return redacted

    def touches(self, text: str) -> bool:
        """Whether a text is another without secrets."""
        return self._redacted(text) != text

    def reveals(self, text: str) -> bool:
        """Whether a text holds a known secret in any of its forms; what only looks like a secret does not count."""
        return self._without_known(text) != text

    def name(self, text: str) -> tuple[str, bool]:
        """A field's name without secrets, and whether it marks one; kept, because names are few and repeat."""
        if len(self.names) >= _MAX_NAMES:
            self.names.clear()
        redacted = self.redact(text)
        self.names[text] = known = (redacted, is_secret(redacted))
        return known

    def _redacted(self, text: str) -> str:
        text = self._without_known(text)
        if text.isalnum():  # as an id or a hash: only these forms have no other characters
            may_hold = len(text) >= _SHORTEST_FORM and ("AKIA" in text or "ASIA" in text or "AIza" in text)
            return _without_forms(text, _ALNUM_BEGINS) if may_hold else text
        if len(text) >= _SHORTEST_FORM:
            text = _without_forms(text, _FORM_BEGINS)
        if "hook" in text or "api.telegram.org" in text:
            text = _WEBHOOK.sub(lambda match: match.group(1) + REDACTED, text)
        if "PRIVATE KEY" in text:
            text = _BLOCK.sub(REDACTED, text)
        if "=" in text or ":" in text:
            if _may_be_named(text):
                text = _NAMED.sub(lambda match: match.group(1) + REDACTED, text)
            if "://" in text:
                text = _IN_URL.sub(rf"\1{REDACTED}\3", text)
        return text

    def _without_known(self, text: str) -> str:
        """The text without the secrets of the environment, however they are written."""
        for value, pattern in self.values:
            if value in text:
                text = text.replace(value, REDACTED) if pattern is None else pattern.sub(REDACTED, text)
        text = self.disguises.redact(text, REDACTED)
        for line in self.lines:
            text = text.replace(line, REDACTED)
        return text


@lru_cache(maxsize=8)
def _in_environment(env: tuple[tuple[str, str], ...]) -> Secrets:
    named = {value.strip() for name, value in env if _is_secret_variable(name)}
    named |= {password for _, value in env for password in _passwords(value)}
    found = dict(pair for value in named for pair in _patterns(value))
    longest_first = sorted(found, key=len, reverse=True)  # one may be the beginning of another
    plain = tuple(sorted(value for value in named if len(value) >= _LONG))
    values = tuple((text, found[text]) for text in longest_first)
    lines = sorted((form for value in plain for form in secret_forms.line_forms(value)), key=len, reverse=True)
    return Secrets(values, min((_LONG, *map(len, found))), tuple(lines), Disguises.of(plain))


def _passwords(value: str) -> Iterator[str]:
    """The passwords inside a variable's value, unless they may be plain words, as in `postgres:postgres@localhost`."""
    for match in _PASSWORD.finditer(value) if "@" in value or "=" in value else ():
        user, *found = match.groups()
        for password in {text for one in found if one for text in (one, unquote(one))}:
            if password != user and not (password.isalpha() and len(password) < _WORDY):
                yield password


def _without_forms(text: str, words: tuple[str, ...]) -> str:
    """The text without tokens of known forms, which are looked for where one of the words stands."""
    spans: dict[int, int] = {}
    for word in words:
        at = text.find(word)
        while at >= 0:
            match = _FORM.match(text, at)
            if match is not None:
                spans[at] = match.end()
            at = text.find(word, at + 1)
    end = 0
    parts = []
    for begin in sorted(spans):
        if begin >= end:
            parts += [text[end:begin], REDACTED]
            end = spans[begin]
    return "".join((*parts, text[end:])) if parts else text


def _may_be_named(text: str) -> bool:
    low = text.lower()
    # If lower case has another length (as with a Turkish İ), positions in it do not match the text.
    return len(low) != len(text) or _begins(low, _NAMED_BEGINS, _NAMED)


def _begins(text: str, words: tuple[str, ...], pattern: re.Pattern[str]) -> bool:
    """Whether the pattern, which starts with one of the words, matches anywhere in the text."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if pattern.match(text, at):
                return True
            at = text.find(word, at + 1)
    return False


def _patterns(value: str) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    """What finds a value in a text, in all its forms; nothing for a value that may be a plain word.

    A short value is redacted only as a whole word, and only if it mixes letters with digits or punctuation: a goal that
    says `test`, or names a year, must not lose the word because some variable is set to it.
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
def _is_secret_variable(variable: str) -> bool:
    return _VARIABLE.search(variable) is not None
