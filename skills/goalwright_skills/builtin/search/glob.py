"""Globs: `*` and `?` within a name, `[abc]`, and `**` for any number of folders.

Patterns come from models, so they are matched without regular expressions, in time proportional to the product of both
lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 500


class BadGlob(ValueError):
    """An invalid pattern."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern; without a slash it matches names in any folder."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> Glob:
        """Parse a pattern; raises BadGlob."""
        text = pattern.strip().removeprefix("./")
        if not text or len(text) > LONGEST or "\0" in text:
            raise BadGlob(f"must have 1 to {LONGEST} characters")
        parts = tuple(part for part in text.split("/") if part)
        if text.startswith("/") or ".." in parts or not parts:
            raise BadGlob("must be relative to the folder, without `..`")
        if text.endswith("/"):
            parts = (*parts, "**")
        return cls(parts if "/" in text else ("**", *parts))

    def matches(self, path: str) -> bool:
        """Return whether a relative path, with `/` between its parts, matches."""
        names = path.split("/")
        # reached[i]: whether the names so far match the first i parts of the pattern.
        reached = self._skip_wildcards([True] + [False] * len(self.parts))
        for name in names:
            following = [False] * (len(self.parts) + 1)
            for position, part in enumerate(self.parts):
                if reached[position]:
                    following[position] = following[position] or part == "**"
                    following[position + 1] = following[position + 1] or (part != "**" and name_matches(part, name))
            reached = self._skip_wildcards(following)
        return reached[-1]

    def _skip_wildcards(self, reached: list[bool]) -> list[bool]:
        """Extend the reached positions over `**`, which may match no folder at all."""
        for position, part in enumerate(self.parts):
            if part == "**" and reached[position]:
                reached[position + 1] = True
        return reached


def name_matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a pattern with `*`, `?` and `[…]`."""
    pieces = _pieces(pattern)
    position = matched = 0
    star = -1
    while matched < len(name):
        if position < len(pieces) and pieces[position] != "*" and _matches_letter(pieces[position], name[matched]):
            position, matched = position + 1, matched + 1
        elif position < len(pieces) and pieces[position] == "*":
            star, tried, position = position, matched, position + 1
        elif star >= 0:
            tried += 1
            position, matched = star + 1, tried
        else:
            return False
    return all(piece == "*" for piece in pieces[position:])


def _pieces(pattern: str) -> list[str]:
    pieces, position = [], 0
    while position < len(pattern):
        end = pattern.find("]", position + 2) if pattern[position] == "[" else -1
        end = end if end > 0 else position
        pieces.append(pattern[position : end + 1])
        position = end + 1
    return pieces


def _matches_letter(piece: str, letter: str) -> bool:
    if piece == "?":
        return True
    if len(piece) == 1:
        return piece == letter
    inner = piece[1:-1]
    negated = inner[0] in "!^" and len(inner) > 1
    inner = inner[1:] if negated else inner
    is_match, position = False, 0
    while position < len(inner):
        if inner[position + 1 : position + 2] == "-" and position + 2 < len(inner):
            is_match, position = is_match or inner[position] <= letter <= inner[position + 2], position + 3
        else:
            is_match, position = is_match or inner[position] == letter, position + 1
    return is_match != negated
