"""A typed function becomes a tool."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
from dataclasses import dataclass, replace
from datetime import date
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import BaseModel

from goalwright_skills.functions.entry_points import EntryPoint
from goalwright_skills.functions.functions import discover, tool
from goalwright_skills.functions.installed import rows, switched_off
from goalwright_skills.preferences import OFF, WITHOUT, Preferences
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from goalwright_skills.tools.envelope import CallLog


def greet_say(workspace: Path, name: str, times: int = 1, tone: Literal["warm", "cool"] = "warm") -> str:
    """Greet someone by name,
    at most ten times.

    Args:
        name: Whom to greet; must not be empty.
            Example: Ada
        times (int): How often, by default 1. Example: 3
    """
    if not name:
        raise ToolFault("INVALID_PARAM", "name is empty: — give a name")
    return f"{tone} hello {name} " * times + workspace.name


async def greet_list(names: list[Any] | None = None) -> dict[str, Any]:
    """List names."""
    return {"names": names}


def broken_run() -> str:
    """Fail."""
    raise ValueError("inner detail")


def stops_run() -> str:
    """Find nothing."""
    return next(iter(()))


def exits_run() -> str:
    """End the program."""
    raise SystemExit(2)


async def cancelled_run() -> str:
    """Wait for what was cancelled."""
    waiting = asyncio.ensure_future(asyncio.sleep(60))
    waiting.cancel()
    await waiting
    return ""


async def exits_later_run() -> str:
    """End the program."""
    raise SystemExit(2)


async def waits_run() -> str:
    """Wait."""
    await asyncio.sleep(60)
    return ""


def untyped_run(x) -> str:  # type: ignore[no-untyped-def]
    """Take anything."""
    return str(x)


def test_signature_and_docstring_become_schema_and_description() -> None:
    made = tool(greet_say, "greet_say", Path("/w"))
    assert made.description == "Greet someone by name, at most ten times."
    assert made.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Whom to greet; must not be empty. Example: Ada"},
            "times": {"type": "integer", "description": "How often, by default 1. Example: 3", "default": 1},
            "tone": {"type": "string", "enum": ["warm", "cool"], "default": "warm"},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


async def test_a_call_is_checked_and_filled() -> None:
    made = tool(greet_say, "greet_say", Path("/w"))
    assert (await made.call({"name": "Ada"})).text == "warm hello Ada w"
    wrong = await made.call({"times": "x"})
    assert wrong.error is not None
    assert wrong.error.code == "INVALID_PARAM"
    refused = await made.call({"name": ""})
    assert refused.error is not None
    assert refused.error.message == "name is empty: — give a name"


async def test_an_async_function_and_json_output_work() -> None:
    envelope = await tool(greet_list, "greet_list", Path("/w")).call({"names": ["a"]})
    assert envelope.data["output"] == {"names": ["a"]}


async def test_any_exception_becomes_an_envelope_that_hides_its_details_and_is_logged_for_the_author() -> None:
    logs: list[CallLog] = []
    envelope = await replace(tool(broken_run, "broken_run", Path("/w")), log=logs.append).call({})
    assert envelope.error is not None
    assert envelope.error.code == "EXECUTION_ERROR"
    assert "inner detail" not in envelope.to_json()
    (logged,) = logs
    assert (logged.tool, logged.log, logged.exit_status) == ("broken_run", "ValueError: inner detail", 1)
    assert 'raise ValueError("inner detail")' in logged.stderr


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    return call


async def test_an_async_function_behind_a_decorator_is_awaited() -> None:
    envelope = await tool(decorated(greet_list), "greet_list", Path("/w")).call({"names": ["a"]})
    assert envelope.data["output"] == {"names": ["a"]}


@dataclass
class River:
    name: str
    lengths: frozenset[int]


class Sea(BaseModel):
    depth: int


def rivers_list() -> Iterator[River]:
    """List rivers."""
    yield River("Rhine", frozenset({1233}))


def seas_list() -> list[Sea]:
    """List seas."""
    return [Sea(depth=10)]


@pytest.mark.parametrize(
    ("function", "output"), [(rivers_list, [{"name": "Rhine", "lengths": [1233]}]), (seas_list, [{"depth": 10}])]
)
async def test_generators_dataclasses_and_models_become_json(function: Callable[..., Any], output: object) -> None:
    envelope = await tool(function, "any_list", Path("/w")).call({})
    assert envelope.data["output"] == output


def chat_post(workspace: str) -> str:
    """Post to a workspace of the chat."""
    return workspace


async def test_a_parameter_called_workspace_that_is_no_path_is_the_models() -> None:
    made = tool(chat_post, "chat_post", Path("/w"))
    assert list(made.parameters["properties"]) == ["workspace"]
    assert (await made.call({"workspace": "acme"})).text == "acme"


def default_odd(names: list[Any] = [{1}]) -> None:  # noqa: B006
    """Have a default that JSON lacks."""


def literal_odd(kind: Literal["a", 1]) -> None:
    """Take values of two types."""


def literal_bytes(kind: Literal[b"a"]) -> None:
    """Take a value that JSON lacks."""


def unknown_type(what: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Have a type that is not there."""


