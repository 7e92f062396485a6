"""Finds a running Ollama and picks one of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright_skills import certificates

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_BASE = "http://127.0.0.1:11434"
TIMEOUT_SECONDS = 0.5


def base_url(env: Mapping[str, str]) -> str:
    """Ollama's address: from litellm's own variable, else the usual port on loopback."""
    return (env.get("OLLAMA_API_BASE", "").strip() or DEFAULT_BASE).rstrip("/")


def probe(env: Mapping[str, str]) -> str | None:
    """The most recent model of a running Ollama, by its litellm name; None if there is none."""
    answer = _tags(env)
    name = pick(answer.get("models", []) if isinstance(answer, dict) else [])
    return f"ollama_chat/{name}" if name else None


def answers(env: Mapping[str, str]) -> bool:
    """Whether Ollama is running, with or without a model."""
    return isinstance(_tags(env), dict)


def _tags(env: Mapping[str, str]) -> Any:
    """The models of a running Ollama, as JSON; None if it does not answer."""
    import httpx

    address = base_url(env)
    parts = urlsplit(address)
    # Requests to loopback never go through a proxy.
    remote = parts.hostname not in ("127.0.0.1", "localhost", "::1")
    try:
        trusted = certificates.none() if parts.scheme == "http" else certificates.trusted(by_environment=remote)
        with httpx.Client(verify=trusted, timeout=TIMEOUT_SECONDS, trust_env=remote) as client:
            return client.get(f"{address}/api/tags").raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None


def pick(models: Any) -> str | None:
    """The most recently modified model that is not an embedding model."""
    rows = [row for row in models if isinstance(row, dict) and row.get("name")]
    chat = [row for row in rows if "embed" not in row["name"] and not _is_bert(row)]
    if not chat:
        return None
    return str(max(chat, key=lambda row: str(row.get("modified_at", "")))["name"])


def _is_bert(row: dict[str, Any]) -> bool:
    families = (row.get("details") or {}).get("families") or []
    return any("bert" in str(family) for family in families)
