"""What the runs of an evaluation depend on besides their cases: settings, and the skills that are named.

It is recorded, so that an evaluation that is resumed does not show results of another model or skill as its own.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from goalwright.batch.engine import goal_of
from goalwright.evaluation.case_files import SKILL_EVALS
from goalwright.runs.stored.records import plain
from goalwright_skills import untrusted_files
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.programs.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goalwright.batch.engine import BatchEngine
    from goalwright.evaluation.case import Case
    from goalwright.evaluation.trials import Trials
    from goalwright.runs.runtime import Goalwright
    from goalwright_skills.skill import Skill

# By variant and case: the settings that count, and a hash of each skill.
Basis = dict[str, dict[str, dict[str, Any]]]

_MODELS = ("model", "fallback", "decomposer", "task", "synthesis", "detector_model", "checker", "models")
_SKILLS = ("skills_dir", "skills_pin", "skills_require", "skills_manual", "skills_off", "skills_without", "detector")
# What decides how an answer is made; limits, the judge and where runs are kept do not.
_DECIDING = (*_MODELS, *_SKILLS, "seed", "tools", "max_depth", "max_replans", "direct_answers", "input_budget")
_SHOWN = 5


def basis_of(trials: Trials, engine: BatchEngine) -> Basis:
    """What the runs of each case depend on with each variant."""
    skills = cache(_Skills)
    found: Basis = {}
    for trial in trials.each():
        if trial.repeat == 1:
            goal = trial.goal
            goalwright = engine.runtime(goal)
            calls = goal.plan is None or goalwright.models.needed_for(goal_of(goal).plan)
            values = plain(goalwright.models.settings() if calls else goalwright.settings)
            settings = {name: values[name] for name in _DECIDING if name in values}
            found.setdefault(trial.variant.name, {})[trial.case.id] = {
                "settings": json.loads(json.dumps(settings, default=str)),
                "skills": skills(goalwright).hashes(goal.skills, trial.case),
            }
    return found


class _Skills:
    """The active skills of a runtime, and what they are now."""

    def __init__(self, goalwright: Goalwright) -> None:
        self._active = {skill.name: skill for skill in goalwright.workspace.skills.active()}
        self._hash, self._in = cache(lambda name: _hash(self._active[name])), cache(self._names_in)

    def hashes(self, named: tuple[str, ...], case: Case) -> dict[str, str]:
        """The hashes of the skills that are named, and of the one whose own case it is."""
        own = self._in(case.folder.parent) if case.folder.name == SKILL_EVALS.parent.name else ()
        return {name: self._hash(name) for name in sorted({*named, *own} & self._active.keys())}

    def _names_in(self, folder: Path) -> list[str]:
        places = ((name, skill.base_dir) for name, skill in self._active.items())
        return [name for name, at in places if at.name == folder.name and at.resolve() == folder.resolve()]


def _hash(skill: Skill) -> str:
    """A hash of a skill's files, without its evaluations, which no task sees; of a folder too large, of its own."""
    left_out = {skill.base_dir / SKILL_EVALS.parent, skill.base_dir / ".git"}
    if skill.source != "root":  # whose folder is the workspace
        try:
            return fingerprint(skill.base_dir, lambda path: path in left_out or path.name == "__pycache__")
        except (GoalwrightError, OSError):
            pass
    return hashlib.sha256(untrusted_files.read(skill.path)).hexdigest()


def refuse_changed(before: Any, now: Basis) -> None:
    """Raise if what was recorded is no longer so, with what differs."""
    changes = list(dict.fromkeys(_changes(before, now)))
    if changes:
        more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
        told = "".join(f"\n  {text}" for text in [*changes[:_SHOWN], *more])
        raise InputError(
            f"this is not the evaluation that was begun:{told}",
            hint="run again what this concerns with --rerun-changed, or leave out --resume for a new evaluation",
        )


def _changes(before: Any, now: Basis) -> Iterator[str]:
    """What differs, in words; a record of another form has nothing to compare."""
    for variant, cases in now.items():
        for case, basis in cases.items():
            earlier = _within(_within(before, variant), case)
            was, settings = _within(earlier, "settings"), basis["settings"]
            for name in (name for name in _DECIDING if earlier and was.get(name) != settings.get(name)):
                yield f"{name} was {_shown(was.get(name))} and is {_shown(settings.get(name))}"
            hashes = _within(earlier, "skills")
            for name in (name for name, found in basis["skills"].items() if hashes.get(name, found) != found):
                yield f"the skill {name!r} has changed"


def _within(document: Any, key: str) -> Mapping[str, Any]:
    found = document.get(key) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _shown(value: Any) -> str:
    return "the default" if value is None else value if isinstance(value, str) else json.dumps(value)
