"""YAML of strangers: aliases stand for no more than can be read."""

from __future__ import annotations

import pytest
import yaml

from goalwright_skills.format import safe_yaml
from goalwright_skills.format.documents import TooDeep
from tests.hostile_yaml import multiplied


def load(text: str) -> object:
    return yaml.load(text, safe_yaml.JsonLoader)  # noqa: S506 - stricter than the safe loader


@pytest.mark.parametrize("text", [multiplied(), f"- &a {'x' * 1000}\n{'- *a' + chr(10)}" + "- *a\n" * 1000])
def test_aliases_that_repeat_too_much_are_refused_with_their_line(text: str) -> None:
    for read in (load, safe_yaml.check):
        with pytest.raises(yaml.MarkedYAMLError, match="its aliases repeat more than 1,000,000 characters") as caught:
            read(text)
        assert caught.value.problem_mark is not None


def test_aliases_that_repeat_a_little_are_read() -> None:
    text = multiplied(levels=4) + "- *a3\n- &self [*self]\n"
    safe_yaml.check(text)
    assert len(load(text)) == 6  # type: ignore[arg-type]


def test_check_refuses_deep_nesting_before_libyaml_crashes() -> None:
    with pytest.raises(TooDeep):
        safe_yaml.check("[" * 5000)
