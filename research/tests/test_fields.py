"""The goals in the fields of further collections keep their form."""

from __future__ import annotations

import csv
from collections import Counter

from training.ranking import fields


def test_every_goal_is_for_a_listed_collection_and_expects_a_skill_unless_none_is_for_it() -> None:
    with (fields.FOLDER / "skills.tsv").open(encoding="utf-8", newline="") as file:
        listed = Counter(row["pool"] for row in csv.DictReader(file, delimiter="\t"))
    goals = fields.goals()
    assert {goal.pool for goal in goals} == set(listed)
    assert Counter(goal.set for goal in goals) == {"field-none": 700, "field-one": 490, "field-other-words": 350}
    assert [goal.id for goal in goals if bool(goal.expected) is (goal.set == "field-none")] == []
    assert len({goal.id for goal in goals}) == len({(goal.pool, goal.goal) for goal in goals}) == len(goals)
    assert {goal.half for goal in goals} == {"tune"}
