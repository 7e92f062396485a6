"""JSON in the answers of models."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_planner.json_answer import NotJson, extract, repair, without_thinking

PLAN = {"tasks": [{"id": "a", "instruction": 'say "{x}", // not a comment'}], "synthesis": None}
TEXT = json.dumps(PLAN)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}```",
        f"Here is the plan:\n\n```json\n{TEXT}\n```\nTell me if it suits.",
        f"Sure! {TEXT} Done.",
        f'<think>maybe {{"tasks": []}}? no</think>\n{TEXT}',
        f"<think>a</think><think>b</think>{TEXT}",
        f'I think {{"tasks": [1]}} is wrong</think>{TEXT}',
        TEXT.replace("}]", "},]"),
        TEXT.replace("]", ",]").replace(": null}", ": null,}"),
        TEXT.replace('{"tasks"', '{ // the plan\n"tasks"'),
        TEXT.replace('{"tasks"', '{ /* the\nplan */ "tasks"'),
        TEXT[:-1],
        "\ufeff" + TEXT,
    ],
)
def test_the_plan_is_found_in_surrounding_text(text: str) -> None:
    assert extract(text, "tasks") == PLAN


def test_missing_commas_and_inner_brackets_are_repaired() -> None:
    assert extract('{"tasks": [{"id": "a"} {"id": "b"}] "synthesis": "x"}', "tasks") == {
        "tasks": [{"id": "a"}, {"id": "b"}],
        "synthesis": "x",
    }
    assert extract('{"tasks": [{"id": "a"}, {"id": "b"}}', "tasks") == {"tasks": [{"id": "a"}, {"id": "b"}]}


def test_of_several_documents_the_last_plan_counts() -> None:
    assert extract(f'{{"tasks": []}} was wrong; rather {TEXT} (see [1])', "tasks") == PLAN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I cannot do that.", "prose"),
        ('{"tasks": [{"id": "a", "instruction": "do', "not valid JSON"),
        ('{"tasks": [{"id": "a"', "not valid JSON"),
        ("{'tasks': []}", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_text_that_is_not_json_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(NotJson, match=message):
        extract(text, "tasks")


def test_a_truncated_document_is_completed_only_if_just_its_last_bracket_is_missing() -> None:
    whole = json.dumps({"tasks": [{"id": "a", "depends_on": []}, {"id": "b", "depends_on": ["a"]}]})
    for end in range(1, len(whole) - 1):
        with pytest.raises(NotJson):
            extract(whole[:end], "tasks")
    assert extract(whole[:-1], "tasks") == json.loads(whole)


@given(json_values)
def test_valid_json_is_never_altered(value: object) -> None:
    document = {"tasks": value}
    assert extract(json.dumps(document), "tasks") == document
    assert extract(json.dumps(document, ensure_ascii=False, indent=1), "tasks") == document


@given(json_values)
def test_repairing_keeps_valid_json(value: object) -> None:
    text = json.dumps({"tasks": value})
    repaired = repair(text)
    assert repaired is not None
    assert json.loads(repaired) == {"tasks": value}


@given(st.text())
def test_no_text_crashes_extraction(text: str) -> None:
    with contextlib.suppress(NotJson):
        extract(text, "tasks")
    without_thinking(text)


def test_half_a_character_is_replaced() -> None:
    assert extract('{"tasks": ["half \\ud83d of it", "\\ud83d\\ude00"]}', "tasks") == {
        "tasks": ["half \ufffd of it", "\U0001f600"]
    }


@pytest.mark.slow
def test_unclosed_brackets_do_not_hide_a_plan_or_take_quadratic_time() -> None:
    assert extract('a set { of things, then {"tasks": [1]}', "tasks") == {"tasks": [1]}
    with pytest.raises(NotJson):  # scanning to the end for each bracket would take minutes
        extract("x {" * 20_000, "tasks")
