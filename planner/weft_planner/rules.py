"""The rules that a run is made by: how skills are selected, prompts are written and answers are read.

The rules have a number, which is recorded in a run's first event. A run keeps its rules for life: a resume or a strict
replay takes the same decisions and asks the same questions as the version of weft that began it.

    1  the first
    2  plans are read by `planner/weft_planner/plan/reading.py`: unknown keys are never dropped silently
    3  skills are selected as sets with calibrated scores; the prompts of `seed/` replace those of `seed/earlier/2/`;
       the skills of a given plan are not selected; the listing says what a skill needs; tasks may have keys that
       earlier plans could not: `needs_approval`, `when`, `for_each`, `output_schema`, `check`, `model`, refer to
       fields of results, and be goals; small models get plans by rule, plans that hold the whole goal, and files in
       their prompts; the answer says which files were not read; a plan may be changed at rest; a model gives keywords
       for a goal in another language than the skills; tasks start while the plan is being written, and a planner that
       is asked again is told which tasks to keep
    4  a small model is not shown the whole goal beside a part of it, and is not asked for keywords; a goal that needs
       the web is told so where a run has none; the items of a task that was replaced are not missing
    5  a planner whose answer breaks off is told so; a task with an unknown key does not start before the plan is whole;
       a model that changes a plan may drop tasks that only wait for approval; tasks with `for_each` start while the
       plan is being written too

To change a prompt, copy the file as it was to `seed/earlier/N/`, where N is the last number whose runs used it. To
change a decision, ask for the number where the decision is taken. Within one release all changes share a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST = 1
LOOSE_PLANS = 2
PLANNED_SKILLS = LISTED_NEEDS = ADAPTIVE_PLANS = GIVEN_FILES = REPLANS = SUB_GOALS = KEYWORDS = STREAMED_PLANS = 3
OWN_PARTS = LIVE_DATA = REPLACED_PARTS = 4
CUT_OFF_PLANS = UNKNOWN_KEYS = WAITING_TASKS = EARLY_ITEMS = 5
CURRENT = 5

KEY = "rules"
# How the second number was recorded.
_EARLIER_KEY = "plan_reader"


def recorded(versions: Mapping[str, str]) -> int:
    """The number of the rules in the versions that a run recorded; runs of before have the first."""
    number = versions.get(KEY) or versions.get(_EARLIER_KEY, "")
    return int(number) if number.isdecimal() else FIRST
