"""The address of a local model's server, and requests to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from goalwright.models.local.serving.time_limits import RecentPrompts
from goalwright_planner.errors import Unreachable
from goalwright_skills import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.models.local.serving.speed import Speed


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server, called through litellm as the model `openai/<alias>` with `base_url` as its API base.

    `speed` is its measured speed on this machine, if known; `prompts` are its last prompts; `states` is its folder for
    prompt states, if it has one; `build` is the backend and its version; `slow` is a warning if a faster backend could run.
    """

    base_url: str
    api_key: str
    alias: str
    context: int
    speed: Speed | None = None
    prompts: RecentPrompts = field(default_factory=RecentPrompts, compare=False)
    states: Path | None = None
    build: str = ""
    slow: str = ""

    @property
    def model(self) -> str:
        """Its name in litellm."""
        return f"openai/{self.alias}"


def count_tokens(endpoint: Endpoint, messages: Sequence[dict[str, Any]]) -> int:
    """Count the tokens of messages with the model's own template and tokenizer."""
    body = {"messages": list(messages)}
    address = endpoint.base_url.removesuffix("/v1")
    answer = call(address, endpoint.api_key, "POST", "/v1/chat/completions/input_tokens", body)
    return int(answer["input_tokens"])


def call(
    address: str, key: str, method: str, path: str, body: dict[str, Any] | None = None, seconds: float = 60
) -> Any:
    """Send a request to the server and return its answer; raises Unreachable if there is none."""
    # Requests to loopback never go through a proxy.
    try:
        with httpx.Client(base_url=address, verify=certificates.none(), trust_env=False, timeout=seconds) as client:
            response = client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
            response.raise_for_status()
            return response.json()
    except httpx.HTTPError as error:  # the process may have been killed; a retry starts another
        raise Unreachable(f"the embedded model does not answer: {error}") from error
