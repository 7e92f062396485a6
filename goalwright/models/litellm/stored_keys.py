"""Providers' keys that the user keeps with `goalwright keys`: in the system's keyring where there is one, else in a file.

The environment beats them. They never enter a bundle, a record or a tool: once loaded they are variables such as
OPENAI_API_KEY, which all of these leave out, and the file's name ends in `.key`, which no tool may read.
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
from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from pathlib import Path

    from goalwright.models.litellm.keyring import Keyring

Place = Literal["keyring", "file"]
_LARGEST = 200_000
LONGEST_KEY = 4_000
# Without what a keyring's program would have to quote.
_KEY = re.compile(r"[!#-\[\]-~]{8,4000}")


@dataclass(frozen=True, slots=True)
class KeyStore:
    """The kept keys; its file says where each one is, and holds those that no keyring took."""

    path: Path
    keyring: Keyring | None

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Self:
        """The user's own."""
        return cls(_file(env), keyring.find())

    def kept(self) -> dict[str, Place]:
        """The providers that have a key, each with its place."""
        return {name: "file" if "key" in row else "keyring" for name, row in self._rows().items()}

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if there is none, or its keyring does not give it."""
        row = self._rows().get(provider)
        if row is None:
            return None
        key = row["key"] if "key" in row else self.keyring.get(provider) if self.keyring is not None else None
        return key if isinstance(key, str) and _KEY.fullmatch(key) else None

    def counts(self, provider: str, env: Mapping[str, str]) -> bool:
        """Whether the kept key of a provider is the one in use: the environment has no other."""
        return not is_set(provider, env) or env.get(KEYS[provider][0]) == self.get(provider)

    def set(self, provider: str, key: str) -> Place:
        """Keep a key in place of an earlier one; returns where it is."""
        if not _KEY.fullmatch(key):
            raise InputError(
                f"this is not a key: a key has 8 to {LONGEST_KEY:,} letters, digits and signs, and no space in it",
                hint="copy it again from the provider's page",
            )
        in_keyring = self.keyring is not None and self.keyring.set(provider, key)
        self._change(provider, {} if in_keyring else {"key": key})
        return "keyring" if in_keyring else "file"

    def remove(self, provider: str) -> Place:
        """Forget a key; returns where it was."""
        place = self.kept().get(provider)
        if place is None:
            raise InputError(f"no key of {provider} is kept", hint="`goalwright keys list` shows those that are")
        if place == "keyring" and self.keyring is not None:
            self.keyring.remove(provider)
        self._change(provider, None)
        return place

    def _rows(self) -> dict[str, dict[str, Any]]:
        if not os.path.lexists(self.path):
            return {}
        try:
            found = self.path.lstat()
            if stat.S_ISREG(found.st_mode) and (found.st_mode & 0o077 or os.getuid() not in (0, found.st_uid)):
                what = f"{self.path} can be read by others, so the keys in it are not used"
                raise SetupError(what, hint=f"run `chmod 600 {self.path}`, and have the providers replace these keys")
            rows = dict(json.loads(untrusted_files.read_text(self.path, _LARGEST))["keys"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            hint = "remove the file, then set the keys again with `goalwright keys set`"
            raise SetupError(f"{self.path} cannot be read: {type(error).__name__}", hint=hint) from error
        return {name: row for name, row in rows.items() if name in KEYS and isinstance(row, dict)}

    def _change(self, provider: str, row: Mapping[str, str] | None) -> None:
        """Replace the file by one with this row, or without the provider; nobody else can ever read it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock.hold(self.path.with_suffix(".lock")):
            rows = {name: kept for name, kept in self._rows().items() if name != provider}
            rows |= {provider: dict(row)} if row is not None else {}
            draft = self.path.with_name(f".{os.getpid()}-{self.path.name}")
            with suppress(FileNotFoundError):
                draft.unlink()
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"keys": rows}, file)
            draft.replace(self.path)


def load(env: MutableMapping[str, str]) -> None:
    """Put the kept keys into an environment, unless it has one of the same provider."""
    if not os.path.lexists(_file(env)):  # most users keep none
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
    """The name of a provider as goalwright knows it; raises InputError if it has no key of one part."""
    provider = name.strip().lower()
    if provider in KEYS:
        return provider
    near = guess(provider, tuple(KEYS))
    meant = f"did you mean {near}?" if near else "its variables can be set in the environment"
    raise InputError(f"no key can be kept for {name[:60]!r}; providers are: {', '.join(KEYS)}", hint=meant)
