"""How a server of a local model is reached."""

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
    """How to reach the server: through litellm as model `openai/<alias>`, with `base_url` as its API base.

    `speed` is how fast it is on this machine, if that was measured; `prompts` are those that it got last. It keeps what
    it has read in the folder `states`, if it has one; `build` is the backend and its version, and `slow` says
    why a faster one does not run, if there is one, and what to do.
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
    """The number of tokens in these messages, by the model's own template and tokenizer."""
    body = {"messages": list(messages)}
    address = endpoint.base_url.removesuffix("/v1")
    answer = call(address, endpoint.api_key, "POST", "/v1/chat/completions/input_tokens", body)
    return int(answer["input_tokens"])


def call(
    address: str, key: str, method: str, path: str, body: dict[str, Any] | None = None, seconds: float = 60
) -> Any:
    """A request to the server, and its answer; raises Unreachable if there is none."""
    # Requests to loopback never go through a proxy.
    try:
        with httpx.Client(base_url=address, verify=certificates.none(), trust_env=False, timeout=seconds) as client:
            response = client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
            response.raise_for_status()
            return response.json()
    except httpx.HTTPError as error:  # the process may have been killed; a retry starts another
        raise Unreachable(f"the embedded model does not answer: {error}") from error
