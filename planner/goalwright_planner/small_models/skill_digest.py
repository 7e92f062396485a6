"""Shortens a skill's instructions for a small model, and names the sections that were left out.

Steps, rules and the form of the answer are kept longest: examples, references and background go first, then other
sections, each as a whole. Code blocks go too, since a small model copies them; a block that shows the form keeps its
headings and labels. If the steps and rules do not fit, each item is cut to its first sentence, and the last items of
the longest section go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)[\s#]*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"^(?:[-*+]|\d+[.)、])\s+")
_NO_UNIT = re.compile(r"\s*[|>]")  # tables and quotes are kept with their whole section only
_FIRST = re.compile(
    r"\b(?:steps?|rules?|instructions?|workflow|procedure|process|guidelines?|what to do|how to|constraints?)\b"
    r"|^method$"
    r"|\b(?:schritte?|regeln?|anleitung|ablauf|vorgehen|étapes?|règles?|pasos?|reglas?)\b"
    r"|步骤|规则|流程|要求|手順|ルール",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"^(?:the )?(?:output|answer|result|report|response|format|template|structure)s?"
    r"(?: (?:format|template|structure|form))?$"
    r"|^(?:ausgabe|ergebnis|vorlage|format de sortie|sortie|modèle|salida|plantilla)$|^(?:输出|输出格式|格式|模板)$",
    re.IGNORECASE,
)
# The fixed text of a template: a heading or a bold label, without placeholders.
_LABEL = re.compile(r"^(#{1,6} [^<>{}\[\]…]+?|\*\*[^<>{}\[\]*…]+:\*\*)(?=\s*$|\s+[<…])", re.MULTILINE)
# An optional part: a small model would write its heading and nothing below it.
_OPTIONAL = re.compile(r"\b(?:leave out|omit|skip)\s+[*_`]+([^*_`\n]+)[*_`]", re.IGNORECASE)
_MOST_LABELS = 12
_PARTS = "Write the answer in these parts, in this order, and leave out those with nothing to say"
_LAST = re.compile(
    r"\b(?:examples?|references?|background|see also|resources?|further reading|appendix|faq|changelog|history"
    r"|licen[cs]e|credits?|about|beispiele?|hintergrund|exemples?|ejemplos?)\b|示例|例子|参考|背景",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)[.!?][*_\"'”’)\]`]*(?=\s+[^a-z\s]|\s*$)|[。！？][”’」）]*"
)
_BASE = re.compile(r"\ABase directory for this skill: [^\n]*\n+")
_ARGUMENTS = re.compile(r"\n+(ARGUMENTS: .*)\Z", re.DOTALL)
# The ranks of sections: kept first, the introduction, others, left out first.
_NEEDED, _OPENING, _OTHER, _MORE = range(4)


@dataclass(frozen=True, slots=True)
class SkillDigest:
    """A skill's text for a prompt; `left_out` names the sections that were cut, by `characters` in all."""

    text: str
    left_out: tuple[str, ...] = ()
    characters: int = 0


@dataclass(slots=True)
class _Section:
    """A heading with the lines below it, up to the next heading; `kept` is the text that the digest has."""

    title: str
    heading: str
    rank: int
    lines: list[str] = field(default_factory=list)
    kept: str = ""

    @property
    def whole(self) -> str:
        return "\n".join((self.heading, *self.lines)).strip()

    @property
    def has_code(self) -> bool:
        return any(is_code for _, is_code in _marked(self.lines))

    @property
    def units(self) -> list[str]:
        """The items and paragraphs of the section; for a form, its parts."""
        return ["\n".join((f"{_PARTS}:", *self.labels))] if self.labels else _units(self.lines)

    @property
    def labels(self) -> list[str]:
        """The headings and labels of the form, if the section shows one."""
        if not _FORM.match(self.title):
            return []
        marked = list(_marked(self.lines))
        code = "\n".join(line for line, is_code in marked if is_code)
        optional = set(_OPTIONAL.findall("\n".join(line for line, is_code in marked if not is_code)))
        # "# Weekly report: <week>" is the heading "# Weekly report".
        labels = [label.rstrip(":") if label.startswith("#") else label for label in _LABEL.findall(code)]
        return [label for label in labels if label.strip("# *:") not in optional][:_MOST_LABELS]

    @property
    def omission(self) -> str:
        """The name of the section for `left_out`; empty if the digest has all of it."""
        if self.kept == self.whole:
            return ""
        return f"{self.title} (in part)" if self.kept else self.title


