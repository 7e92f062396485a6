"""The two variants of a skill that are compared: without and with it, or its old and its new version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.evaluation.variant import Variant
from goalwright.evaluation.versions import kept, old_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.evaluation.versions import KeptVersion
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings
    from goalwright_skills.skill import Skill


def skill_variants(skill: Skill, old: str | None, paths: Paths, settings: Settings) -> tuple[Variant, Variant]:
    """Without and with the skill; with `old`, that version of it and the present one."""
    if old is not None:
        check_replaceable(skill)
        where = paths.with_skills(settings.skills_dir)
        other = kept(where.cache, skill, old_files(skill, old), where.skills_dir)
        return version("old", skill.name, other, f"--old {old}"), Variant("new", {}, (skill.name,))
    names = tuple(dict.fromkeys((*settings.skills_without, skill.name)))
    without = Variant("without", {"skills_without": names}, (), f"--without {skill.name}")
    return without, Variant("with", {}, (skill.name,), f"--skill {skill.name}")


def version(name: str, skill: str, kept: KeptVersion, flags: str = "") -> Variant:
    """A variant with another version of the skill; all other skills are the same."""
    return Variant(name, {"skills_dir": str(kept.root)}, (skill,), flags)


def check_replaceable(skill: Skill) -> None:
    """Raise if no other version of a skill can take its place."""
    if skill.source == "system":
        raise InputError(
            f"{skill.name} is in {skill.base_dir}, which counts before every other version",
            hint="move it to .agents/skills first",
        )
