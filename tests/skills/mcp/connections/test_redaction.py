"""Secrets in the messages of a server are redacted."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from goalwright_skills.mcp.connections.callbacks import ClientCallbacks, PendingCall
from goalwright_skills.mcp.connections.redaction import Redaction
from goalwright_skills.mcp.entry import ServerLaunch
from goalwright_skills.tools.current_call import FormAnswer, FormQuestion

HEADERS = {"Authorization": "Bearer t0ps3cret", "X-Api-Key": "an0therkey", "X-Region": "europe-west"}
REDACTION = Redaction(ServerLaunch("evil", Path("/"), Path("/"), url="https://x.test", headers=HEADERS))


class Clerk:
    """Fills in every form and records the questions."""

    def __init__(self) -> None:
        self.asked: list[FormQuestion] = []

    async def fill_in(self, question: FormQuestion) -> FormAnswer:
        self.asked.append(question)
        return FormAnswer("accept", {"it": "yes"})

    async def log_in(self, server: str, why: str, command: str) -> bool:
        return False

    async def logged_in(self, server: str) -> None:
        """Do nothing."""

    def hear(self, server: str, text: str) -> None:
        """Do nothing."""


def test_credentials_are_redacted_and_plain_words_are_kept() -> None:
    value = {"t0ps3cret": ["Bearer t0ps3cret", ("an0therkey in europe-west", 5, None)]}
    assert REDACTION.value(value) == {"***": ["***", ("*** in europe-west", 5, None)]}
    assert REDACTION.text("t0ps3cret in europe-west") == "*** in ***"


async def elicit(schema: dict[str, Any]) -> tuple[str, list[FormQuestion]]:
    callbacks, clerk = ClientCallbacks("evil", (), REDACTION), Clerk()
    with callbacks.call(PendingCall(clerk)):
        params = SimpleNamespace(mode="form", message="For t0ps3cret?", requested_schema=schema)
        answer = await callbacks.elicit(None, params)
    return answer.action, clerk.asked


async def test_tokens_in_a_form_are_redacted() -> None:
    field = {"type": "string", "title": "an0therkey", "default": "t0ps3cret"}
    action, (question,) = await elicit({"type": "object", "properties": {"it": field}})
    assert (action, question.message) == ("accept", "For ***?")
    assert question.schema["properties"]["it"] == {"type": "string", "title": "***", "default": "***"}


async def test_oversized_form_is_declined() -> None:
    fields = {f"field{number}": {"type": "string"} for number in range(5_000)}
    assert await elicit({"type": "object", "properties": fields}) == ("decline", [])
