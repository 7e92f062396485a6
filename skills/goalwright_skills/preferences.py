"""The user's decisions about skills: always listed, required, used only by name, or off.

They come from the table [skills] of the settings; `skills_without` are the skills left out of one run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from goalwright_skills.skill import MANUAL_KEY
from goalwright_skills.text.formatting import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from goalwright_skills.skill import Skill

OFF = "disabled by [skills] off"
WITHOUT = "left out of this run"
# The prefix of the tools and prompts of MCP servers, which are known only once a server offers them.
MCP = "mcp__"
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Preferences:
    """The names of skills by decision; `off` takes precedence over the others, `manual` over `pin`.

    `without` are off for this run alone.
    """

    pin: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    manual: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The skills that every plan of this run must use."""
        return tuple(name for name in self.require if name not in self.without)

    def is_manual(self, skill: Skill) -> bool:
        """Whether a skill is used only by name: the settings say so, or its author does and it is not pinned."""
        return skill.name in self.manual or (skill.is_manual and skill.name not in self.pin)

    def selectable(self, skills: Sequence[Skill]) -> list[Skill]:
        """Return the skills that a detector may select."""
        manual, pinned = frozenset(self.manual), frozenset(self.pin)  # there may be tens of thousands of skills
        return [
            skill
            for skill in skills
            if skill.name not in manual
            and not (MANUAL_KEY in skill.extra and skill.is_manual and skill.name not in pinned)
        ]

    def by_name_only(self, skills: Sequence[Skill]) -> list[Skill]:
        """Return the skills that are used only by name."""
        selectable = {skill.name for skill in self.selectable(skills)}
        return [skill for skill in skills if skill.name not in selectable]

    def notes(self, skill: Skill) -> list[str]:
        """Return the decisions about a skill, such as "pinned"; most skills have none."""
        manual = self.is_manual(skill)
        decisions = {
            "required": skill.name in self.require,
            "pinned": skill.name in self.pin and not manual,
            "manual": manual,
            "not called by name": not skill.user_invocable,
        }
        return [note for note, applies in decisions.items() if applies]

    def why_off(self, names: Iterable[str]) -> str:
        """Return why a skill or tool with these names is off; empty if it is not."""
        names = tuple(names)
        if any(name in self.off for name in names):
            return OFF
        return WITHOUT if any(name in self.without for name in names) else ""

    def switches_off(self, name: str) -> bool:
        """Whether a tool or prompt of an MCP server is off, by its own name or its server's."""
        return any(name == off or name.startswith(f"{off}__") for off in self.mcp_off)

    @property
    def mcp_off(self) -> tuple[str, ...]:
        """The names in `off` and `without` of MCP servers and their tools: `mcp__server`, `mcp__server__tool`."""
        return tuple(name for name in (*self.off, *self.without) if name.startswith(MCP))

    def faults(self, rows: Sequence[Skill], installed: Collection[str] = ()) -> list[str]:
        """Return warnings about unknown names and contradicting lists.

        `installed` are the names that switch off tools of installed packages.
        """
        return [*self._unknown(rows, installed), *self._contradictions()]

    def _unknown(self, rows: Sequence[Skill], installed: Collection[str]) -> Iterator[str]:
        skills = {skill.name for skill in rows}
        switched = switchable(rows, installed) if self.off or self.without else skills
        for setting in fields(self):
            source = "skills_without" if setting.name == "without" else f"[skills] {setting.name}"
            known = switched if setting.name in ("off", "without") else skills
            for name in getattr(self, setting.name):
                if name in known or name in self.mcp_off:
                    continue
                if name in installed:
                    yield f"{source} names {name[:80]!r}, which is a tool: the list is for skills"
                else:
                    near = ", ".join(nearest(name, known, _MOST_NAMES))
                    suggestion = f"; the nearest names are {near}" if near else ""
                    yield f"{source} names {name[:80]!r}, and there is no such skill{suggestion}"

    def _contradictions(self) -> Iterator[str]:
        for stronger, weaker in (("off", "require"), ("off", "pin"), ("off", "manual"), ("manual", "pin")):
            for name in getattr(self, stronger):
                if name in getattr(self, weaker):
                    yield f"[skills] names {name[:80]!r} under both {stronger} and {weaker}: {stronger} counts"
        for weaker in ("require", "pin", "manual"):
            for name in self.without:
                if name in getattr(self, weaker):
                    yield (
                        f"skills_without names {name[:80]!r}, which [skills] {weaker} names too: skills_without counts"
                    )


def switchable(rows: Sequence[Skill], installed: Iterable[str]) -> set[str]:
    """Return the names that can be switched off: skills, tools, folders of tools and installed tools."""
    folders = {skill.base_dir.name for skill in rows if skill.kind == "executable"}
    return {skill.name for skill in rows} | folders | set(installed)
