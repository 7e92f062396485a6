"""Skills that a goal names, and text that only looks like a name."""

from __future__ import annotations

import pytest

from goalwright_skills.selection.query.triggers import is_negated, mentioned, named, without_names
from goalwright_skills.skill import Skill
from tests.growth import growth

NAMES = ("code-review", "expenses", "file", "home", "k", "n", "name", "path", "x", "y")
SKILLS = [Skill(name, "Does it.", f"/{name}/SKILL.md", "project") for name in NAMES]


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("$code-review the invoices", ["code-review"]),
        ("`$code-review` please", ["code-review"]),
        ("($code-review), then $expenses.", ["code-review", "expenses"]),
        ('run "$code-review" on src', ["code-review"]),
        ("$Code-Review it", ["code-review"]),
        ("$path: fix it", ["path"]),
        ("I pay 5$ for $expenses", ["expenses"]),
        ("$code-review on a.py; it costs 5$", ["code-review"]),
        ("用$code-review检查", ["code-review"]),
        ("请用 $code-review 检查", ["code-review"]),
        (r"Given $\sum_x x$, ask $name", ["name"]),
        ("/expenses for May", ["expenses"]),
        ("Sum it up.\n  /code-review, then go on", ["code-review"]),
        ("Use the code-review skill, then load skill expenses", ["code-review", "expenses"]),
        ("use the skill 'expenses' and --skill=path", ["expenses", "path"]),
    ],
)
def test_names_are_found_in_the_order_of_the_goal(goal: str, names: list[str]) -> None:
    selections = named(goal, SKILLS)
    assert [selection.name for selection in selections] == names
    assert all((selection.score, selection.certain) == (1.0, True) for selection in selections)


@pytest.mark.parametrize(
    "goal",
    [
        r"Prove that for $x \in S$ the sum is closed, and add it to $PATH",
        "Let $x$ and $y$ be primes",
        "Show $n > 5$ and $k = n+1$",
        "The entry $x_1$ of $y^2$",
        "Look in $home/bin and ${path}",
        "export FOO=$path",
        "cd $path && ls",
        'Why does this print nothing?\necho "$name"',
        "Run `cp $file $home` first",
        "Fix this:\n```sh\nfor f in $file; do rm $name; done\n```",
        "$ git log $path",
        "It costs $5 a month",
        "$HOME is not set",
        "/home/bin is missing",
        "/file.txt is missing",
        "Look in /home",
        "Check src with code-review",
    ],
)
def test_formulas_code_paths_and_bare_names_name_no_skill(goal: str) -> None:
    assert named(goal, SKILLS) == []


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("Do not use the expenses skill; write a summary", []),
        ("Never use skill expenses. Write a summary", []),
        ("Write a summary, without $expenses", []),
        ("Write a summary, but don’t use $expenses", []),
        ("Write a summary without using the $expenses", []),
        ("Don't forget to use the expenses skill", ["expenses"]),
        ("There is no doubt: $expenses", ["expenses"]),
        ("Do not use $expenses for June, but $expenses for May", ["expenses"]),
    ],
)
def test_a_negated_name_names_no_skill(goal: str, names: list[str]) -> None:
    assert [selection.name for selection in named(goal, SKILLS)] == names


def test_a_word_is_negated_if_each_occurrence_is() -> None:
    assert is_negated("Cluster the cells, but do not use scanpy", "scanpy")
    assert not is_negated("Do not use scanpy for plots, cluster with scanpy", "scanpy")
    assert not is_negated("Cluster the cells", "scanpy")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["$", "$x ", "`", "```", "$x\\", "echo $", "/x ", "\n/x", "use the ", "use skill x"])
def test_time_grows_linearly_with_the_goal(text: str) -> None:
    assert growth(lambda count: named(text * count, SKILLS), 1_000, 8_000) < 1.5


def test_a_skill_that_people_may_not_call_is_mentioned_but_not_named() -> None:
    closed = Skill("house-style", "Does it.", "/h/SKILL.md", "project", extra={"user-invocable": False})
    goal = "$house-style and $expenses, then use the house-style skill"
    assert [selection.name for selection in named(goal, [*SKILLS, closed])] == ["expenses"]
    assert [skill.name for skill in mentioned(goal, [*SKILLS, closed])] == ["house-style", "expenses"]
    assert mentioned("write in our house style", [*SKILLS, closed]) == []


def test_names_are_blanked_and_positions_kept() -> None:
    goal = "Judge it with $code-review, use the expenses skill"
    assert without_names(goal, SKILLS).split() == ["Judge", "it", "with", ","]
    assert len(without_names(goal, SKILLS)) == len(goal)
    assert without_names("Judge the code review", SKILLS) == "Judge the code review"
