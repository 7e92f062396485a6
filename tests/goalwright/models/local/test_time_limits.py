"""Time limits of calls to a local model, from the speed of the machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.serving.speed import Speed, SpeedStore
from goalwright.models.local.serving.time_limits import SHORTEST, CallSize, LocalLimits, RecentPrompts
from goalwright_planner.errors import Refused, TooSlow

if TYPE_CHECKING:
    from pathlib import Path

SLOW = Speed(prompt=0.14, answer=0.17)  # two cores without the processor's instructions
FAST = Speed(prompt=0.002, answer=0.02)
LONG = CallSize(prompt=5000, answer=500)


def test_longest_prompt_gets_enough_time_on_a_slow_machine() -> None:
    limit = LocalLimits().for_call(LONG, "task", SLOW, at_once=2)
    assert limit >= 2 * SLOW.seconds(5000, 500) > SHORTEST


def test_a_fast_machine_keeps_the_usual_limit() -> None:
    assert LocalLimits().for_call(LONG, "task", FAST, at_once=2) == SHORTEST


def test_without_a_measurement_a_call_has_fifteen_minutes() -> None:
    assert LocalLimits().for_call(LONG, "task", None, at_once=2) == SHORTEST
    assert LocalLimits(call_timeout=5).for_call(LONG, "task", None, at_once=2) == 5


def test_too_slow_call_is_refused_with_a_hint_and_not_retried() -> None:
    with pytest.raises(TooSlow) as caught:
        LocalLimits(call_timeout=300).for_call(LONG, "decomposer", SLOW, at_once=2)
    message = caught.value.message
    assert "a prompt of 5,000 tokens takes at least 700 s on this machine" in message
    assert "reads 7.1 tokens a second, and call_timeout is 300 s" in message
    assert "set call_timeout to 2355 or more" in caught.value.hint
    assert isinstance(caught.value, Refused)
    assert caught.value.exit_status == 5


def test_shortest_limit_is_named() -> None:
    limits = LocalLimits(call_timeout=600, task_timeout=300, timeout=60)
    with pytest.raises(TooSlow, match="and timeout is 60 s"):
        limits.for_call(LONG, "task", SLOW, at_once=2)


def test_task_timeout_does_not_apply_to_the_planner() -> None:
    assert LocalLimits(task_timeout=60).for_call(LONG, "decomposer", SLOW, at_once=1) > 60


def test_call_that_may_finish_in_time_is_made() -> None:
    """Its answer may be short, and what its prompt has in common with earlier ones is not read again."""
    limits = LocalLimits(call_timeout=300)
    assert limits.for_call(CallSize(2000, 500), "task", SLOW, at_once=2) == 300
    assert limits.for_call(CallSize(5000, 500, cached=3500), "task", SLOW, at_once=2) == 300


def test_common_prefix_of_an_earlier_prompt_counts_as_cached() -> None:
    prompts = RecentPrompts()
    assert prompts.cached("the same beginning, another end", 10) == 0
    prompts.texts.extend(["nothing alike", "the same beginning"])
    assert prompts.cached("the same beginning" * 2, 10) == 5
    assert prompts.cached("", 0) == 0


@pytest.mark.parametrize(
    "kept", ["", "{", "[]", '{"prompt": 1}', '{"prompt": -1, "answer": 1}', '{"prompt": NaN, "answer": 1}']
)
def test_implausible_cached_speed_is_measured_again(tmp_path: Path, kept: str) -> None:
    store = SpeedStore(tmp_path)
    store.keep("model", FAST)
    assert store.find("model") == FAST
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text(encoding="utf-8"))["of"] == "model"
    path.write_text(kept, encoding="utf-8")
    assert store.find("model") is None


def test_unwritable_cache_leads_to_a_new_measurement(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = SpeedStore(tmp_path / "file" / "folder")
    store.keep("model", FAST)
    assert store.find("model") is None


def test_speed_is_shown_in_tokens_per_second() -> None:
    assert str(SLOW) == "7.1 tokens of a prompt and 5.9 tokens of an answer a second"
    assert str(FAST) == "500 tokens of a prompt and 50 tokens of an answer a second"
