"""The settings and skills that the runs of an evaluation depend on.

They are recorded, so that a resumed evaluation does not report results of another model or skill as its own.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from goalwright.batch.engine import goal_of
from goalwright.evaluation.case_files import SKILL_EVALS
from goalwright.evaluation.errors import EvaluationChanged
from goalwright.runs.stored.records import plain
from goalwright_skills import untrusted_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goalwright.batch.engine import BatchEngine
    from goalwright.evaluation.case import Case
    from goalwright.evaluation.trials import Trials
    from goalwright.runs.runtime import Goalwright
    from goalwright_skills.skill import Skill

# By variant and case: the relevant settings, and a hash of each skill.
Basis = dict[str, dict[str, dict[str, Any]]]

_MODELS = ("model", "fallback", "decomposer", "task", "synthesis", "detector_model", "checker", "models")
_SKILLS = ("skills_dir", "skills_pin", "skills_require", "skills_manual", "skills_off", "skills_without", "detector")
# The settings that influence an answer; limits, the judge and the journal do not.
_RELEVANT = (*_MODELS, *_SKILLS, "seed", "tools", "max_depth", "max_replans", "direct_answers", "input_budget")
_MOST_SHOWN = 5


def basis_of(trials: Trials, engine: BatchEngine) -> Basis:
    """Return the settings and skill hashes of each variant and case."""
    skills = cache(_Skills)
    basis: Basis = {}
    for trial in trials.each():
        if trial.repeat == 1:
            goal = trial.goal
            goalwright = engine.runtime(goal)
            calls = goal.plan is None or goalwright.models.needed_for(goal_of(goal).plan)
            values = plain(goalwright.models.settings() if calls else goalwright.settings)
            settings = {name: values[name] for name in _RELEVANT if name in values}
            basis.setdefault(trial.variant.name, {})[trial.case.id] = {
                "settings": json.loads(json.dumps(settings, default=str)),
                "skills": skills(goalwright).hashes(goal.skills, trial.case),
            }
    return basis


class _Skills:
    """The active skills of a runtime, with their hashes."""

    def __init__(self, goalwright: Goalwright) -> None:
        self._active = {skill.name: skill for skill in goalwright.workspace.skills.active()}
        self._hash = cache(lambda name: _hash(self._active[name]))
        self._names_at = cache(self._find_names)

    def hashes(self, names: tuple[str, ...], case: Case) -> dict[str, str]:
        """Return the hashes of the named skills, and of the skill that ships the case."""
        own = self._names_at(case.folder.parent) if case.folder.name == SKILL_EVALS.parent.name else ()
        return {name: self._hash(name) for name in sorted({*names, *own} & self._active.keys())}

    def _find_names(self, folder: Path) -> list[str]:
        folders = ((name, skill.base_dir) for name, skill in self._active.items())
        return [name for name, base in folders if base.name == folder.name and base.resolve() == folder.resolve()]


def _hash(skill: Skill) -> str:
    """Hash a skill's files except its evaluations, which no task reads; if that fails, hash only its SKILL.md."""
    excluded = {skill.base_dir / SKILL_EVALS.parent, skill.base_dir / ".git"}
    if skill.source != "root":  # the folder of a root skill is the workspace
        try:
            return fingerprint(skill.base_dir, lambda path: path in excluded or path.name == "__pycache__")
        except (GoalwrightError, OSError):
            pass
    return hashlib.sha256(untrusted_files.read(skill.path)).hexdigest()


def refuse_changed(recorded: Any, current: Basis) -> None:
    """Raise EvaluationChanged if settings or skills differ from the recorded ones."""
    changes = list(dict.fromkeys(_changes(recorded, current)))
    if changes:
        shown = changes[:_MOST_SHOWN]
        shown += [f"and {len(changes) - _MOST_SHOWN} more"] if len(changes) > _MOST_SHOWN else []
        raise EvaluationChanged(
            "the evaluation has changed since it was started:" + "".join(f"\n  {text}" for text in shown),
            hint="rerun the changed cases, or start a new evaluation",
        )


def _changes(recorded: Any, current: Basis) -> Iterator[str]:
    """Describe every difference; a malformed record has none."""
    for variant, cases in current.items():
        for case, basis in cases.items():
            earlier = _mapping(_mapping(recorded, variant), case)
            before, settings = _mapping(earlier, "settings"), basis["settings"]
            for name in (name for name in _RELEVANT if earlier and before.get(name) != settings.get(name)):
                yield f"{name} was {_text(before.get(name))} and is {_text(settings.get(name))}"
            hashes = _mapping(earlier, "skills")
            for name in (name for name, digest in basis["skills"].items() if hashes.get(name, digest) != digest):
                yield f"the skill {name!r} has changed"


def _mapping(document: Any, key: str) -> Mapping[str, Any]:
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return "the default" if value is None else value if isinstance(value, str) else json.dumps(value)
