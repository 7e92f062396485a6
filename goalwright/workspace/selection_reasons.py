"""Why a goal selects its skills: by the detector's scores, and by the decisions of the user and the authors."""

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

    from goalwright.workspace.skills import SkillPool, WorkspaceSkills
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.selection.detector import Selection, SkillDetector
    from goalwright_skills.skill import Skill

# Skills that are manual or off are ranked among the others only in pools up to this size: that needs another index.
_MOST_RANKED = 2_000


def explains(detector: SkillDetector) -> bool:
    """Whether a detector can explain its scores."""
    return getattr(detector, "explain", None) is not None


def reasons(
    skills: WorkspaceSkills,
    goal: str,
    limit: int,
    detector: SkillDetector | None = None,
    names: Sequence[str] = (),
) -> Explanation:
    """Explain the selected skills, then the best others up to `limit`, then those in `names`.

    Raises InputError if a skill in `names` does not exist.
    """
    pool, detector = skills.pool(), detector or skills.detector
    selections = skills.select(skills.request(goal), detector, pool)
    selected = {selection.name for selection in selections}
    explanation = explained(detector, goal, pool.selectable, limit)
    by_name = {candidate.name: candidate for candidate in explanation.candidates}
    first = [_selected(selection, by_name.get(selection.name)) for selection in selections]
    unselected = (*explanation.candidates, *_withheld(skills, pool, goal, limit))
    others = [replace(candidate, selected=False) for candidate in unselected if candidate.name not in selected]
    others.sort(key=lambda candidate: -candidate.score)
    shown = [*first, *others[: max(0, limit - len(first))]]
    shown_names = {candidate.name for candidate in shown}
    if missing := [name for name in dict.fromkeys(names) if name not in shown_names]:
        shown += _named(skills, pool, goal, detector, missing, {candidate.name: candidate for candidate in others})
    decided = {skill.name: skill for skill in skills.registry.list_skills(all=True) if _is_decided(skill)}
    return Explanation(
        goal,
        explanation.certain or any(selection.certain for selection in selections),
        tuple(_with_decision(candidate, decided.get(candidate.name), skills.preferences) for candidate in shown),
    )


def explained(detector: SkillDetector, goal: str, skills: Sequence[Skill], limit: int) -> Explanation:
    """Explain the best skills by part and signal, or by their scores alone if the detector does not explain them."""
    explain = getattr(detector, "explain", None)
    if explain is not None:
        explanation: Explanation = explain(goal, skills, limit)
        return explanation
    ranked = [selection for selection in top(detector, goal, skills, limit) if selection.reason != NO_MATCH]
    return Explanation(goal, certain=False, candidates=tuple(_unranked(one.name, one.score) for one in ranked))


def _named(
    skills: WorkspaceSkills,
    pool: SkillPool,
    goal: str,
    detector: SkillDetector,
    names: Sequence[str],
    ranked: Mapping[str, Explained],
) -> list[Explained]:
    """Explain skills that are not shown yet: how they rank, or why they were no candidates."""
    selectable = {skill.name for skill in pool.selectable}
    known = {row.name for row in skills.registry.list_skills(all=True)} | installed.names()
    for name in names:
        if name not in known:
            raise InputError(f"{name!r}: {skills.why_absent(name)}", hint="use one of these names")
    explain = getattr(detector, "explain_others", None)
    others = [name for name in names if name in selectable and name not in ranked]
    candidates = explain(goal, pool.selectable, others) if explain is not None and others else []
    by_name = {**ranked, **{candidate.name: candidate for candidate in candidates}}
    for name in names:
        if name not in by_name:
            absent = f"it cannot be selected: {skills.why_absent(name)}"
            by_name[name] = _unranked(name, change="the detector does not rank it" if name in selectable else absent)
    return [by_name[name] for name in names]


def _unranked(name: str, score: float = 0.0, change: str = "") -> Explained:
    return Explained(name, score, selected=False, margin=0.0, parts=(), change=change)


def _selected(selection: Selection, ranked: Explained | None) -> Explained:
    """Combine a selection with its explanation, which is missing if the skill was requested by name."""
    candidate = ranked or _unranked(selection.name)
    change = candidate.change or selection.reason
    return replace(candidate, score=selection.score, selected=True, change=change, certain=selection.certain)


def _is_decided(skill: Skill) -> bool:
    return skill.kind == "context" and (skill.state == "active" or _is_off(skill))


def _is_off(skill: Skill) -> bool:
    return skill.kind == "context" and skill.reason in (OFF, WITHOUT)


def _withheld(skills: WorkspaceSkills, pool: SkillPool, goal: str, limit: int) -> list[Explained]:
    """Explain the skills that are manual or off and would otherwise be among the best."""
    off = [skill for skill in skills.registry.list_skills(all=True) if _is_off(skill)]
    names = {skill.name for skill in (*pool.manual, *off)}
    if not names or len(pool.active) + len(off) > _MOST_RANKED:
        return []
    ranked = explained(RankedDetector(), goal, [*pool.active, *off], limit).candidates
    return [candidate for candidate in ranked if candidate.name in names and candidate.score > 0]


def _with_decision(candidate: Explained, skill: Skill | None, preferences: Preferences) -> Explained:
    """Put the decisions about a skill before the changes that would select it."""
    if skill is None:
        return candidate
    decisions = list(_decisions(skill, preferences))
    named_only = preferences.is_manual(skill) and not candidate.selected
    if skill.state != "active" or named_only or skill.name in preferences.require:
        return replace(candidate, change=" ".join(decisions))  # no score would change that
    change = candidate.change[:1].upper() + candidate.change[1:] if decisions else candidate.change
    return replace(candidate, change=" ".join(filter(None, (*decisions, change))))


def _decisions(skill: Skill, preferences: Preferences) -> list[str]:
    """Return the decisions about a skill as sentences."""
    if skill.state != "active":
        remedy = "do not leave it out" if skill.reason == WITHOUT else "take it out of that list"
        return [f"It is off ({skill.reason}): {remedy}."]
    notes = preferences.notes(skill)
    uncallable = "not called by name (user-invocable: false)"
    if "manual" in notes and not skill.user_invocable:
        return [f"It is manual, and {uncallable}: only your own plan uses it."]
    sentences = {
        "required": "It is required: every plan must use it, whatever its score.",
        "pinned": "It is pinned: the planner's listing always has it, whatever its score.",
        "manual": f"It is manual: name it with ${skill.name} in the goal, or request it.",
        "not called by name": f"It is {uncallable}{'' if 'required' in notes else ': only its score counts'}.",
    }
    return [sentences[note] for note in notes]
