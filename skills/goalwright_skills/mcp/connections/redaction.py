"""Takes the secrets that a server was given out of what it says: it may repeat them anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from goalwright_skills.mcp.authorisation.tokens import TokenFile
    from goalwright_skills.mcp.entry import ServerLaunch

_HIDDEN = "***"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Redaction:
    """Knows the secrets of one server: those of its entry, and the tokens of its login."""

    launch: ServerLaunch
    login: TokenFile | None = None

    def text(self, text: str) -> str:
        """A text for people: without any value of the entry's environment or headers, nor a token."""
        return _without(text, (*self.launch.secrets, *self._tokens))  # type: ignore[no-any-return]

    def error(self, error: BaseException | None) -> str:
        """What an error says, in one line."""
        return self.text(printable(str(error or "") or type(error).__name__))[:_LONGEST]

    def value(self, value: Any) -> Any:
        """A value that is recorded: without tokens and credentials; an environment also holds paths and plain words."""
        secrets = (*self.launch.credentials, *self._tokens)
        return _without(value, secrets) if secrets else value

    @property
    def _tokens(self) -> tuple[str, ...]:
        return self.login.secrets if self.login is not None else ()


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, _HIDDEN)
            return value
        case dict():
            return {_without(key, secrets): _without(part, secrets) for key, part in value.items()}
        case list() | tuple():
            return type(value)(_without(part, secrets) for part in value)
    return value
