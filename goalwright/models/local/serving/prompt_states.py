"""Saves the server's state after the fixed part of a prompt, so that it is evaluated once per machine, not in each run.

Each file has the state of one slot; its name is a hash of the text, the model and the backend. If a state cannot be
saved or restored, the text is evaluated again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from goalwright_skills import certificates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goalwright.models.local.serving.endpoint import Endpoint
    from goalwright_planner.model import Message

# A shorter text is evaluated as fast as its state is loaded; a token of a 1.5B model takes 28 kB.
_MIN_CHARACTERS = 400
MOST_BYTES = 512_000_000
_GOAL = "\ue000goal\ue000"


@dataclass(frozen=True, slots=True)
class PromptStates:
    """The states of a model in a folder; `about` identifies the model and its server."""

    endpoint: Endpoint
    folder: Path
    about: str
    timeout: float = 300.0

    async def take_up(self, slot: int, messages: Sequence[Message]) -> None:
        """Restore a slot's state after the first messages of a prompt, or evaluate them and save the state."""
        if sum(len(message.content) for message in messages) < _MIN_CHARACTERS:
            return
        with suppress(httpx.HTTPError, OSError, ValueError, KeyError):
            async with self._client() as client:
                text = await _text(client, messages)
                file = self.folder / f"{_hash(self.about, text)}.state"
                if file.is_file() and await _restored(client, slot, file):
                    os.utime(file)
                elif text:
                    await self._read(client, slot, text, file)

    async def _read(self, client: httpx.AsyncClient, slot: int, text: str, file: Path) -> None:
        await _post(client, "/completion", {"prompt": text, "n_predict": 0, "id_slot": slot, "cache_prompt": True})
        draft = file.with_suffix(f".{secrets.token_hex(4)}")  # another process may write the same
        try:
            await _post(client, f"/slots/{slot}?action=save", {"filename": draft.name})
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        _make_room(self.folder)

    def _client(self) -> httpx.AsyncClient:
        # Requests to loopback never use a proxy. A cancelled request also stops the work in the server.
        key = {"Authorization": f"Bearer {self.endpoint.api_key}"}
        address = self.endpoint.base_url.removesuffix("/v1")
        return httpx.AsyncClient(
            base_url=address, headers=key, verify=certificates.none(), trust_env=False, timeout=self.timeout
        )


async def _text(client: httpx.AsyncClient, messages: Sequence[Message]) -> str:
    """The messages in the model's own template, up to where the goal begins; empty if that is not found."""
    plain = [{"role": message.role, "content": message.content} for message in messages]
    answer = await _post(client, "/apply-template", {"messages": [*plain, {"role": "user", "content": _GOAL}]})
    fixed, separator, _ = str(answer["prompt"]).partition(_GOAL)
    return fixed if separator else ""


async def _restored(client: httpx.AsyncClient, slot: int, file: Path) -> bool:
    """Restore a slot from a state; delete the state and return False if the server rejects it."""
    try:
        await _post(client, f"/slots/{slot}?action=restore", {"filename": file.name})
    except httpx.HTTPStatusError:
        _delete(file)
        return False
    return True


async def _post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    response = await client.post(path, json=body)
    response.raise_for_status()
    return response.json()


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink(missing_ok=True)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _make_room(folder: Path) -> None:
    """Delete the least recently used states until the others fit the size limit."""
    files = sorted(((file.stat(), file) for file in folder.glob("*.state")), key=lambda row: -row[0].st_mtime)
    total = 0
    for stat, file in files:
        total += stat.st_size
        if total > MOST_BYTES:
            file.unlink(missing_ok=True)
