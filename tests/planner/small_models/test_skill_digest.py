"""What of a skill's instructions a small model gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from goalwright_planner.prompting.profile import profiles
from goalwright_planner.small_models.skill_digest import SkillDigest, digest

LONG = "More is said of it here. " * 40
LIBRARY = Path(__file__).parents[3] / "skills" / "goalwright_skills" / "library"


def skill(**sections: str) -> str:
    """A skill with these sections below its title."""
    return "\n\n".join(("# Title", "What it is for.", *(f"## {name}\n\n{text}" for name, text in sections.items())))


def test_short_skill_is_not_changed() -> None:
    assert digest("x" * 50, 50) == SkillDigest("x" * 50)


def test_examples_and_background_are_dropped_first_and_named() -> None:
    text = skill(Background=LONG, Steps="1. Do it.", Notes="Short.", Rules="- No more.", Examples=LONG)
    cut = digest(text, 400)
    assert cut.text == skill(Steps="1. Do it.", Notes="Short.", Rules="- No more.")
    assert cut.left_out == ("Background", "Examples")
    assert cut.characters == len(text) - len(cut.text)


def test_other_sections_are_dropped_before_steps() -> None:
    cut = digest(skill(Output=LONG, Steps="1. Do it.", Rules=f"- {'a rule ' * 30}"), 330)
    assert cut.text == skill(Steps="1. Do it.", Rules=f"- {'a rule ' * 30}".rstrip())
    assert cut.left_out == ("Output",)


def test_steps_below_a_subheading_belong_to_it() -> None:
    text = "## Workflow\n\n### Look\n\n- Look around.\n\n### Say\n\n- Say it.\n\n## Why\n\n" + LONG
    cut = digest(text, 200)
    assert cut.text == "## Workflow\n\n### Look\n\n- Look around.\n\n### Say\n\n- Say it."
    assert cut.left_out == ("Why",)


def test_steps_that_do_not_fit_keep_their_first_sentences() -> None:
    steps = "\n".join(f"{at}. **Step {at}.** It has details, e.g. these. And more." for at in range(1, 5))
    cut = digest(skill(Steps=steps, Rules="- One rule. With a reason."), 130)
    assert cut.text == (
        "# Title\n\n## Steps\n\n1. **Step 1.**\n2. **Step 2.**\n3. **Step 3.**\n4. **Step 4.**\n\n"
        "## Rules\n\n- One rule. With a reason."
    )
    assert cut.left_out == ("Title (in part)", "Steps (in part)")


def test_last_items_of_longest_section_are_dropped_last() -> None:
    steps = "\n".join(f"{at}. Step number {at}" for at in range(1, 30))
    cut = digest(skill(Steps=steps, Rules="- One rule.\n- Two rules."), 150)
    assert cut.text.startswith("# Title\n\n## Steps\n\n1. Step number 1\n2. Step number 2\n")
    assert cut.text.endswith("\n\n## Rules\n\n- One rule.\n- Two rules.")
    assert 130 < len(cut.text) <= 150


def test_sentence_does_not_end_inside_code_or_after_abbreviation() -> None:
    steps = "1. Write `# <n>. Decision` first, i.e. The title. Then go on. " + LONG
    assert digest(skill(Steps=steps), 100).text.endswith("1. Write `# <n>. Decision` first, i.e. The title.")


def test_code_blocks_are_dropped_with_headings_inside_them() -> None:
    steps = "1. Do it:\n\n````\n```\n## Steps\n\n1. Not this.\n```\n````\n\n2. Do more."
    cut = digest(skill(Sample="```\n## Rules\n```", Steps=steps, More=LONG), 300)
    assert cut.text == skill(Steps="1. Do it:\n2. Do more.")
    assert cut.left_out == ("Sample", "Steps (in part)", "More")


def test_form_keeps_headings_and_labels_without_placeholders() -> None:
    form = (
        "```\n# Report: <team>\n**In short:** <a sentence>\n\n## Done\n- <result>\n\n"
        "## Figures\n<table>\n\n## <other>\n```\n\n"
        "Leave out *Figures* where there are none."
    )
    cut = digest(skill(Output=form, Steps="1. Do it.", More=LONG), 300)
    parts = "Write the answer in these parts, in this order, and leave out those with nothing to say"
    assert cut.text == skill(Steps="1. Do it.", Output=f"{parts}:\n# Report\n**In short:**\n## Done")
    assert cut.left_out == ("Output (in part)", "More")


def test_base_directory_and_arguments_are_kept_and_not_counted() -> None:
    text = f"Base directory for this skill: /x\n\n{skill(Steps='1. Do it.', Example=LONG)}\n\nARGUMENTS: all of it\n"
    cut = digest(text, 100)
    assert cut.text == (f"Base directory for this skill: /x\n\n{skill(Steps='1. Do it.')}\n\nARGUMENTS: all of it")


def test_skill_without_named_steps_keeps_beginning_of_each_section() -> None:
    cut = digest(skill(Analyse=f"Read it. {LONG}", Report=f"Write it. {LONG}"), 120)
    assert cut.text == skill(Analyse="Read it.", Report="Write it.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word " * 9 + "\n" + "more " * 90, "word " * 9),
        ("word " * 90, "word " * 10 + "word…"),
        ("x" * 90, "x" * 59 + "…"),
    ],
)
def test_text_without_sentences_is_cut_at_line_or_word(text: str, expected: str) -> None:
    assert digest(text, 60).text.rstrip() == expected.rstrip()


@pytest.mark.parametrize("file", sorted(LIBRARY.glob("*/SKILL.md")), ids=lambda file: file.parent.name)
def test_every_step_and_rule_of_the_bundled_skills_reaches_a_small_model(file: Path) -> None:
    whole = file.read_text(encoding="utf-8").split("\n---\n", 1)[1]
    body = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", whole)
    text = digest(f"Base directory for this skill: /x\n\n{whole}", profiles()["small"].skill_characters).text
    needed = ("Steps", "Rules", "步骤", "排版规则")
    marker = re.compile(r"(?:\d+[.)]|-) +")
    found = [(line, marker.match(line)) for name in needed for line in section(body, name)]
    items = [line[match.end() :] for line, match in found if match is not None]
    assert items
    assert [item for item in items if item.partition(". ")[0][:20] not in text] == []


def section(body: str, name: str) -> list[str]:
    """The lines of the last section of that name."""
    return body.rpartition(f"\n## {name}\n")[2].partition("\n## ")[0].splitlines() if f"\n## {name}\n" in body else []
