"""Redacts secrets: the values of secret environment variables, and texts that look like keys, tokens or passwords.

A known value is recognised as it is, URL-encoded, JSON-escaped and base64-encoded once.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REDACTED = "[redacted]"
# Values of this length are redacted even inside longer words; shorter ones only as whole words.
_LONG = 8
_SHORTEST = 4
_WORDY = 12  # a shorter password that has only letters may be a plain word
# The shortest line of a multi-line secret that is redacted on its own, and the shortest base64 text.
_LINE = 12
_BASE64 = 8
# The start of a word in a name: after a separator, or a capital after a small letter (`clientSecret`).
_WORD = r"(?:^|[_\-.]|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
_NAME = re.compile(
    rf"{_WORD}(?:(?:api|access|private|secret|auth)[_\-]?key|token|secret|passw(?:or)?d|passphrase"
    r"|credentials?|authorization)$",
    re.IGNORECASE,
)
# A position in paged results, which the next call needs unchanged.
_CURSOR = re.compile(r"(?:page|next|continuation|sync|cursor)[_\-]?token$", re.IGNORECASE)
# In an environment every key is a secret, and names join words (PGPASSWORD); a field named `key` rarely is one.
_VARIABLE = re.compile(
    r"(?:^|_)(?:KEY|PASS|PAT)$|_PWD$|(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|APIKEY|WEBHOOK|WEBHOOK_URL)$"
    rf"|{_NAME.pattern}",
    re.IGNORECASE,
)
# A password in the value of any variable: `postgres://user:password@host`, `user:password@tcp(host)`, `Password=…;`.
_PASSWORD = re.compile(
    r"(?:://|^)([^\s/:@]{0,100}):([^\s/@]{1,200})@|\b(?:password|pwd)=([^\s;&]{1,200})", re.IGNORECASE
)
_FORM = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}"  # OpenAI, Anthropic, Stripe and similar
    r"|\b(?:ghp|gho|ghs|ghu|ghr|glpat|xox[abeprs]|hf|gsk|npm|pypi)[_\-][A-Za-z0-9_\-]{16,}"
    r"|k_live_[A-Za-z0-9]{16,}"  # Stripe, without the first letter
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bA(?:KI|SI)A[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_\-]{30,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"
)
# Anyone who has the address of a webhook can write to its channel.
_WEBHOOK = re.compile(
    r"(hooks\.slack\.com\\?/(?:services|workflows|triggers)|discord(?:app)?\.com\\?/api(?:\\?/v\d+)?\\?/webhooks"
    r"|webhook\.office\.com\\?/webhookb2|outlook\.office(?:365)?\.com\\?/webhook|api\.telegram\.org\\?/bot"
    r")[\w\-.~%:@/?&=+\\]{8,}",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
# A name such as "token", then a value that looks generated: at least 12 characters, no space, a digit.
_NAMED = re.compile(
    r"""((?:api[_\-]?key|token|secret|passw(?:or)?d|authorization)[\w\-]{0,20}\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?
        (?:bearer\s|basic\s|token\s)?)((?=[A-Za-z_\-./+=]{0,64}\d)[A-Za-z0-9_\-./+=]{12,})""",
    re.IGNORECASE | re.VERBOSE,
)
_IN_URL = re.compile(r"(://[^\s/:@]{0,100}:)([^\s/@]{1,200})(@)")

# The prefixes of `_FORM`. Every recorded text is searched, and plain searches are many times faster than patterns.
_FORM_PREFIXES = (
    "sk-", "pk-", "rk-", "gh", "glpat", "xox", "hf", "gsk", "github_pat_", "AKIA", "ASIA", "AIza", "eyJ", "k_live_",
    "npm_", "pypi-",
)  # fmt: skip
_ALNUM_PREFIXES = ("AKIA", "ASIA", "AIza")  # those of forms without punctuation, which a hash may contain
_SHORTEST_FORM = 19
_LARGE = 400
_MAX_SEEN = 200
_MAX_NAMES = 20_000
_NAMED_PREFIXES = ("api", "token", "secret", "passw", "authorization")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of one environment; `values` has every form of each, with a pattern for those that need one."""

    values: tuple[tuple[str, re.Pattern[str] | None], ...] = ()
    shortest: int = _LONG  # no shorter text contains a secret
    _seen: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _clean: dict[str, None] = field(default_factory=dict, repr=False, compare=False)
    names: dict[str, tuple[str, bool]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Secrets:
        """The values of environment variables whose names mark a secret, and passwords inside other values."""
        return _in_environment(tuple(env.items()))

    def redact(self, text: str) -> str:
        """Return the text with secrets replaced; results for large texts, such as repeated prompts, are cached."""
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
        """Redact a short text; texts without secrets are cached, because names and statuses repeat in events."""
        redacted = self._redacted(text)
        if redacted == text:
            if len(self._clean) >= _MAX_NAMES:
                self._clean.clear()
            self._clean[text] = None
        return redacted

    def touches(self, text: str) -> bool:
        """Whether redaction changes the text."""
        return self._redacted(text) != text

    def reveals(self, text: str) -> bool:
        """Whether the text contains a secret of the environment; text that only looks like a secret does not count."""
        return self._without_known(text) != text

    def name(self, text: str) -> tuple[str, bool]:
        """Return the redacted name of a field and whether it marks a secret; cached, because names repeat."""
        if len(self.names) >= _MAX_NAMES:
            self.names.clear()
        redacted = self.redact(text)
        self.names[text] = entry = (redacted, is_secret(redacted))
        return entry

    def _redacted(self, text: str) -> str:
        text = self._without_known(text)
        if text.isalnum():  # an id or a hash
            may_match = len(text) >= _SHORTEST_FORM and ("AKIA" in text or "ASIA" in text or "AIza" in text)
            return _without_forms(text, _ALNUM_PREFIXES) if may_match else text
        if len(text) >= _SHORTEST_FORM:
            text = _without_forms(text, _FORM_PREFIXES)
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
        """Replace the secrets of the environment."""
        for value, pattern in self.values:
            if value in text:
                text = text.replace(value, REDACTED) if pattern is None else pattern.sub(REDACTED, text)
        return text


@lru_cache(maxsize=8)
def _in_environment(env: tuple[tuple[str, str], ...]) -> Secrets:
    named = {value.strip() for name, value in env if _is_secret_variable(name)}
    named |= {password for _, value in env for password in _passwords(value)}
    patterns = dict(pair for value in named for pair in _patterns(value))
    longest_first = sorted(patterns, key=len, reverse=True)  # one may be the prefix of another
    return Secrets(tuple((text, patterns[text]) for text in longest_first), min((_LONG, *map(len, patterns))))


def _passwords(value: str) -> Iterator[str]:
    """Passwords inside a variable's value, except plain words, as in `postgres:postgres@localhost`."""
    for match in _PASSWORD.finditer(value) if "@" in value or "=" in value else ():
        user, *groups = match.groups()
        for password in {text for group in groups if group for text in (group, unquote(group))}:
            if password != user and not (password.isalpha() and len(password) < _WORDY):
                yield password


def _without_forms(text: str, prefixes: tuple[str, ...]) -> str:
    """Redact tokens of known forms, which are matched only where one of the prefixes occurs."""
    spans: dict[int, int] = {}
    for prefix in prefixes:
        offset = text.find(prefix)
        while offset >= 0:
            match = _FORM.match(text, offset)
            if match is not None:
                spans[offset] = match.end()
            offset = text.find(prefix, offset + 1)
    end = 0
    parts = []
    for begin in sorted(spans):
        if begin >= end:
            parts += [text[end:begin], REDACTED]
            end = spans[begin]
    return "".join((*parts, text[end:])) if parts else text


def _may_be_named(text: str) -> bool:
    lower = text.lower()
    # Lower case may have another length, as with a Turkish İ; its offsets then do not match the text.
    return len(lower) != len(text) or any(
        _NAMED.match(lower, found.start()) for prefix in _NAMED_PREFIXES for found in re.finditer(prefix, lower)
    )


def _patterns(value: str) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    """The forms of a secret, each with a pattern if a plain search is not enough.

    A short value is redacted only as a whole word, and only if it mixes letters with digits or punctuation: a goal that
    says `test`, or names a year, must not lose the word because a variable is set to it.
    """
    if len(value) >= _LONG:
        yield from ((form, None) for form in _forms(value))
        yield from ((line, None) for line in _lines(value))
    elif len(value) >= _SHORTEST and not value.isalpha() and not value.isdigit():
        yield value, re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])")


