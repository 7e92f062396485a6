"""Skills that a goal names with a dollar sign, and what only looks like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.query.triggers import mentioned, named, refused, without_names
from goalwright_skills.skill import Skill
from tests.growth import growth

if TYPE_CHECKING:
    from collections.abc import Callable

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
    ],
)
def test_a_dollar_sign_before_a_name_is_a_mention(goal: str, names: list[str]) -> None:
    found = named(goal, SKILLS)
    assert [one.name for one in found] == names
    assert {one.score for one in found} == {1.0}


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
    ],
)
def test_formulas_variables_and_code_name_no_skill(goal: str) -> None:
    assert named(goal, SKILLS) == []


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("Check src with code-review", ["code-review"]),
        ("Code-Review, please", ["code-review"]),
        ("用code-review检查", ["code-review"]),
        ("Do the code review of docs/code-review and code-review.md with --code-review", []),
        ("the code-review-report, my-code-review, expenses and the file", []),
    ],
)
def test_a_name_of_several_words_stands_for_itself_where_that_is_asked_for(goal: str, names: list[str]) -> None:
    assert [one.name for one in named(goal, SKILLS, bare=True)] == names
    assert named(goal, SKILLS) == []


@pytest.mark.parametrize(
    ("goal", "asked"),
    [
        ("Do not use the expenses skill; write a summary", False),
        ("Never use skill expenses. Write a summary", False),
        ("Write a summary, without $expenses", False),
        ("Write a summary, but don’t $expenses it", False),
        ("Write a summary; no code-review please", False),
        ("Write a summary instead of $expenses", False),
        ("不要使用 $expenses", False),
        ("Don't forget to use the expenses skill", True),
        ("Why not use the expenses skill?", True),
        ("If it is not there, $expenses", True),
        ("There is no doubt: $expenses", True),
        ("Not only use the expenses skill, sum it up too", True),
        ("If the total does not match use the expenses skill", True),
        ("When it does not work $expenses", True),
        ("别忘了用 $expenses", True),
        ("Sum it up without using the $expenses", False),
    ],
)
def test_a_skill_that_a_goal_refuses_is_not_asked_for(goal: str, *, asked: bool) -> None:
    assert bool(named(goal, SKILLS, bare=True)) is asked


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("Sum it up, but do not use expenses", {"expenses"}),
        ("Sum it up without using the Expenses, and go on", {"expenses"}),
        ("Sum it up without using the Expenses or path skill", {"expenses", "path"}),
        ("Don't use expenses for it, code-review my diff", {"expenses"}),
        ("Do not use path, home is what they want", {"path"}),
        ("Do not use file pages that are blank", set()),
        ("Do not run code-review twice", set()),
        ("I could not use file viewers here; I could not use file.", set()),
        ("Never call code-review or sum it up", {"code-review"}),
        ("Use expenses for May; don't use expenses for June", set()),
        ("Do not use expenses. Read Expenses-2026.csv", set()),
        ("Do not use expenses. Read my-expenses", set()),
        ("Do not use expenses. Read my_expenses", {"expenses"}),
        ("Why not use expenses?", set()),
        ("Do not use expenses-2026.csv", set()),
        ("Sum it up without expenses", set()),
        ("Do not use skill expenses. Sum it up", {"expenses"}),
        ("Sum it up without the expenses skill, or the path tool", {"expenses"}),
        ("Avoid the code-review and expenses", set()),
        ("Do not use $expenses for the summary", {"expenses"}),
        ("Fasse die Ausgaben zusammen, aber benutze nicht expenses", {"expenses"}),
        ("Bitte verwenden Sie nicht das expenses, danke", {"expenses"}),
        ("Fais le total, mais n'utilise pas le skill expenses", {"expenses"}),
        ("Haz la suma y no uses expenses.", {"expenses"}),
        ("Benutze nicht path Variablen, die es nicht gibt", set()),
        ("Sum it up without $expenses today", {"expenses"}),
        ("Use $expenses for May, and do not use $expenses for June", set()),
        ("What does `do not use $expenses` do?", set()),
        ("Sum it up without skill expenses", {"expenses"}),
        ("Sum it up without the skill expenses. Be brief", {"expenses"}),
        ("Don't use expenses, code-review or path", {"expenses", "code-review", "path"}),
        ("Don't use expenses, code-review, or the path skill", {"expenses", "code-review", "path"}),
        ("Don't use the skills expenses, code-review or path", {"expenses", "code-review", "path"}),
        ("Do not use the expenses and path skills", {"expenses", "path"}),
        ("Sum it up without the expenses, code-review and path skills", {"expenses", "code-review", "path"}),
        ("Sum it up without the expenses or path skill", {"expenses", "path"}),
        ("Don't use expenses, code-review my diff or path it", {"expenses"}),
        ("Don't use expenses and code-review my diff", {"expenses"}),
        ("Don't use expenses, file or name it", {"expenses"}),
        ("Sum it up without expenses, with the path skill", set()),
        ("不要使用code-review，检查代码", {"code-review"}),
        ("别再用 expenses 技能", {"expenses"}),
    ],
)
def test_skills_that_a_goal_says_not_to_use_are_refused(goal: str, names: set[str]) -> None:
    assert refused(goal, SKILLS) == names


@pytest.mark.slow
@pytest.mark.parametrize(
    "goal",
    [
        lambda count: "do not use x, " * count,
        lambda count: "do not use x" + " or x" * count,
        lambda count: "do not use x" + " " * count,
        lambda count: "do not use x" + ", x" * count,
        lambda count: "do not use x" + ", x and x" * count,
        lambda count: "without x, " * count,
        lambda count: "without x and " * count,
        lambda count: "not use " * count,
        lambda count: "benutze nicht das " * count,
        lambda count: "no uses" + " " * count,
        lambda count: "n't" * count,
    ],
)
def test_refusals_are_read_in_time_that_grows_with_the_goal(goal: Callable[[int], str]) -> None:
    assert growth(lambda count: refused(goal(count), SKILLS), 2_500, 20_000) < 1.5


@pytest.mark.slow
def test_many_refusals_are_read_in_time_that_grows_with_the_goal() -> None:
    names = [f"skill-{number}" for number in range(4_000)]
    skills = [Skill(name, "Does it.", f"/{name}/SKILL.md", "project") for name in names]
    assert growth(lambda count: refused(f"Do not use {' or '.join(names[:count])}", skills), 500, 4_000) < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("text", ["$", "$x ", "`", "```", "$x\\", "echo $", "a-", "a-a ", "-a"])
def test_names_are_read_in_time_that_grows_with_the_goal(text: str) -> None:
    assert growth(lambda count: named(text * count, SKILLS, bare="-" in text), 1_000, 8_000) < 1.5


def test_a_skill_that_people_may_not_call_is_not_named_but_told_apart() -> None:
    closed = Skill("house-style", "Does it.", "/h/SKILL.md", "project", extra={"user-invocable": False})
    goal = "$house-style and $expenses, then use the house-style skill"
    assert [one.name for one in named(goal, [*SKILLS, closed])] == ["expenses"]
    assert [one.name for one in mentioned(goal, [*SKILLS, closed])] == ["house-style", "expenses"]
    assert mentioned("write in our house style", [*SKILLS, closed]) == []


@pytest.mark.parametrize(
    ("goal", "rest"),
    [
        ("Judge it, but do not use the code-review skill", "Judge it, but"),
        ("Judge it without using code-review or the expenses skill. Be brief", "Judge it . Be brief"),
        ("Don't use expenses here: judge it", "here: judge it"),
        ("Do not use scanpy", "Do not use scanpy"),
        ("Do not use file uploads", "Do not use file uploads"),
        ("Judge it without the expenses, path and code-review skills", "Judge it"),
    ],
)
def test_the_names_of_skills_that_are_not_wanted_say_nothing_about_what_to_do(goal: str, rest: str) -> None:
    assert " ".join(without_names(goal, SKILLS).split()) == rest
