"""Detectors by name: the ones here, and those that installed packages offer in the group `weft.detectors`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast

from skills.errors import InputError
from skills.functions.entry_points import entry_points
from skills.selection.detector import Selection, as_selection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from skills.selection.detector import SkillDetector
    from skills.skill import Skill

GROUP = "weft.detectors"
DEFAULT = "ranked"
# The detector that asks a model: whoever has one makes it, so it is known here by name only.
ASKING = "llm"
NOTHING = "nothing of the goal is in it"


def detector(name: str = DEFAULT, *, cache: Path | None = None) -> SkillDetector:
    """The detector of that name; `cache` is where it may keep what it computes."""
    make = _OWN.get(name)
    if make is not None:
        return make(cache)
    offered = {point.name: point for point in entry_points(GROUP)}
    if name not in offered:
        if name == ASKING:
            hint = "use it in a run or with `weft skills select`, or name another with --detector"
            raise InputError(f"the detector {name!r} asks a model, and none is asked here", hint=hint)
        known = ", ".join(sorted({*_OWN, *offered, ASKING}))
        raise InputError(
            f"there is no detector {name!r}; detectors are: {known}", hint="name one of these with --detector"
        )
    try:
        made = offered[name].load()
        return cast("SkillDetector", made() if isinstance(made, type) or not hasattr(made, "detect") else made)
    except Exception as error:  # foreign code may fail in any way; say whose it is
        what = f"detector {name!r} from {offered[name].value} cannot be loaded: {error}"
        raise InputError(what, hint="mend or uninstall that package, or use --detector ranked") from error


def top(finder: SkillDetector, goal: str, skills: Sequence[Skill], most: int) -> list[Selection]:
    """So many skills without a threshold: those that the detector ranks or selects, then what it finds nothing in."""
    rank = getattr(finder, "rank", None)
    given = rank(goal, skills, most) if rank is not None else finder.detect(goal, skills)
    found = [as_selection(one) for one in given][:most]
    names = {one.name for one in found}
    rest = (skill.name for skill in skills if skill.name not in names)
    return [*found, *(Selection(name, 0.0, NOTHING) for name in islice(rest, most - len(found)))]


def _ranked(cache: Path | None) -> SkillDetector:
    from skills.selection.ranked import RankedDetector

    return RankedDetector(cache)


def _keyword(_: Path | None) -> SkillDetector:
    from skills.selection.keyword import KeywordDetector

    return KeywordDetector()


def _embedding(cache: Path | None) -> SkillDetector:
    from skills.selection.embedding import EmbeddingDetector
    from skills.selection.minilm import MiniLM

    return EmbeddingDetector(MiniLM.installed(), cache)


_OWN: Mapping[str, Callable[[Path | None], SkillDetector]] = {
    "ranked": _ranked,
    "keyword": _keyword,
    "embedding": _embedding,
}
