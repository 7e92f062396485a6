"""Secrets that are written in a way that only decoding shows: escaped twice, in base64 of base64, in groups of hex.

Every text that is recorded passes through here, so each disguise is looked for only where a quick search says that it
may be there.
"""

from __future__ import annotations

import binascii
import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from goalwright_executor.capture import secret_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROUNDS = 4
# \u0026, \u{26}, \U00000026, \x26, \046 with any number of backslashes; %26; &#38; and &#x26;
_ESCAPES = (
    rb"\\+(?:u\{([0-9A-Fa-f]{1,6})\}|u(%s)|U0000(%s)|x([0-9A-Fa-f]{2})|([0-3][0-7]{2}))"
    rb"|%%([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{1,6});?|&#([0-9]{1,7});?"
)
_ANY, _ASCII = rb"[0-9A-Fa-f]{4}", rb"00[2-7][0-9A-Fa-f]"
_CODE_POINTS, _OCTAL, _PERCENT, _DECIMAL = (1, 2, 3, 4, 7), 5, 6, 8
_MARKS = (b"\\x", b"\\u{", b"\\U0000", b"\\0", b"\\1")
_BASE64, _ALPHANUMERIC = (
    bytes(97 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in more) else 32 for code in range(256))
    for more in ("+/-_", "")
)
_LETTERS = frozenset(code for code in range(256) if _BASE64[code] == 97)
_RARE = re.compile(r"[>?~\x7f]|[^\x00-\x7f]")
_LONGEST_RUN = 60  # programs break base64 after 60 characters or more
_LARGEST_RUN = 20_000_000
_REST = re.compile(rb"[A-Za-z0-9+/_\-]*")
_CONTINUED = re.compile(rb"(?:\\r|\\n|\s){1,8}[A-Za-z0-9+/_\-]{4,}(?=={0,2}(?:\W|\Z))")
# What breaks up a secret, and what stands between the bytes of a hex dump, of a list of numbers or of an escaped text.
_GAPS = b" \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f:,;-_x\\'\"[](){}hX|.+"
_PIECE = 12
_DIGITS = tuple(b"%d" % digit for digit in range(10))
_SMALL = bytes(ord(chr(code).lower()) if code < 128 else code for code in range(256))
_HEX_GAP = r"[ \t\r\n:,;\-_xX\\'\"\[\](){}h|.0]{0,12}?"


