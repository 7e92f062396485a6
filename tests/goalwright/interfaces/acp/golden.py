"""The golden messages of the protocol's package, and an editor that sends them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[3] / "data" / "acp-golden"


def golden(name: str) -> Any:
    """Return a message of the package's tests."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


class GoldenEditor:
    """Sends and receives messages line by line, and grants every permission; `heard` has the agent's messages."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._number = reader, writer, 0
        self.heard: list[dict[str, Any]] = []

    async def ask(self, method: str, params: Any) -> Any:
        """Return the result of a request, and grant permissions meanwhile."""
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
        """Return the updates of a kind."""
        rows = [one["params"]["update"] for one in self.heard if one.get("method") == "session/update"]
        return [row for row in rows if row["sessionUpdate"] == kind]

    def said(self) -> str:
        """Return the text of the agent's messages."""
        return "".join(str(row["content"]["text"]) for row in self.updates("agent_message_chunk"))

    def check_forms(self) -> None:
        """Compare the updates of a turn that writes one file with the golden ones."""
        has_form(golden("session_update_plan"), self.updates("plan")[0])
        has_form(golden("session_update_agent_message_chunk"), self.updates("agent_message_chunk")[-1])
        (call,) = self.updates("tool_call")
        assert golden("session_update_tool_call_edit")["kind"] == call["kind"] == "edit"
        has_form(dict.fromkeys(("toolCallId", "title", "kind", "status"), ""), call)
        (asked,) = [one["params"] for one in self.heard if one.get("method") == "session/request_permission"]
        has_form(golden("request_permission_request"), asked)
        diff = next(part for part in call["content"] if part["type"] == "diff")
        has_form({key: value for key, value in golden("tool_content_diff").items() if key != "oldText"}, diff)

    def _send(self, **message: Any) -> None:
        self._writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def has_form(expected: Any, found: Any) -> None:
    """Return whether a message has all keys of a golden one, at every depth."""
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