async def async_each() -> AsyncIterator[int]:
    """Yield."""
    yield 1


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (default_odd, "a_b: parameter names has a default that JSON cannot express: [{1}]"),
        (literal_odd, "a_b: parameter kind has values of several types"),
        (literal_bytes, "a_b: parameter kind has values of several types, or of one that JSON lacks"),
        (unknown_type, "a_b has a type in its signature that cannot be found: Nowhere"),
        (async_each, "a_b is an async generator: return a list"),
        (partial(literal_odd, "a"), "a_b is not a function"),
    ],
)
def test_a_signature_without_a_schema_is_refused(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        tool(function, "a_b", Path("/w"))


def type_checked() -> Nowhere:  # type: ignore[name-defined]  # noqa: F821
    """Return what only type checkers know."""


def test_an_unresolvable_return_type_is_ignored() -> None:
    assert tool(type_checked, "a_b", Path("/w")).parameters["properties"] == {}


def literal_optional(kind: Literal["a", None] = None) -> None:
    """Take a value or none."""


def test_none_in_a_literal_counts_as_no_value() -> None:
    parameters = tool(literal_optional, "a_b", Path("/w")).parameters
    assert parameters["properties"] == {"kind": {"type": "string", "enum": ["a"]}}


@pytest.mark.parametrize(
    ("function", "raised"),
    [
        (stops_run, "StopIteration"),
        (exits_run, "SystemExit"),
        (cancelled_run, "CancelledError"),
        (exits_later_run, "SystemExit"),
    ],
)
async def test_a_function_ends_neither_its_task_nor_the_program(function: Callable[..., Any], raised: str) -> None:
    async with asyncio.timeout(30):
        envelope = await tool(function, "any_run", Path("/w")).call({})
    assert envelope.error is not None
    assert envelope.error.code == "EXECUTION_ERROR"
    assert envelope.error.message.startswith(f"any_run failed: {raised} ")


async def test_a_call_that_is_cancelled_is_no_failure() -> None:
    call = asyncio.ensure_future(tool(waits_run, "waits_run", Path("/w")).call({}))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_long_output_is_cut_and_kept_among_the_artifacts(tmp_path: Path) -> None:
    made = replace(tool(greet_say, "greet_say", Path("/w")), artifacts=tmp_path / "artifacts")
    envelope = await made.call({"name": "x" * 9_000})
    assert envelope.status == "partial"
    assert len(envelope.text) == 8_000
    (kept,) = (tmp_path / "artifacts").iterdir()
    row = {"path": kept.name, "bytes": 9_013, "sha256": hashlib.sha256(kept.read_bytes()).hexdigest()}
    assert envelope.data == {"characters": 9_013, "artifact": str(kept), "artifacts": [row]}
    assert kept.read_text(encoding="utf-8") == "warm hello " + "x" * 9_000 + " w"


async def test_without_a_run_long_output_is_only_cut() -> None:
    envelope = await tool(greet_say, "greet_say", Path("/w")).call({"name": "x" * 9_000})
    assert envelope.data == {"characters": 9_013, "artifact": None, "not_kept": "this call has no artifacts"}


def odd_give(kind: str) -> Any:
    """Give a value that JSON cannot represent."""
    return {"nan": {"mean": float("nan")}, "date": [date(2026, 1, 2)], "half": "a\ud800", "key": {(1, 2): 3}}[kind]


@pytest.mark.parametrize(
    ("kind", "text"), [("nan", '{"mean": null}'), ("date", '["2026-01-02"]'), ("half", "a\ufffd"), ("key", "TypeError")]
)
async def test_values_that_json_cannot_represent_become_text_or_null(kind: str, text: str) -> None:
    envelope = await tool(odd_give, "odd_give", Path("/w")).call({"kind": kind})
    assert text in envelope.text
    assert json.loads(envelope.to_json().encode())["text"] == envelope.text


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "tests")


