"""Providers' keys stored by `goalwright keys`: in the system's keyring if there is one, else in a file.

Keys in the environment override them. They never enter a bundle, a record or a tool: once loaded they are variables
such as OPENAI_API_KEY, which all of these omit, and no tool may read a file whose name ends in `.key`.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from goalwright.models.litellm import keyring
from goalwright.models.litellm.keys import KEYS
from goalwright.settings.paths import config_folder
from goalwright_skills import file_lock, untrusted_files
from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from pathlib import Path

    from goalwright.models.litellm.keyring import Keyring

Place = Literal["keyring", "file"]
_MAX_FILE = 200_000
LONGEST_KEY = 4_000
# Without characters that the keyring's program needs quoted.
_KEY = re.compile(r"[!#-\[\]-~]{8,4000}")


@dataclass(frozen=True, slots=True)
class KeyStore:
    """The stored keys; the file lists all of them, and holds those that are not in the keyring."""

    path: Path
    keyring: Keyring | None

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Self:
        """The key store of the user."""
        return cls(_file(env), keyring.find())

    def kept(self) -> dict[str, Place]:
        """The providers with a stored key, each with its place."""
        return {name: "file" if "key" in row else "keyring" for name, row in self._rows().items()}

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if there is none, or the keyring does not return it."""
        row = self._rows().get(provider)
        if row is None:
            return None
        key = row["key"] if "key" in row else self.keyring.get(provider) if self.keyring is not None else None
        return key if isinstance(key, str) and _KEY.fullmatch(key) else None

    def counts(self, provider: str, env: Mapping[str, str]) -> bool:
        """Whether the stored key of a provider is in use, since the environment has no other."""
        return not is_set(provider, env) or env.get(KEYS[provider][0]) == self.get(provider)

    def set(self, provider: str, key: str) -> Place:
        """Store a key, replacing an earlier one; return its place."""
        if not _KEY.fullmatch(key):
            raise InputError(
                f"this is not a key: a key has 8 to {LONGEST_KEY:,} letters, digits and signs, and no spaces",
                hint="copy it again from the provider's page",
            )
        in_keyring = self.keyring is not None and self.keyring.set(provider, key)
        self._change(provider, {} if in_keyring else {"key": key})
        return "keyring" if in_keyring else "file"

    def remove(self, provider: str) -> Place:
        """Remove a key; return its place."""
        place = self.kept().get(provider)
        if place is None:
            raise InputError(f"no key of {provider} is stored", hint="`goalwright keys list` shows the stored keys")
        if place == "keyring" and self.keyring is not None:
            self.keyring.remove(provider)
        self._change(provider, None)
        return place

    def _rows(self) -> dict[str, dict[str, Any]]:
        if not os.path.lexists(self.path):
            return {}
        try:
            status = self.path.lstat()
            if stat.S_ISREG(status.st_mode) and (status.st_mode & 0o077 or os.getuid() not in (0, status.st_uid)):
                message = f"{self.path} can be read by other users, so its keys are not used"
                raise SetupError(message, hint=f"run `chmod 600 {self.path}`, and replace these keys at the providers")
            rows = dict(json.loads(untrusted_files.read_text(self.path, _MAX_FILE))["keys"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            hint = "remove the file, then set the keys again with `goalwright keys set`"
            raise SetupError(f"{self.path} cannot be read: {type(error).__name__}", hint=hint) from error
        return {name: row for name, row in rows.items() if name in KEYS and isinstance(row, dict)}

    def _change(self, provider: str, row: Mapping[str, str] | None) -> None:
        """Replace the provider's row, or remove it; other users can never read the new file."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock.hold(self.path.with_suffix(".lock")):
            rows = {name: other for name, other in self._rows().items() if name != provider}
            rows |= {provider: dict(row)} if row is not None else {}
            draft = self.path.with_name(f".{os.getpid()}-{self.path.name}")
            with suppress(FileNotFoundError):
                draft.unlink()
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"keys": rows}, file)
            draft.replace(self.path)


def load(env: MutableMapping[str, str]) -> None:
    """Add the stored keys to an environment, except for providers that already have a key there."""
    if not os.path.lexists(_file(env)):  # most users have none
        return
    store = KeyStore.of(env)
    for provider in store.kept():
        if not is_set(provider, env) and (key := store.get(provider)):
            env[KEYS[provider][0]] = key


def _file(env: Mapping[str, str]) -> Path:
    return config_folder(env) / "providers.key"


def is_set(provider: str, env: Mapping[str, str]) -> bool:
    """Whether an environment has a key of a provider."""
    return any(env.get(variable, "").strip() for variable in KEYS[provider])


def checked_provider(name: str) -> str:
    """The normalized name of a provider; raises InputError unless exactly one variable holds its key."""
    provider = name.strip().lower()
    if provider in KEYS:
        return provider
    near = guess(provider, tuple(KEYS))
    hint = f"did you mean {near}?" if near else "set its variables in the environment"
    raise InputError(f"no key can be stored for {name[:60]!r}; providers are: {', '.join(KEYS)}", hint=hint)
