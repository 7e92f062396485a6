"""`weft acp` takes the golden messages of the protocol's package as they stand, and sends messages of their form."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from tests.weft.acp.client import _configured, _serve
from tests.weft.acp.test_acp import writing
from weft.acp.agent import WeftAgent

GOLDEN = Path(__file__).parents[2] / "data" / "acp-golden"


def golden(name: str) -> Any:
    """A message of the package's own tests."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


class RawEditor:
    """Speaks the protocol line by line, and says yes to every permission; `heard` has what the agent sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._number = reader, writer, 0
        self.heard: list[dict[str, Any]] = []

    async def ask(self, method: str, params: Any) -> Any:
        """The result of a request; meanwhile, permissions are given."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        async with asyncio.timeout(120):
            while True:
                message = json.loads(await self._reader.readline())
                self.heard.append(message)
                if message.get("method") == "session/request_permission":
                    options = message["params"]["options"]
                    once = next(one["optionId"] for one in options if one["kind"] == "allow_once")
                    outcome = {**golden("permission_outcome_selected"), "optionId": once}
                    self._send(id=message["id"], result={"outcome": outcome})
                elif message.get("id") == self._number and "method" not in message:
                    return message["result"]

    def updates(self, kind: str) -> list[dict[str, Any]]:
        """The updates of a kind that were sent."""
        rows = [one["params"]["update"] for one in self.heard if one.get("method") == "session/update"]
        return [row for row in rows if row["sessionUpdate"] == kind]

    def _send(self, **message: Any) -> None:
        self._writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def has_form(expected: Any, found: Any) -> None:
    """What stands in a golden message stands in ours too, at every depth."""
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        assert expected.keys() <= found.keys(), (expected, found)
        for key, value in expected.items():
            has_form(value, found[key])
    elif isinstance(expected, list):
        assert isinstance(found, list)
        assert found
        has_form(expected[0], found[0])
    else:
        assert isinstance(found, type(expected))


async def test_golden_requests_are_answered_and_golden_updates_are_what_is_sent(workspace: Path) -> None:
    served = WeftAgent(_configured, lambda _: writing())
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    serving = asyncio.ensure_future(_serve(served, theirs))
    editor = RawEditor(reader, writer)
    try:
        assert (await editor.ask("initialize", golden("initialize_request")))["protocolVersion"] == 1
        made = await editor.ask("session/new", {**golden("new_session_request"), "cwd": str(workspace)})
        prompt = {**golden("prompt_request"), "sessionId": made["sessionId"]}
        assert (await editor.ask("session/prompt", prompt))["stopReason"] == "end_turn"
    finally:
        writer.close()
        await served.close()
        serving.cancel()
        await asyncio.wait([serving])
    assert (workspace / "notes.md").read_text(encoding="utf-8") == "noted\n"
    has_form(golden("session_update_plan"), editor.updates("plan")[0])
    has_form(golden("session_update_agent_message_chunk"), editor.updates("agent_message_chunk")[-1])
    (call,) = editor.updates("tool_call")
    assert golden("session_update_tool_call_edit")["kind"] == call["kind"] == "edit"
    has_form(dict.fromkeys(("toolCallId", "title", "kind", "status"), ""), call)
    (asked,) = [one["params"] for one in editor.heard if one.get("method") == "session/request_permission"]
    has_form(golden("request_permission_request"), asked)
    every = [
        part
        for one in (call, *editor.updates("tool_call_update"), asked["toolCall"])
        for part in one.get("content") or ()
    ]
    diff = next(part for part in every if part["type"] == "diff")
    has_form({key: value for key, value in golden("tool_content_diff").items() if key != "oldText"}, diff)
