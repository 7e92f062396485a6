"""Globs: `*` and `?` within a name, `[abc]`, and `**` for any number of folders.

The patterns are a model's, so they are matched without regular expressions, in time that grows with the product of both
lengths and not faster.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 500


class BadGlob(ValueError):
    """A pattern that no path can match."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern; one without a slash is for names in any folder."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> Glob:
        """The pattern in a text; raises BadGlob."""
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
        """Whether a relative path, with `/` between its parts, matches."""
        names = path.split("/")
        # reached[i]: whether the names so far match the first i parts of the pattern.
        reached = self._free([True] + [False] * len(self.parts))
        for name in names:
            after = [False] * (len(self.parts) + 1)
            for at, part in enumerate(self.parts):
                if reached[at]:
                    after[at] = after[at] or part == "**"
                    after[at + 1] = after[at + 1] or (part != "**" and name_matches(part, name))
            reached = self._free(after)
        return reached[-1]

    def _free(self, reached: list[bool]) -> list[bool]:
        """Also what is reached because `**` stands for no folder at all."""
        for at, part in enumerate(self.parts):
            if part == "**" and reached[at]:
                reached[at + 1] = True
        return reached


def name_matches(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern with `*`, `?` and `[…]`."""
    pieces = _pieces(pattern)
    at = matched = 0
    star = -1
    while matched < len(name):
        if at < len(pieces) and pieces[at] != "*" and _one(pieces[at], name[matched]):
            at, matched = at + 1, matched + 1
        elif at < len(pieces) and pieces[at] == "*":
            star, tried, at = at, matched, at + 1
        elif star >= 0:
            tried += 1
            at, matched = star + 1, tried
        else:
            return False
    return all(piece == "*" for piece in pieces[at:])


def _pieces(pattern: str) -> list[str]:
    pieces, at = [], 0
    while at < len(pattern):
        end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        end = end if end > 0 else at
        pieces.append(pattern[at : end + 1])
        at = end + 1
    return pieces


def _one(piece: str, letter: str) -> bool:
    if piece == "?":
        return True
    if len(piece) == 1:
        return piece == letter
    inner = piece[1:-1]
    negated = inner[0] in "!^" and len(inner) > 1
    inner = inner[1:] if negated else inner
    found, at = False, 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            found, at = found or inner[at] <= letter <= inner[at + 2], at + 3
        else:
            found, at = found or inner[at] == letter, at + 1
    return found != negated
