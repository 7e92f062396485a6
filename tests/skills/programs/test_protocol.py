"""A tool's answer line is preserved."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.programs.protocol import ProgramAnswer, parse


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('{"output":{"b":1,"a":"é"},"error":""}', '{"b":1,"a":"é"}'),
        ('{"error": "", "output": [1,  2]}', "[1,  2]"),
        ('{"log": {"output": 3}, "output": 7}', "7"),
        ('{"output": 1, "output": [2,3]}', "[2,3]"),
        ('{"output": {"a": "\\u00e9"}}', '{"a": "é"}'),
        ('{"output": {"a": NaN}}', '{"a": null}'),
        ('{"output": "plain \\"text\\""}', 'plain "text"'),
        ('{"output": null}', ""),
        ('\ufeff{"output": "with a byte order mark"}', "with a byte order mark"),
        ('{"o\\u0075tput": [1]}', "[1]"),
    ],
)
def test_text_is_the_output_as_written(line: str, text: str) -> None:
    answer = parse(line)
    assert isinstance(answer, ProgramAnswer)
    assert answer.text == text


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_other_json_is_kept(value: object) -> None:
    answer = parse(json.dumps({"note": "output", "output": {"value": value}, "error": ""}, ensure_ascii=False))
    assert isinstance(answer, ProgramAnswer)
    assert json.loads(answer.text) == answer.value