@dataclass(frozen=True, slots=True)
class Disguises:
    """The secrets that are looked for: as they are, as UTF-16, and in hex; `run` is the shortest run of base64."""

    plain: tuple[bytes, ...] = ()
    wide: tuple[bytes, ...] = ()
    broken: tuple[str, ...] = ()  # forms that are looked for with gaps in them
    needles: tuple[bytes, ...] = ()  # pieces of these, and of hex, one of which stands in a text without its gaps
    run: bytes = b"a" * _LONGEST_RUN  # the shortest run of base64, as `alphabet` marks it
    alphabet: bytes = _BASE64
    marks: tuple[bytes, ...] = ()  # what begins an escape
    escape: re.Pattern[bytes] = re.compile(_ESCAPES % (_ANY, _ANY))
    shortest: int = sys.maxsize  # no shorter text holds a disguise, but for escapes

    @classmethod
    def of(cls, secrets: Sequence[str]) -> Disguises:
        """Those of secrets that are long enough not to be words."""
        if not secrets:
            return cls()
        plain = tuple(secret.encode("utf-8", "surrogatepass") for secret in secrets)
        wide = tuple(secret.encode(form, "surrogatepass") for secret in secrets for form in ("utf-16-le", "utf-16-be"))
        forms = {form for secret in secrets for form in secret_forms.breakable(secret)}
        broken = tuple(sorted(forms, key=len, reverse=True))
        needles = {_needle(_compact(form)) for form in broken} | {_needle(data.hex().encode()) for data in plain}
        is_ascii = all(map(str.isascii, secrets))  # then others, such as those of Chinese, need no decoding
        escape = re.compile(_ESCAPES % ((_ASCII, _ASCII) if is_ascii else (_ANY, _ANY)))
        marks = (b"\\u00" if is_ascii else b"\\u", *_MARKS)
        # Base64 of base64, and of most texts as UTF-16, has neither + nor /: without these, no path looks like it.
        alphabet = _BASE64 if any(map(_RARE.search, secrets)) else _ALPHANUMERIC
        run = min(_LONGEST_RUN, -(-(min(map(len, plain)) + 2) * 4 // 3))  # of a text with one character escaped
        shortest = min(run, *map(len, broken), *(2 * len(data) for data in plain))
        return cls(plain, wide, broken, tuple(sorted(needles)), b"a" * run, alphabet, marks, escape, shortest)

    def redact(self, text: str, redacted: str) -> str:
        """The text without what is disguised in it."""
        may_be_escaped = "\\" in text or "%" in text or "&#" in text
        if len(text) < self.shortest and not may_be_escaped:
            return text
        data = text.encode("utf-8", "surrogatepass")
        compact = data.translate(_SMALL, _GAPS) if text.isascii() and not may_be_escaped else _compact(text)
        made = data
        if any(map(compact.__contains__, self.needles)):
            made = self._without_gaps(text, redacted)
        if "0x" in text or "0X" in text:
            made = self._without_numbers(made, compact, redacted.encode())
        if may_be_escaped:
            made = self._without_escapes(made, redacted.encode())
        if self.run in data.translate(self.alphabet):
            made = self._without_base64(made, redacted.encode())
        return text if made is data else made.decode("utf-8", "surrogatepass")

    def _without_gaps(self, text: str, redacted: str) -> bytes:
        """The text without secrets that are broken up, and without those in hex, however it is grouped."""
        for form in self.broken:
            text = secret_forms.broken(form).sub(redacted, text)
        data = text.encode("utf-8", "surrogatepass")
        for secret in self.plain:
            data = _grouped(secret).sub(redacted.encode(), data)
        return data

    def _without_numbers(self, data: bytes, compact: bytes, redacted: bytes) -> bytes:
        """The text without secrets that are lists of numbers, as in `0x5a, 0x71`."""
        for secret in self.plain:
            if _numbered(secret) in compact:
                data = _grouped(secret).sub(redacted, data)
        return data

    def _without_escapes(self, data: bytes, redacted: bytes) -> bytes:
        if not self._may_be_escaped(data):
            return data
        spans = self._escaped_spans(data)
        return _cut(data, spans, redacted) if spans else data

    def _may_be_escaped(self, data: bytes) -> bool:
        return b"%" in data or b"&#" in data or any(mark in data for mark in self.marks)

    def _escaped_spans(self, data: bytes) -> list[tuple[int, int]]:
        """Where secrets stand in a text once it is unescaped, as often as it takes."""
        layers: list[_Layer] = []
        spans: list[tuple[int, int]] = []
        for _ in range(_ROUNDS):
            layer = _Layer.of(data, self.escape)
            if layer is None:
                break
            layers.append(layer)
            data = layer.decoded
            for begin, end in self._places(data):
                for one in reversed(layers):
                    begin, end = one.start(begin), one.end(end)
                spans.append((begin, end))
        return spans

    def _places(self, data: bytes) -> list[tuple[int, int]]:
        found = []
        for secret in self.plain:
            at = data.find(secret)
            while at >= 0:
                found.append((at, at + len(secret)))
                at = data.find(secret, at + len(secret))
        return found

    def _without_base64(self, data: bytes, redacted: bytes) -> bytes:
        runs = _runs(data, data.translate(self.alphabet), self.run)
        spans = [span for span in runs if self._encodes(data[slice(*span)], 2)]
        return _cut(data, spans, redacted) if spans else data

    def _encodes(self, run: bytes, depth: int) -> bool:
        """Whether a run of base64 decodes to a secret, or to base64 of one."""
        if len(run) > _LARGEST_RUN:
            return False
        packed = b"".join(run.split()).replace(b"-", b"+").replace(b"_", b"/")
        for skip in range(4):
            decoded = _decoded(packed[skip:])
            if any(secret in decoded for secret in (*self.plain, *self.wide)):
                return True
            if depth > 1 and self._encodes_within(decoded):
                return True
            if b"%" in decoded and self._escaped_spans(decoded):
                return True
        return False

    def _encodes_within(self, decoded: bytes) -> bool:
        spans = _runs(decoded, decoded.translate(_BASE64), b"a" * 8)
        return any(self._encodes(decoded[slice(*span)], 1) for span in spans)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A text with its escapes decoded, and where each of its bytes came from."""

    decoded: bytes
    places: list[int]  # of each escape in the decoded text
    ends: list[int]  # of each escape there
    starts_before: list[int]
    ends_before: list[int]

    @classmethod
    def of(cls, data: bytes, escape: re.Pattern[bytes]) -> _Layer | None:
        """The text without its escapes; None if there are none."""
        parts, matches, last = [], [], 0
        for match in escape.finditer(data):
            made = _character(match)
            if made is not None:
                parts += [data[last : match.start()], made]
                matches.append((match.start(), match.end()))
                last = match.end()
        if not matches:
            return None
        parts.append(data[last:])
        offsets = list(accumulate(map(len, parts)))
        return cls(b"".join(parts), offsets[0:-1:2], offsets[1::2], *map(list, zip(*matches, strict=True)))

    def start(self, place: int) -> int:
        """Where what stands at a place of the decoded text begins in the text before."""
        at = bisect_right(self.places, place) - 1
        if at < 0:
            return place
        return self.starts_before[at] if place < self.ends[at] else self.ends_before[at] + place - self.ends[at]

    def end(self, place: int) -> int:
        """Where what ends before a place of the decoded text ends in the text before."""
        before = self.start(place - 1)
        at = bisect_right(self.places, place - 1) - 1
        return self.ends_before[at] if at >= 0 and place - 1 < self.ends[at] else before + 1


def _compact(text: str) -> bytes:
    """A text in small letters and without what may break up a secret."""
    if "\\" in text:
        text = text.replace("\\n", "").replace("\\r", "").replace("\\t", "")
    if not text.isascii():  # other languages have spaces of their own
        text = "".join(text.split())
    return text.encode("utf-8", "surrogatepass").translate(_SMALL, _GAPS)


def _needle(compact: bytes) -> bytes:
    """The piece of a form that is found fastest: the one with the most digits, which most texts have few of."""
    places = range(max(1, len(compact) - _PIECE + 1))
    return max((compact[at : at + _PIECE] for at in places), key=lambda piece: sum(piece.count(d) for d in _DIGITS))


def _character(match: re.Match[bytes]) -> bytes | None:
    """The character that an escape stands for; a byte if it is one of a URL."""
    if match[_PERCENT] is not None:
        return bytes([int(match[_PERCENT], 16)])
    if match[_OCTAL] is not None:
        return bytes([int(match[_OCTAL], 8)])
    digits = next((match[group] for group in _CODE_POINTS if match[group] is not None), None)
    code = int(digits, 16) if digits is not None else int(match[_DECIMAL])
    return chr(code).encode("utf-8", "surrogatepass") if code < 0x110000 else None


def _cut(data: bytes, spans: Sequence[tuple[int, int]], redacted: bytes) -> bytes:
    parts, last = [], 0
    for begin, end in sorted(spans):
        if begin >= last:
            parts += [data[last:begin], redacted]
        last = max(last, end)
    return b"".join((*parts, data[last:]))


def _decoded(packed: bytes) -> bytes:
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        return binascii.a2b_base64(packed + b"=" * (-len(packed) % 4))
    except binascii.Error:
        return b""


@lru_cache(maxsize=256)
def _numbered(data: bytes) -> bytes:
    """Hex as a list of numbers has it once its commas and letters are left out: 0x5a, 0x71."""
    return b"".join(b"0%02x" % byte for byte in data)


@lru_cache(maxsize=256)
def _grouped(secret: bytes) -> re.Pattern[bytes]:
    """What finds a secret in hex, with anything that dumps and lists put between the bytes."""
    pairs = (f"{byte:02x}" for byte in secret)
    return re.compile(rf"(?i:(?:\\+x|0x)?{_HEX_GAP.join(pairs)})".encode())


def _runs(data: bytes, marked: bytes, wanted: bytes) -> Iterator[tuple[int, int]]:
    """Where base64 stands, over several lines too; never where all letters are small or all large, as in a hash."""
    at = marked.find(wanted)
    while at >= 0:
        end = _end(marked, at)
        run = data[at:end]
        if not (run.islower() or run.isupper()):
            while at and data[at - 1] in _LETTERS:
                at -= 1
            end = _past(data, end)
            while (line := _CONTINUED.match(data, end)) is not None:
                end = line.end()
            yield at, end
        at = marked.find(wanted, end)


def _past(data: bytes, at: int) -> int:
    rest = _REST.match(data, at)
    return rest.end() if rest is not None else at


def _end(marked: bytes, at: int) -> int:
    end = marked.find(b" ", at)
    return end if end >= 0 else len(marked)
