"""Skills that a goal names outright: `use skill NAME`, `use the NAME skill`, `--skill NAME`, `$NAME`.

A name of several words, such as `release-notes`, stands for itself where that is asked for too (`bare`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from goalwright_skills.skill import Skill

_NAME = r"[\"'`“「]?\$?([A-Za-z0-9][A-Za-z0-9_-]*)[\"'`”」]?"
_END = r"(?![A-Za-z0-9_-])"
_THE = r"(?:(?:the|our|my)\s+)?"
_FORMS = (
    re.compile(rf"\b(?:use|load)\s+(?:the\s+)?skill\s+{_NAME}{_END}", re.IGNORECASE),
    re.compile(rf"\b(?:use|load)\s+(?:the\s+)?{_NAME}\s+skill\b", re.IGNORECASE),
    re.compile(rf"(?<![\w-])--skill(?:\s+|=){_NAME}{_END}"),
)
# Not a part of a path, a file's name, an option or a longer name.
_BARE = re.compile(r"(?<![A-Za-z0-9_/.$@-])([A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)(?![A-Za-z0-9_/-]|\.[A-Za-z0-9_])")
# A mention begins a word and ends one: `$NAME/bin`, `$NAME=1`, `$NAME[0]` and `x=$NAME` are code.
_DOLLAR = re.compile(
    rf"(?<![A-Za-z0-9_$\\=/{{:.&|@%+*<-])\$([A-Za-z0-9][A-Za-z0-9_-]*){_END}(?![$/=\[({{\\^<]|[.:][A-Za-z0-9_])"
)
# Code in a text: fenced, in backticks, or lines that begin as commands do.
_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|"
    r"^[ \t]*(?:[$#>%][ \t]+\S|(?:sudo|echo|printf|export|unset|cd|mkdir|chmod|grep|sed|awk|curl|wget|pip|npm|git)\s)"
    r"[^\n]*|"
    r"\b(?:echo|export|cd|printf|unset)\s+\"?\$\w+",
    re.DOTALL | re.MULTILINE,
)
_WHOLLY = re.compile(r"`\$[A-Za-z0-9_-]+`")
# A formula: from one dollar to the next that closes, with a sign of mathematics or a single letter in between.
_FORMULA = re.compile(r"\$\$.*?\$\$|\$(?=[^\s$])[^$\n]*?(?<=[^\s$])\$(?![A-Za-z0-9])", re.DOTALL)
_MATHEMATICS = re.compile(r"[\\^_={}<>+*|∈≤≥×·]|^\$\w\$$|^\$\w\b")
# What stands before a skill that is not wanted: "do not use", "without the"; not "why not", nor "if it does not work".
_REFUSED = re.compile(
    r"(?:(?<!\bwhy[ ])\bnot|\b(?:don|doesn|mustn|shouldn|won)['’]t|\b(?:dont|never|without|no|avoid)"
    r"|\b(?:instead|rather)[ ](?:of|than)|\b(?:nicht|ohne|sans|sin))"
    r"(?:\s+(?:use|using|call|calling|run|running|load|loading|apply|applying|touch|try|need|want|ever|please|the|any|an?"
    r"|our|my|den|die|das|le|la|el))"
    r"{0,3}\s*$|(?:不要|不用|别)(?:再|使用|调用|运行|用)*\s*$",
    re.IGNORECASE,
)
_BEFORE = 60
# Which skills are not wanted, by their whole names: "do not use scanpy", "without using the pdf or docx skill". A name
# that something else follows says what kind of thing is not wanted ("do not use PDF pages that are blank"); without a
# verb, so may a name that is not called a skill ("functions without documentation").
_ALONE = (
    r"(?=\s*(?:$|[.,;:!?)\n。，；：！？）]|技能|工具|"
    r"(?:skills?|tools?|n?or|but|and|here|at[ ]all|this[ ]time|for[ ](?:it|this|that))\b))"
)
_NOT_TO_USE = re.compile(
    r"(?:\b(?:do|must|should|shall)[ ]not|\b(?:don|mustn|shouldn)['’]t|\b(?:dont|never|without|avoid))"
    r"(?:[ ](?:ever|please))?\s+(?:use|using|call|calling|run|running|load|loading|apply|applying)\s+"
    rf"{_THE}(?:skills?\s+)?{_NAME}{_END}{_ALONE}",
    re.IGNORECASE,
)
# Lists: "the pdf, docx or xlsx skill"; with "and" only where they are called skills, since "and" may begin a request.
_WORD = rf"{_THE}[\"'`“「]?\$?[A-Za-z0-9][A-Za-z0-9_-]*[\"'`”」]?"
_SKILLS = r"\s+(?:skill|tool)s?\b"
_WORDS = rf"{_WORD}(?:\s*,\s+{_WORD}){{0,8}}"
_WITHOUT = r"\b(?:without|not\s+with|avoid|except|instead\s+of|rather\s+than)\s+"
_NOT_THE_SKILL = re.compile(
    rf"{_WITHOUT}(?=(?:{_WORDS}(?:\s*,)?\s+(?:n?or|and)\s+)?{_WORD}{_SKILLS}){_THE}{_NAME}",
    re.IGNORECASE,
)
_NOT_SKILL = re.compile(
    rf"{_WITHOUT}{_THE}skill\s+{_NAME}{_END}{_ALONE}",
    re.IGNORECASE,
)
_NOT_TO_USE_CHINESE = re.compile(rf"(?:不要|不用|别)再?(?:使用|调用|运行|用)\s*{_NAME}{_END}{_ALONE}")
_NOT_TO_USE_GERMAN_FRENCH_SPANISH = re.compile(
    r"(?:\b(?:benutz|verwend|nutz)e?(?:n\s+Sie)?\s+(?:bitte\s+)?nicht|\bn['’]utilise[rz]?\s+pas|\bne\s+pas\s+utiliser"
    rf"|\bno\s+(?:uses?|utilices?|usar|utilizar))\s+(?:(?:den|die|das|le|la|el)\s+)?(?:skill\s+)?{_NAME}{_END}{_ALONE}",
    re.IGNORECASE,
)
_REFUSALS = (_NOT_TO_USE, _NOT_THE_SKILL, _NOT_SKILL, _NOT_TO_USE_CHINESE, _NOT_TO_USE_GERMAN_FRENCH_SPANISH)
# Where a name may begin.
_START = re.compile(r"(?<!\w)[A-Za-z0-9]")
_SKILL = re.compile(_SKILLS, re.IGNORECASE)
_LAST = rf"(?:n?or\s+{_WORD}{_END}{_ALONE}|and\s+{_WORD}{_SKILLS})"
_NEXT = re.compile(
    rf"(?:(?:\s*,)?\s*\b(?={_LAST})(?:n?or|and)\s+|\s*,\s+(?={_WORDS}(?:\s*,)?\s+{_LAST}))"
    rf"{_THE}{_NAME}{_END}",
    re.IGNORECASE,
)


def named(goal: str, skills: Sequence[Skill], *, bare: bool = False) -> list[Selection]:
    """The known skills that the goal asks for by name and that may be called so, in the order it names them."""
    first: dict[str, Selection] = {}
    for match, skill in sorted(_mentions(goal, skills, bare=bare), key=lambda found: found[0].start()):
        if skill.name not in first and skill.user_invocable and not _is_refused(goal, match.start()):
            reason = f"the goal asks for it: {match[0].strip()!r}"
            first[skill.name] = Selection(skill.name, 1.0, reason, certain=True)
    return list(first.values())


def mentioned(goal: str, skills: Iterable[Skill]) -> list[Skill]:
    """Of these skills, those that the goal asks for by name, whether they may be called or not."""
    found: dict[str, Skill] = {}
    for match, skill in _mentions(goal, skills):
        if skill.name not in found and not _is_refused(goal, match.start()):
            found[skill.name] = skill
    return list(found.values())


def without_names(goal: str, skills: Sequence[Skill], *, bare: bool = False) -> str:
    """The goal without the words that name known skills, to use them or not, which say nothing about what to do."""
    spans = [match.span() for match, _ in _mentions(goal, skills, bare=bare)]
    for _, match in _refusals(goal, skills):
        after = _SKILL.match(goal, match.end())
        spans.append((match.start(), after.end() if after is not None else match.end()))
    kept, at = [], 0
    for start, end in sorted(spans):
        kept += [goal[at : max(at, start)], " " * (end - max(at, start))]
        at = max(at, end)
    return "".join((*kept, goal[at:]))


def refused(goal: str, skills: Sequence[Skill]) -> set[str]:
    """The skills that the goal says not to use, by a mention or otherwise, and names nowhere else."""
    said: dict[str, set[int]] = {}
    for name, match in _refusals(goal, skills):
        said.setdefault(name, set()).add(match.start(1))
    for match, skill in _mentions(goal, skills):
        if _is_refused(goal, match.start()):
            said.setdefault(skill.name, set()).add(match.start(1))
    return said.keys() - _named_elsewhere(goal, said)


def _named_elsewhere(goal: str, said: Mapping[str, Set[int]]) -> set[str]:
    """The names that the goal has at other places too, found in one pass: it may refuse thousands."""
    names = _by_spelling(said)
    lengths = sorted(set(map(len, names)))
    starts = (match.start() for match in _START.finditer(goal)) if names else ()
    return {
        name
        for at in starts
        for length in lengths
        for name in names.get(goal[at : at + length].lower(), ())
        if at not in said[name]
    }


def _by_spelling(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by how they are spelled in lower case."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.lower(), []).append(name)
    return found


def _refusals(goal: str, skills: Iterable[Skill]) -> Iterator[tuple[str, re.Match[str]]]:
    """The known skills that the goal says not to use, each with the words that say so."""
    matches: list[re.Match[str]] = []
    for first in (match for form in _REFUSALS for match in form.finditer(goal)):
        found: re.Match[str] | None = first
        while found is not None:
            matches.append(found)
            found = _NEXT.match(goal, found.end())
    known = _by_spelling(skill.name for skill in skills) if matches else {}
    for match in matches:
        yield from ((name, match) for name in known.get(match[1].lower(), ()))


def refuses(goal: str, word: str) -> bool:
    """Whether the goal has a word, and says wherever it has it that what it names is not to be used."""
    places = _places(goal, word)
    return bool(places) and all(_is_refused(goal, at) for at in places)


def _places(goal: str, word: str) -> list[int]:
    return [found.start() for found in re.finditer(rf"(?<!\w){re.escape(word)}", goal, re.IGNORECASE)]


def _is_refused(goal: str, at: int) -> bool:
    """Whether the goal says that what is named there is not to be used."""
    return _REFUSED.search(goal, max(0, at - _BEFORE), at) is not None


def _mentions(goal: str, skills: Iterable[Skill], *, bare: bool = False) -> Iterator[tuple[re.Match[str], Skill]]:
    forms = (*_FORMS, _BARE) if bare else _FORMS
    matches = [*(found for form in forms for found in form.finditer(goal)), *_dollars(goal)]
    known = {skill.name: skill for skill in skills} if matches else {}
    for match in matches:
        name = match[1] if match[1] in known else match[1].lower()
        if name in known:
            yield match, known[name]


def _dollars(goal: str) -> Iterator[re.Match[str]]:
    """`$NAME` where it is a mention: not in code or a formula, and not a variable in capitals."""
    if "$" not in goal:
        return
    code = [found.span() for found in _CODE.finditer(goal) if not _WHOLLY.fullmatch(found[0])]
    formulas = [found.span() for found in _FORMULA.finditer(goal) if _MATHEMATICS.search(found[0])]
    for match in _DOLLAR.finditer(goal):
        inside = any(_holds(spans, match.start()) for spans in (code, formulas))
        if not inside and not (match[1].isupper() and len(match[1]) > 1):
            yield match


def _holds(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether one of these spans, which are in order and do not overlap, has this place."""
    before = bisect_right(spans, at, key=itemgetter(0))
    return before > 0 and at < spans[before - 1][1]