def digest(skill: str, most: int | None) -> SkillDigest:
    """Return a skill's loaded text in at most `most` characters, not counting its base directory and its arguments."""
    if most is None or len(skill) <= most:
        return SkillDigest(skill)
    base, arguments = _BASE.match(skill), _ARGUMENTS.search(skill)
    body = skill[base.end() if base else 0 : arguments.start() if arguments else None].strip()
    sections = _sections(body)
    title = next((section for section in sections if section.rank == _OPENING and section.heading), None)
    room = most - (len(title.heading) + 2 if title else 0)
    for rank in _order(sections):
        group = [section for section in sections if section.rank == rank]
        room -= _keep_items(group, room) if rank < _OTHER else _keep_whole(group, room)
    if title is not None and not title.kept and room >= 0:
        title.kept = title.heading
    # The form of the answer comes last: a small model continues the text that it read last.
    kept = [section.kept for section in sorted(sections, key=lambda section: bool(section.labels)) if section.kept]
    text = "\n\n".join((*([base[0].strip()] if base else []), *(kept or [_beginning(body, most)])))
    text = f"{text}\n\n{arguments[1].rstrip()}" if arguments else text
    left_out = tuple(omission for section in sections if (omission := section.omission))
    return SkillDigest(text, left_out, len(skill) - len(text))


def _order(sections: Sequence[_Section]) -> tuple[int, ...]:
    """Return the order in which ranks are kept; a skill that names no steps has them under other headings."""
    if not any(section.rank == _NEEDED for section in sections):
        for section in sections:
            section.rank = _NEEDED if section.rank == _OTHER and not section.has_code else section.rank
        return _OPENING, _NEEDED, _OTHER, _MORE
    return _NEEDED, _OPENING, _OTHER, _MORE


def _sections(body: str) -> list[_Section]:
    opening = _Section("the beginning", "", _OPENING)
    sections, above = [opening], list[tuple[int, int]]()
    for line, is_code in _marked(body.split("\n")):
        heading = _HEADING.match(line) if not is_code else None
        if heading is None:
            sections[-1].lines.append(line)
            continue
        level, title = len(heading[1]), heading[2]
        above = [(deep, rank) for deep, rank in above if deep < level]
        is_title = level == 1 and all(not section.heading for section in sections)
        rank = _OPENING if is_title else _rank(title, above[-1][1] if above else _OTHER)
        if not is_title:
            above.append((level, rank))
        sections.append(_Section(title or "a section without a title", line, rank))
    for section in sections:
        section.rank = _NEEDED if section.labels else section.rank
    return [section for section in sections if section.whole]


def _marked(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to a code block."""
    opened = ""
    for line in lines:
        fence = _FENCE.match(line)
        yield line, bool(opened or fence)
        if fence and not opened:
            opened = fence[1]
        elif fence and fence[1].startswith(opened):
            opened = ""


def _rank(title: str, parent: int) -> int:
    if _LAST.search(title):
        return _MORE
    return _NEEDED if _FIRST.search(title) else parent


def _keep_whole(sections: Sequence[_Section], room: int) -> int:
    """Keep the sections that fit and have no code; return the room that they take."""
    taken = 0
    for section in sections:
        size = len(section.whole) + 2
        if not section.has_code and taken + size <= room:
            section.kept = section.whole
            taken += size
    return taken


def _keep_items(sections: Sequence[_Section], room: int) -> int:
    """Keep whole sections if all fit, else the items or first sentences that fit; return the room that they take."""
    if sum(len(section.whole) + 2 for section in sections) <= room and not any(
        section.has_code for section in sections
    ):
        return _keep_whole(sections, room)
    units = [section.units for section in sections]
    short = [[_first_sentence(unit) for unit in section_units] for section_units in units]
    indices = range(len(sections))

    def size(index: int) -> int:
        return len(_joined(sections[index], short[index])) + 2 if short[index] else 0

    while (taken := sum(map(size, indices))) > room:
        short[max(indices, key=size)].pop()
    for section, whole, kept in zip(sections, units, short, strict=True):
        for number in range(len(kept)):
            growth = len(whole[number]) - len(kept[number])
            if taken + growth <= room:
                kept[number], taken = whole[number], taken + growth
        section.kept = _joined(section, kept) if kept else ""
    return taken


def _joined(section: _Section, units: Sequence[str]) -> str:
    """Return a section with these items and paragraphs; lists stay lists."""
    text = ""
    for unit in units:
        text += ("\n" if _ITEM.match(unit) else "\n\n") + unit
    text = text.lstrip("\n")
    return f"{section.heading}\n\n{text}" if section.heading else text


def _units(lines: Sequence[str]) -> list[str]:
    """Return the items and paragraphs of a section, each with the lines that belong to it."""
    units: list[list[str]] = []
    blank = False
    for line, is_code in _marked(lines):
        if is_code or not line.strip():
            blank = True
        elif units and not _ITEM.match(line) and (not blank or line[:1].isspace()):
            units[-1].append(line)
            blank = False
        else:
            units.append([line])
            blank = False
    return [unit for unit_lines in units if not _NO_UNIT.match(unit := "\n".join(unit_lines))]


def _first_sentence(unit: str) -> str:
    marker = _ITEM.match(unit)
    for end in _SENTENCE.finditer(unit, marker.end() if marker else 0):
        if unit.count("`", 0, end.end()) % 2 == 0:  # not inside code
            return unit[: end.end()]
    return unit


def _beginning(body: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a line or else of a word."""
    return body[:most].rpartition("\n")[0] or cut(body, most)
