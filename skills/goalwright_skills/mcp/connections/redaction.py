"""Removes the secrets of a server from its messages, because it may repeat them anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.entry import ServerLaunch

_HIDDEN = "***"
_ERROR_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Redaction:
    """The secrets of one server: those in its entry and the tokens of its login."""

    launch: ServerLaunch
    login: TokenFile | None = None

    def text(self, text: str) -> str:
        """Redact a text for people: every value of the entry's environment and headers, and every token."""
        return _redact(text, (*self.launch.secrets, *self._tokens))  # type: ignore[no-any-return]

    def error(self, error: BaseException | None) -> str:
        """Return the redacted text of an error in one line."""
        return self.text(printable(str(error or "") or type(error).__name__))[:_ERROR_LIMIT]

    def value(self, value: Any) -> Any:
        """Redact tokens and credentials in a recorded value, but not an environment's paths and plain words."""
        secrets = (*self.launch.credentials, *self._tokens)
        return _redact(value, secrets) if secrets else value

    @property
    def _tokens(self) -> tuple[str, ...]:
        return self.login.secrets if self.login is not None else ()


def _redact(value: Any, secrets: tuple[str, ...]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, _HIDDEN)
            return value
        case dict():
            return {_redact(key, secrets): _redact(part, secrets) for key, part in value.items()}
        case list() | tuple():
            return type(value)(_redact(part, secrets) for part in value)
    return value
