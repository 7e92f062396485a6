"""Functions of a program as tools of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goalwright import InputError, ToolLogged, run_goal
from tests.goalwright.approving import prepare
from tests.openai_server import Call, OpenAIServer, Say, Script, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright import Event
    from tests.openai_server import Answer

PLAN = {
    "tasks": [
        {"id": "find", "action_type": "tool", "name": "orders_find", "arguments": {"customer": "Ada"}},
        {"id": "write", "action_type": "llm", "instruction": "Write about <<find.output>>", "depends_on": ["find"]},
    ]
}


def orders_find(customer: str, limit: int = 3) -> list[dict[str, object]]:
    """Find a customer's orders.

    Args:
        customer: The customer's name.
        limit: How many at most.
    """
    return [{"customer": customer, "total": 42, "limit": limit}]


async def orders_cancel(number: int) -> str:
    """Cancel an order."""
    return f"cancelled {number}"


async def test_a_plan_and_a_model_call_functions(workspace: Path, serve: Callable[[Script], OpenAIServer]) -> None:
    def task(call: Call) -> Answer:
        if call.tool_results:
            return Say(f"the tool said {call.tool_results[-1]['text']}")
        return Say(tool_calls=(("orders_cancel", {"number": 7}),))

    server = serve(scripted(PLAN, task=task))
    result = await run_goal(
        "Look after Ada", model="openai/test-model", workspace=workspace, tools=[orders_find, orders_cancel]
    )
    assert result.status == "done"
    assert json.loads(result.tasks[0].output or "") == [{"customer": "Ada", "total": 42, "limit": 3}]
    assert result.answer == "the tool said cancelled 7"
    assert "orders_find" in server.asked("decomposer")[0].system + server.asked("decomposer")[0].user


def cancel(number: int) -> str:
    """Cancel."""
    return str(number)


def orders_odd(what) -> str:  # type: ignore[no-untyped-def]
    """Odd."""
    return str(what)


@pytest.mark.parametrize(
    ("function", "says"), [(cancel, "<domain>_<action>"), (orders_odd, "what has no type"), (lambda: 1, "<lambda>")]
)
async def test_a_function_that_cannot_be_a_tool_is_refused(
    workspace: Path, function: Callable[..., object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        await run_goal("x", model="openai/test-model", workspace=workspace, tools=[function])


def two() -> tuple[Callable[..., object], Callable[..., object]]:
    """Two functions of one name."""
    first = orders_find

    def orders_again() -> str:
        """Find again."""
        return ""

    orders_again.__name__ = "orders_find"
    return first, orders_again


@pytest.mark.parametrize(
    ("tools", "says"),
    [(two(), "2 of the tools are called orders_find"), ("python", "must be a list"), (orders_find, "must be a list")],
)
async def test_tools_that_would_be_lost_are_refused(workspace: Path, tools: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        await run_goal("x", model="openai/test-model", workspace=workspace, tools=tools)


async def test_exceptions_of_functions_are_recorded_and_hidden_from_models(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    def orders_break() -> str:
        """Break."""
        raise ValueError("the database is gone")

    events: list[Event] = []
    server = serve(scripted({"tasks": [{"id": "a", "action_type": "tool", "name": "orders_break"}]}))
    result = await run_goal(
        "Break", model="openai/test-model", workspace=workspace, tools=[orders_break], record=events.append
    )
    (logged,) = (event for event in events if isinstance(event, ToolLogged))
    assert logged.log == "ValueError: the database is gone"
    assert "orders_break" in logged.stderr
    assert "database" not in (result.tasks[0].error or "")
    assert "database" not in json.dumps([call.body for call in server.calls])


async def test_an_async_record_function_causes_a_warning(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    async def hear(event: Event) -> None:
        """Hear of it."""

    serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "x"}]}))
    result = await run_goal("Do it", model="openai/test-model", workspace=workspace, record=hear)
    assert result.status == "done"
    assert result.warnings == ("`record` is an async function and receives no events; pass one that is not async",)


async def test_a_workspace_program_cannot_replace_a_function(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    prepare(workspace)

    def note_write(text: str) -> str:
        """Keep a note in the orders' own book."""
        return f"kept {text}"

    plan = {"tasks": [{"id": "note", "action_type": "tool", "name": "note_write", "arguments": {"text": "milk"}}]}
    server = serve(scripted(plan))
    result = await run_goal("Note it", model="openai/test-model", workspace=workspace, tools=[note_write])
    assert (result.status, result.tasks[0].output) == ("done", "kept milk")
    (planned,) = server.asked("decomposer")
    assert "in the orders' own book" in planned.user + planned.system
    assert "a thousand characters" not in planned.user + planned.system
    (warning,) = result.warnings
    assert "the tool note_write of" in warning
    assert "is not used: a function passed as a tool has its name" in warning


@pytest.mark.parametrize("off", ["orders_find", "orders"])
async def test_a_function_that_is_off_is_not_offered(
    workspace: Path, serve: Callable[[Script], OpenAIServer], off: str
) -> None:
    server = serve(scripted({"tasks": [{"id": "a", "action_type": "llm", "instruction": "x"}]}))
    result = await run_goal(
        "Look after Ada",
        model="openai/test-model",
        workspace=workspace,
        tools=[orders_find],
        settings={"skills_off": [off]},
    )
    assert (result.status, result.warnings) == ("done", ())
    assert "orders_find" not in json.dumps([call.body for call in server.calls])
