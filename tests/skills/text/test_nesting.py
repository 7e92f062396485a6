from __future__ import annotations

from typing import Any

from goalwright_skills.text.nesting import MOST_LEVELS, flattened, is_too_deep


def nested(levels: int) -> Any:
    value: Any = "x"
    for number in range(levels):
        value = [value] if number % 2 else {"a": value, "b": 1}
    return value


def test_values_may_be_nested_a_hundred_levels_deep() -> None:
    assert not is_too_deep("text")
    assert not is_too_deep({"a": [1, {"b": ()}]})
    assert not is_too_deep(nested(MOST_LEVELS))
    assert is_too_deep(nested(MOST_LEVELS + 1))
    assert is_too_deep(nested(20_000))


def test_what_is_deeper_is_left_out() -> None:
    assert flattened(nested(MOST_LEVELS)) == nested(MOST_LEVELS)
    flat = flattened(nested(20_000))
    assert not is_too_deep(flat)
    assert str(flat).count("…") == 1