def _forms(secret: str) -> set[str]:
    """The secret itself, URL-encoded, JSON-escaped and base64-encoded."""
    escaped = {json.dumps(secret, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    urls = {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    urls |= {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), url) for url in urls}
    return {secret, *escaped, *urls, *_base64(secret.encode())}


def _base64(secret: bytes) -> Iterator[str]:
    """The part of the base64 that does not depend on adjacent bytes, such as `user:` before a password."""
    for offset in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(bytes(offset) + secret).decode().rstrip("=")
            # The first and last characters also encode bits of the adjacent bytes.
            part = whole[-(-offset * 8 // 6) : (offset + len(secret)) * 8 // 6]
            if len(part) >= _BASE64:
                yield part


def _lines(secret: str) -> Iterator[str]:
    """The lines of a multi-line key; line ends may be escaped, as in a .env file, and lines of words are left out."""
    lines = [line.strip() for line in secret.replace("\\n", "\n").splitlines()]
    return (line for line in lines if len(lines) > 1 and len(line) >= _LINE and " " not in line)


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether a field with this name contains a secret."""
    return _NAME.search(name) is not None and _CURSOR.search(name) is None


@lru_cache(maxsize=4096)
def _is_secret_variable(variable: str) -> bool:
    return _VARIABLE.search(variable) is not None
