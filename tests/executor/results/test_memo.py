"""Finished work is found by hashes, which must not change because recorded runs depend on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from goalwright_executor.capture.capture import Capture
from goalwright_executor.capture.named_roots import NamedRoots
from goalwright_executor.results.memo import Memo
from goalwright_planner.events import TaskFinished
from goalwright_planner.model import Message, Request, ToolCall, ToolSpec
from goalwright_planner.plan.task import Task
from tests.fakes import Recorder

if TYPE_CHECKING:
    from pathlib import Path

TOOL = ToolSpec("text_echo", "Echo a text.", {"type": "object", "properties": {"text": {"type": "string"}}})
ASKED = Request(
    (
        Message("system", "Be brief."),
        Message("user", "Say ü in /w/notes.md"),
        Message("assistant", "", (ToolCall("c0", "text_echo", '{"text": "ü"}'),)),
        Message("tool", '{"status": "success"}', tool_call_id="c0"),
    ),
    tools=(TOOL,),
    schema={"type": "object"},
    task="a",
)


def test_hashes_match_recorded_runs() -> None:
    memo = Memo(Recorder())
    assert memo.request_hash(ASKED, "openai/m") == "b57b68a86ac3108d2ad5bd6a4d4277cd"
    assert (
        memo.request_hash(Request((Message("user", "hi"),), role="synthesis"), "m")
        == "26e584ea988d1c15033f8c29abc0a4e5"
    )
    assert memo.tool_key("text_echo", "a", {"text": "ü"}) == "ea7b9ccdd83e2a6ec92d7c76186ca299#1"
    task = Task("b", "llm", instruction="Use <<a.output>>", depends_on=("a",))
    assert memo.inputs(task, {"a": "one", "z": "unused"}) == "f68e3cc514cefc8a909e16621cbd2c2a"


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, messages=ASKED.messages[:-1]),
        replace(ASKED, tools=()),
        replace(ASKED, tools=(msgspec.structs.replace(TOOL, parameters={}),)),
        replace(ASKED, may_call_tools=False),
        replace(ASKED, schema=None),
        replace(ASKED, role="synthesis"),
        replace(ASKED, task="b"),
    ],
)
def test_everything_that_decides_a_call_changes_its_hash(other: Request) -> None:
    memo = Memo(Recorder())
    assert memo.request_hash(other, "m") != memo.request_hash(ASKED, "m")
    assert memo.request_hash(ASKED, "m") != memo.request_hash(ASKED, "other")
    assert memo.request_hash(replace(ASKED, key="k", on_text=print), "m") == memo.request_hash(ASKED, "m")


def test_input_hash_covers_long_results_completely() -> None:
    task = Task("b", "llm", depends_on=("a", "z"))
    long, other = "a long result " * 100 + "a", "a long result " * 100 + "b"
    memo = Memo(Recorder())
    first = memo.inputs(task, {"a": long, "z": "short"})
    assert memo.inputs(task, {"a": other, "z": "short"}) != first
    assert memo.inputs(task, {"a": "short", "z": long}) != first
    assert memo.inputs(task, {"a": long}) != first
    memo.capture.keeps_event(TaskFinished("a", "done", 0.5, "short"))
    assert (
        memo.inputs(task, {"a": long, "z": "short"})
        == first
        == Memo(Recorder()).inputs(task, {"a": long, "z": "short"})
    )


def test_input_hash_is_equal_in_another_checkout(tmp_path: Path) -> None:
    task = Task("b", "llm", depends_on=("a",))
    here, there = (
        Memo(Recorder(), Capture(NamedRoots({"workspace": str(tmp_path / name)}))) for name in ("here", "there")
    )
    for result in ("{}/notes.md", "{}/notes.md " * 50):
        hashes = [
            memo.inputs(task, {"a": result.replace("{}", str(tmp_path / name))})
            for memo, name in ((here, "here"), (there, "there"))
        ]
        assert hashes[0] == hashes[1]
        assert hashes[0] != here.inputs(task, {"a": result.replace("{}", str(tmp_path / "there"))})


def test_equal_requests_of_a_task_are_numbered() -> None:
    memo = Memo(Recorder())
    assert [memo.counted("k"), memo.counted("k"), memo.counted("j")] == ["k#1", "k#2", "j#1"]
