"""Skills that a goal names: `$NAME`, `/NAME` at the start of a line, `use the NAME skill`, `use skill NAME`."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goalwright_skills.skill import Skill

_NAME = r"[\"'`“「]?\$?([A-Za-z0-9][A-Za-z0-9_-]*)[\"'`”」]?"
_END = r"(?![A-Za-z0-9_-])"
_PHRASE = re.compile(
    rf"\b(?:use|load)\s+(?:the\s+)?(?:skill\s+{_NAME}{_END}|{_NAME}\s+skill\b)|(?<![\w-])--skill(?:\s+|=){_NAME}{_END}",
    re.IGNORECASE,
)
_SLASH = re.compile(rf"^[ \t]*/([A-Za-z0-9][A-Za-z0-9_-]*){_END}(?![/$]|\.\w)", re.MULTILINE)
# `$NAME` is a word of its own: `$NAME/bin`, `$NAME=1`, `$NAME[0]` and `x=$NAME` are code.
_DOLLAR = re.compile(
    rf"(?<![A-Za-z0-9_$\\=/{{:.&|@%+*<-])\$([A-Za-z0-9][A-Za-z0-9_-]*){_END}(?![$/=\[({{\\^<]|[.:][A-Za-z0-9_])"
)
# Code blocks, code in backticks, and lines that begin like commands.
_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|"
    r"^[ \t]*(?:[$#>%][ \t]+\S|(?:sudo|echo|printf|export|unset|cd|mkdir|chmod|grep|sed|awk|curl|wget|pip|npm|git)\s)"
    r"[^\n]*|"
    r"\b(?:echo|export|cd|printf|unset)\s+\"?\$\w+",
    re.DOTALL | re.MULTILINE,
)
_QUOTED_NAME = re.compile(r"`\$[A-Za-z0-9_-]+`")
# Text between two dollar signs is a formula if it has a mathematical sign or is a single letter.
_FORMULA = re.compile(r"\$\$.*?\$\$|\$(?=[^\s$])[^$\n]*?(?<=[^\s$])\$(?![A-Za-z0-9])", re.DOTALL)
_MATHEMATICS = re.compile(r"[\\^_={}<>+*|∈≤≥×·]|^\$\w\$$|^\$\w\b")
_NEGATION = re.compile(
    r"(?:\bnot|\bdont|n['’]t|\bnever|\bwithout)(?:\s+(?:use|using|load|loading))?(?:\s+the)?\s*$", re.IGNORECASE
)
_NEGATION_LENGTH = 40


def named(goal: str, skills: Iterable[Skill]) -> list[Selection]:
    """Return the skills that the goal names and that people may call, in the order of the goal."""
    selections: dict[str, Selection] = {}
    for match, skill in _mentions(goal, skills):
        if skill.name not in selections and skill.user_invocable and not _is_negated(goal, match.start()):
            reason = f"the goal asks for it: {match[0].strip()!r}"
            selections[skill.name] = Selection(skill.name, 1.0, reason, certain=True)
    return list(selections.values())


def mentioned(goal: str, skills: Iterable[Skill]) -> list[Skill]:
    """Return the skills that the goal names, callable or not."""
    mentions = (skill for match, skill in _mentions(goal, skills) if not _is_negated(goal, match.start()))
    return list({skill.name: skill for skill in mentions}.values())


def without_names(goal: str, skills: Iterable[Skill]) -> str:
    """Return the goal with spaces in place of the words that name skills, since they do not describe the task."""
    characters = list(goal)
    for match, _ in _mentions(goal, skills):
        characters[match.start() : match.end()] = " " * len(match[0])
    return "".join(characters)


def is_negated(goal: str, word: str) -> bool:
    """Whether every occurrence of a word follows a negation, as in "do not use scanpy"."""
    starts = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}", goal, re.IGNORECASE)]
    return bool(starts) and all(_is_negated(goal, start) for start in starts)


def _is_negated(goal: str, start: int) -> bool:
    return _NEGATION.search(goal, max(0, start - _NEGATION_LENGTH), start) is not None


def _mentions(goal: str, skills: Iterable[Skill]) -> list[tuple[re.Match[str], Skill]]:
    matches = [*_PHRASE.finditer(goal), *_SLASH.finditer(goal), *_dollar_names(goal)]
    by_name = {skill.name: skill for skill in skills} if matches else {}
    mentions = []
    for match in sorted(matches, key=lambda match: match.start()):
        name = match[match.lastindex or 0]
        if (skill := by_name.get(name) or by_name.get(name.lower())) is not None:
            mentions.append((match, skill))
    return mentions


def _dollar_names(goal: str) -> Iterator[re.Match[str]]:
    """Find `$NAME` outside code and formulas; names in capitals are environment variables."""
    if "$" not in goal:
        return
    code = [match.span() for match in _CODE.finditer(goal) if not _QUOTED_NAME.fullmatch(match[0])]
    formulas = [match.span() for match in _FORMULA.finditer(goal) if _MATHEMATICS.search(match[0])]
    for match in _DOLLAR.finditer(goal):
        excluded = any(_inside(spans, match.start()) for spans in (code, formulas))
        if not excluded and not (match[1].isupper() and len(match[1]) > 1):
            yield match


def _inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether a position lies in one of these spans, which are sorted and do not overlap."""
    index = bisect_right(spans, position, key=itemgetter(0))
    return index > 0 and position < spans[index - 1][1]