def test_a_function_that_cannot_be_offered_is_ignored_with_a_reason() -> None:
    here = "tests.skills.functions.test_functions"
    found = [
        point("greet_say", f"{here}:greet_say"),
        point("untyped_run", f"{here}:untyped_run"),
        point("absent_run", f"{here}:absent"),
        point("missing_run", "no.such.module:f"),
        point("Bad", f"{here}:greet_say"),
        point("quiet_run", f"{here}:greet_list"),
    ]
    tools, notes = discover(Path("/w"), {"SKILL_QUIET_ENABLED": "false"}, Preferences(), found)
    assert [made.name for made in tools] == ["greet_say"]
    assert len(notes) == 6
    assert "quiet_run: disabled by SKILL_QUIET_ENABLED=false" in notes
    assert any("no type that JSON schema can express" in note for note in notes)


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('no licence')",
        "def broken(",
        "from typing import Literal\n\ndef run(x: Literal[None]) -> str: ...",
    ],
)
def test_a_package_that_fails_on_import_is_ignored_and_others_still_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    name = f"failing_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = [point("failing_run", f"{name}:run"), point("greet_say", "tests.skills.functions.test_functions:greet_say")]
    tools, notes = discover(Path("/w"), {}, Preferences(), found)
    assert [made.name for made in tools] == ["greet_say"]
    assert notes[0].startswith("failing_run: ignored, ")
    assert f"fix {name}:run" in notes[0]


@pytest.mark.parametrize(
    ("variable", "off"),
    [("SKILL_WEB_ENABLED", True), ("SKILL_WEB_PAGE_ENABLED", True), ("SKILL_EXCEL_ENABLED", False)],
)
def test_a_domain_is_switched_off_by_its_name(variable: str, off: bool) -> None:
    assert bool(switched_off("web_page_read", {variable: "false"}, Preferences())) is off
    assert not switched_off("web_page_read", {variable: "true"}, Preferences())


@pytest.mark.parametrize("name", ["web", "web_page", "web_page_read"])
def test_the_user_switches_a_tool_off_by_its_name_or_its_domain(name: str) -> None:
    found = [point("web_page_read", "tests.skills.functions.test_functions:greet_say")]
    for decided, reason in ((Preferences(off=(name,)), OFF), (Preferences(without=(name,)), WITHOUT)):
        assert switched_off("web_page_read", {}, decided) == reason
        assert discover(Path("/w"), {}, decided, found) == ([], [f"web_page_read: {reason}"])
    assert not switched_off("web_page_read", {}, Preferences(off=("page", "web_page_reader"), pin=(name,)))


def test_a_tool_that_is_switched_off_is_listed_with_its_file() -> None:
    on, off = ({row.name: row for row in rows(env, Preferences())} for env in ({}, {"SKILL_EXCEL_ENABLED": "false"}))
    assert off["excel_read"].state == "disabled"
    assert off["excel_read"].path == on["excel_read"].path
    decided = {row.name: row for row in rows({}, Preferences(off=("excel_read",), without=("excel",)))}
    assert (decided["excel_read"].state, decided["excel_read"].reason) == ("disabled", OFF)
    assert (decided["excel_info"].state, decided["excel_info"].reason) == ("disabled", WITHOUT)


@pytest.mark.parametrize(
    ("name", "function", "reason"),
    [
        ("Bad-Name", "greet_list", "its name is not <domain>_<action>"),
        ("run_script", "greet_list", "a built-in tool has that name"),
        ("default_odd", "default_odd", "default_odd: parameter names has a default that JSON cannot express"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_listed_as_broken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, function: str, reason: str
) -> None:
    package = tmp_path / "shop-1.dist-info"
    package.mkdir()
    (package / "entry_points.txt").write_text(f"[goalwright.tools]\n{name} = {__name__}:{function}\n", encoding="utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    (row,) = (row for row in rows({}, Preferences()) if row.name == name)
    assert row.state == "broken"
    assert (row.reason or "").startswith(reason)
