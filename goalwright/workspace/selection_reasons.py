"""Why a goal selects the skills that it does: what the detector says, and what the user and authors have decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError
from goalwright_skills.functions import installed
from goalwright_skills.preferences import OFF, WITHOUT
from goalwright_skills.selection.detector import Explained, Explanation
from goalwright_skills.selection.detectors import NO_MATCH, top
from goalwright_skills.selection.ranked import RankedDetector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright.workspace.skills import WorkspaceSkills
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.skill import Skill

# Skills that are manual or off are ranked among all others only in pools up to this size: it takes an index of its own.
_MOST_RANKED = 2_000


def explains(detector: SkillDetector) -> bool:
    """Whether a detector can say how its scores come about."""
    return getattr(detector, "explain", None) is not None


def reasons(
    skills: WorkspaceSkills,
    goal: str,
    most: int,
    detector: SkillDetector | None = None,
    named: Sequence[str] = (),
) -> Explanation:
    """The selected skills, then the best others, `most` in all unless more are selected, each with its reasons.

    Those that are `named` are told wherever they rank; raises InputError if there is no such skill.
    """
    active, finder = skills.active(), detector or skills.detector
    selections = skills.select(goal, (), active, finder)
    selected = {selection.name: selection for selection in selections}
    found = explained(finder, goal, skills.preferences.selectable(active), most)
    by_name = {one.name: one for one in found.candidates}
    first = [_selected(selection, by_name.get(selection.name)) for selection in selections]
    others = [replace(one, selected=False) for one in found.candidates if one.name not in selected]
    withheld = [one for one in _withheld(skills, active, goal, most) if one.name not in selected]
    known = {skill.name: skill for skill in skills.registry.list_skills(all=True) if _is_withheld(skill)}
    ranked = sorted((*others, *withheld), key=lambda one: -one.score)
    shown = [*first, *ranked[: max(0, most - len(first))]]
    told = {one.name for one in shown}
    asked = [name for name in dict.fromkeys(named) if name not in told]
    shown += _named(skills, goal, finder, asked, {one.name: one for one in ranked}) if asked else []
    return Explanation(
        goal,
        found.certain or any(selection.certain for selection in selections),
        tuple(_with_decision(one, known.get(one.name), skills.preferences) for one in shown),
    )


def _named(
    skills: WorkspaceSkills, goal: str, detector: SkillDetector, names: Sequence[str], ranked: Mapping[str, Explained]
) -> list[Explained]:
    """Skills that are not among those shown: how they rank, or why they were not looked at or cannot be selected."""
    active = skills.active()
    selectable = {skill.name for skill in skills.preferences.selectable(active)}
    known = {row.name for row in skills.registry.list_skills(all=True)} | installed.names()
    for name in names:
        if name not in known:
            raise InputError(f"{name!r}: {skills.why_absent(name)}", hint="use one of these names")
    others = [name for name in names if name in selectable and name not in ranked]
    explain = getattr(detector, "explain_others", None)
    told = explain(goal, skills.preferences.selectable(active), others) if explain is not None and others else []
    found = {**ranked, **{one.name: one for one in told}}
    return [found.get(name) or _unexplained(name, skills, active=name in selectable) for name in names]


def _unexplained(name: str, skills: WorkspaceSkills, *, active: bool) -> Explained:
    change = "the detector does not rank it" if active else f"it cannot be selected: {skills.why_absent(name)}"
    return Explained(name, 0.0, selected=False, margin=0.0, parts=(), change=change)


def explained(detector: SkillDetector, goal: str, skills: Sequence[Skill], most: int) -> Explanation:
    """What a detector says of the best skills: their scores by part and signal, or else their scores alone."""
    explain = getattr(detector, "explain", None)
    if explain is not None:
        found: Explanation = explain(goal, skills, most)
        return found
    ranked = [selection for selection in top(detector, goal, skills, most) if selection.reason != NO_MATCH]
    candidates = (Explained(one.name, one.score, selected=False, margin=0.0, parts=(), change="") for one in ranked)
    return Explanation(goal, certain=False, candidates=tuple(candidates))


def _selected(selection: Selection, ranked: Explained | None) -> Explained:
    """A selected skill, with what the detector says of it unless it was chosen by name."""
    one = ranked or Explained(selection.name, selection.score, selected=True, margin=0.0, parts=(), change="")
    change = one.change or selection.reason
    return replace(one, score=selection.score, selected=True, change=change, certain=selection.certain)


def _is_withheld(skill: Skill) -> bool:
    return skill.kind == "context" and (skill.state == "active" or _is_off(skill))


def _is_off(skill: Skill) -> bool:
    return skill.kind == "context" and skill.reason in (OFF, WITHOUT)


def _withheld(skills: WorkspaceSkills, active: Sequence[Skill], goal: str, most: int) -> list[Explained]:
    """The skills that are manual or off and would be among the best otherwise."""
    off = [skill for skill in skills.registry.list_skills(all=True) if _is_off(skill)]
    apart = {skill.name for skill in (*skills.preferences.by_name_only(active), *off)}
    if not apart or len(active) + len(off) > _MOST_RANKED:
        return []
    ranked = explained(RankedDetector(), goal, [*active, *off], most).candidates
    return [replace(one, selected=False) for one in ranked if one.name in apart and one.score > 0]


def _with_decision(one: Explained, skill: Skill | None, preferences: Preferences) -> Explained:
    """A candidate whose change begins with what was decided about it."""
    if skill is None:
        return one
    decided = list(_decisions(skill, preferences))
    named_only = preferences.is_manual(skill) and not one.selected
    if skill.state != "active" or named_only or skill.name in preferences.require:
        return replace(one, change=" ".join(decided))  # no score would change that
    change = one.change[:1].upper() + one.change[1:] if decided else one.change
    return replace(one, change=" ".join(filter(None, (*decided, change))))


def _decisions(skill: Skill, preferences: Preferences) -> list[str]:
    """What was decided about a skill, in sentences."""
    if skill.state != "active":
        remedy = "leave the flag out" if skill.reason == WITHOUT else "take it out of that list"
        return [f"It is off ({skill.reason}): {remedy}."]
    decided = preferences.notes(skill)
    closed = "not called by name (user-invocable: false)"
    if "manual" in decided and not skill.user_invocable:
        return [f"It is manual, and {closed}: only your own plan uses it."]
    notes = {
        "required": "It is required: every plan must use it, whatever its score.",
        "pinned": "It is pinned: the planner's listing always has it, whatever its score.",
        "manual": f"It is manual: name it, with ${skill.name} in the goal or --skill {skill.name}.",
        "not called by name": f"It is {closed}{'' if 'required' in decided else ': only its score counts'}.",
    }
    return [notes[note] for note in decided]
