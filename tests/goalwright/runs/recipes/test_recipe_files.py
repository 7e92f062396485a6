"""Recipe files, which may be untrusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from goalwright.runs.recipes import recipe_files
from goalwright.runs.recipes.check import filled_plan
from goalwright.runs.recipes.plan_texts import filled
from goalwright.runs.recipes.recipe import NoRecipe, Recipe, RecipeParameter, RecipeValueError, SkillHash
from goalwright_planner.plan.known import Known
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = {"tasks": [{"id": "a", "action_type": "llm", "instruction": "Say {what}: yes, 1.5, ---\n  «so»"}]}
RECIPE = Recipe(
    "say-it",
    "Say {what} often",
    (RecipeParameter("what", "text", "hello", "what to say"), RecipeParameter("how", "choice", "loud", "", ("loud",))),
    PLAN,
    (SkillHash("speaking", "ab"),),
    "20261117T000000000-000000",
)


def test_a_recipe_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = recipe_files.write(tmp_path, RECIPE)
    assert written.path == tmp_path / "recipes" / "say-it.yaml"
    assert recipe_files.read(tmp_path, "say-it") == written
    assert recipe_files.read_all(tmp_path) == [written]
    with pytest.raises(InputError, match="already"):
        recipe_files.write(tmp_path, RECIPE)
    recipe_files.write(tmp_path, RECIPE, replace=True)


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def kernel(path: Path) -> None:
    path.symlink_to("/proc/self/environ")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 * 1024**3)


def nested(path: Path) -> None:
    path.write_text("goal: x\nplan: " + "[" * 20_000 + "]" * 20_000, encoding="utf-8")


def aliases(path: Path) -> None:
    rows = ["goal: x", "plan: {tasks: &a0 [x, x, x, x, x, x, x, x, x]}"]
    rows += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path.write_text("\n".join(rows), encoding="utf-8")


def objects(path: Path) -> None:
    path.write_text('goal: x\nplan: !!python/object/apply:os.system ["touch owned"]\n', encoding="utf-8")


def pancakes(path: Path) -> None:
    path.write_text("name: Pancakes\nserves: 4\nsteps: [mix, fry]\n", encoding="utf-8")


def not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (zero, "not a regular file"),
        (kernel, "a file of the kernel"),
        (pipe, "not a regular file"),
        (folder, "a folder"),
        (sparse, "exceeds 1,000,000 bytes"),
        (nested, "line 2: it nests deeper"),
        (aliases, "with aliases expanded"),
        (objects, "line 2: tag .* asks for an object"),
        (pancakes, "'goal' is missing; 'plan' is missing"),
        (not_text, "not text in UTF-8"),
    ],
)
def test_other_files_are_skipped(tmp_path: Path, made: Callable[[Path], None], told: str) -> None:
    recipe_files.write(tmp_path, RECIPE)
    made(tmp_path / "recipes" / "other.yaml")
    assert [file.name for file in recipe_files.read_all(tmp_path)] == ["say-it"]
    with pytest.raises(NoRecipe, match=f"the recipe 'other' cannot be read: .*{told}"):
        recipe_files.read(tmp_path, "other")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# mine\ngoal: Write: {x} now\nplan: {}\n", "line 2: mapping values are not allowed"),
        ("gaol: Write it\nplan: {}\n", "'goal' is missing (is it 'gaol'?)"),
        ("goal: Write it\n", "'plan' is missing"),
        ("goal: 7\nplan: {}\n", "'goal' must be a text"),
        ("goal: x\nplan: []\nparameters: {}\n", "'plan' must be a mapping with 'tasks'; 'parameters' must be a list"),
    ],
)
def test_a_broken_recipe_is_listed_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    recipe_files.write(tmp_path, RECIPE)
    (tmp_path / "recipes" / "broken.yaml").write_text(text, encoding="utf-8")
    pancakes(tmp_path / "recipes" / "pancakes.yaml")
    found = recipe_files.find_all(tmp_path)
    assert [(file.name, told in file.reason) for file in found] == [("broken", True), ("say-it", False)], found
    assert [file.name for file in recipe_files.read_all(tmp_path)] == ["say-it"]


def test_the_reason_is_one_short_printable_line(tmp_path: Path) -> None:
    (tmp_path / "recipes").mkdir()
    for name, text in (
        ("alias", f"goal: *{'a' * 100_000}\n"),
        ("tag", "goal: !%1b%5b31m%0ared x\nplan: {}\n"),
        ("type", f'goal: x\nplan: {{}}\nparameters: [{{name: a, type: "{"b" * 100_000}"}}]\n'),
    ):
        (tmp_path / "recipes" / f"{name}.yaml").write_text(text, encoding="utf-8")
        reason = recipe_files.find(tmp_path, name).reason
        assert (0 < len(reason) <= 1_000, reason.isprintable()) == (True, True), reason[:2_000]


def test_total_size_is_bounded(tmp_path: Path) -> None:
    large = "goal: x\nplan: {}\n#" + "x" * (recipe_files.LARGEST - 100)
    (tmp_path / "recipes").mkdir()
    for number in range(10, 40):
        (tmp_path / "recipes" / f"r{number}.yaml").write_text(large, encoding="utf-8")
    recipe_files.write(tmp_path, RECIPE)
    found = [file.name for file in recipe_files.read_all(tmp_path)]
    assert found == [f"r{number}" for number in range(10, 30)], "20 MB of them"
    assert recipe_files.read(tmp_path, "say-it").recipe == RECIPE, "files beyond the bound are found by name"


@pytest.mark.parametrize("value", ["{how}", "{what}", "{{what}}", "<% raw %>", "{# x #}", "$HOME", "`id`", "%s", "\\1"])
def test_a_value_that_looks_like_a_template_stays_text(value: str) -> None:
    values = RECIPE.values({"what": value})
    plan, _ = filled_plan(RECIPE, values, Known())
    assert plan is not None
    assert value in filled(RECIPE.goal, values)
    assert value in plan.tasks[0].instruction


@pytest.mark.parametrize("value", ["<<a.output>>", "<<item>>", "x << y", "\n<<a.status>>"])
def test_a_value_cannot_refer_to_results(value: str) -> None:
    with pytest.raises(RecipeValueError, match="what contains <<"):
        RECIPE.values({"what": value})


def test_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    for name in ("../goalwright", "a/b", ".env", "", "A", "x" * 65):
        with pytest.raises(NoRecipe, match="not a valid name for a recipe"):
            recipe_files.read(tmp_path, name)


def test_links_are_not_followed_when_writing(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    work.mkdir()
    (work / "recipes").symlink_to(outside)
    with pytest.raises(InputError):
        recipe_files.write(work, RECIPE)
    (work / "recipes").unlink()
    (work / "recipes").mkdir()
    (outside / "kept").write_text("mine", encoding="utf-8")
    (work / "recipes" / "say-it.yaml").symlink_to(outside / "kept")
    recipe_files.write(work, RECIPE, replace=True)
    assert (outside / "kept").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("parameters: [{name: 'A b'}]", "may contain only"),
        ("parameters: [{name: a}, {name: a}]", "two parameters have the name"),
        ("parameters: [{name: a, type: date}]", "must be one of"),
        ("parameters: [{name: a, type: choice}]", "needs 'choices'"),
        ("parameters: [7]", "must have a 'name'"),
        ("skills: [x]", "'skills' must be"),
        ("from: [1]", "'from' must be"),
    ],
)
def test_faults_of_a_recipe_are_reported(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "bad.yaml").write_text(f"goal: x\nplan: {{}}\n{text}\n", encoding="utf-8")
    (found,) = recipe_files.read_all(tmp_path)
    assert (found.recipe, told in found.reason) == (None, True)
    with pytest.raises(NoRecipe, match="bad"):
        recipe_files.read(tmp_path, "bad")


def test_all_wrong_values_are_reported() -> None:
    assert RECIPE.values({"what": "bye"}) == {"what": "bye", "how": "loud"}
    with pytest.raises(RecipeValueError) as raised:
        RECIPE.values({"what": " ", "how": "soft", "whom": "me"})
    assert [part in raised.value.message for part in ("what is empty", "one of loud", "no parameter 'whom'")] == [
        True
    ] * 3
