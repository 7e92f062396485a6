"""The address of a local model's server, and requests to it: counting tokens, measuring its speed."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from goalwright.models.local.serving.speed import Speed, is_usable
from goalwright.models.local.serving.time_limits import RecentPrompts
from goalwright_planner.errors import Unreachable
from goalwright_skills import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

# The measured call: enough for a result, and done in a few seconds on a slow machine.
_PROMPT, _ANSWER = 24, 5
_SECONDS = 300.0
# Tokens that every vocabulary has.
_VOCABULARY = range(300, 3000)
_STAT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server, called through litellm as the model `openai/<alias>` with `base_url` as its API base.

    `speed` is its measured speed on this machine, if known; `prompts` are its last prompts; `states` is its folder for
    prompt states, if it has one; `build` is the backend and its version; `slow` is a warning if a faster backend could
    run.
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


def measure(address: str, key: str, pid: int, threads: int) -> Speed | None:
    """Measure the speed by one short call; None if the server reports no timings.

    Uses CPU time if the system reports it, since other processes may use the machine at the same time.
    """
    before = cpu_seconds(pid)
    try:
        timings = call(address, key, "POST", "/completion", _body(), _SECONDS)["timings"]
        prompt, answer = float(timings["prompt_ms"]) / 1000, float(timings["predicted_ms"]) / 1000
        counts = int(timings["prompt_n"]), int(timings["predicted_n"])
    except (Unreachable, KeyError, TypeError, ValueError):
        return None
    after = cpu_seconds(pid)
    elapsed = prompt + answer
    if not (elapsed > 0 and all(counts)):
        return None
    share = 1.0
    if before is not None and after is not None and after > before:
        share = min(1.0, (after - before) / threads / elapsed)
    speed = Speed(share * prompt / counts[0], share * answer / counts[1])
    return speed if is_usable(speed) else None


def _body() -> dict[str, Any]:
    tokens = random.Random(0).choices(_VOCABULARY, k=_PROMPT)  # noqa: S311 - no secret
    return {"prompt": tokens, "n_predict": _ANSWER, "ignore_eos": True, "cache_prompt": False, "temperature": 0}


def cpu_seconds(pid: int) -> float | None:
    """The CPU seconds of a process and all its threads; None if the system has no /proc."""
    try:
        with Path(f"/proc/{pid}/stat").open(encoding="utf-8", errors="replace") as file:
            fields = file.read(_STAT_BYTES).rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
