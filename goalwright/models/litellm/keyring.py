"""The keyring of the system, by the program that the system has for it.

    macOS   security      comes with the system
    Linux   secret-tool   of libsecret, for the keyrings of GNOME, KDE and others

A program instead of a package: there is nothing to install on macOS, nothing to import for those who keep no key, and
no plug-in of another package sees one. A key goes to it through a pipe, never in its arguments, which others can see.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_SERVICE = "goalwright"
_TIMEOUT = 30.0  # seconds: it may ask the user to unlock it
_LARGEST = 10_000


@dataclass(frozen=True, slots=True)
class Keyring:
    """A keyring; what it cannot do, because it is locked or not running, it answers with None or False."""

    program: str

    @property
    def _is_security(self) -> bool:
        return Path(self.program).name == "security"

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if there is none."""
        if self._is_security:
            said = self._run("find-generic-password", "-s", _SERVICE, "-a", provider, "-w")
        else:
            said = self._run("lookup", "service", _SERVICE, "account", provider)
        return said.strip() or None if said is not None else None

    def set(self, provider: str, key: str) -> bool:
        """Keep a key in place of an earlier one; returns whether it can be read back."""
        if self._is_security:
            self._run("-i", stdin=f'add-generic-password -U -s {_SERVICE} -a {provider} -w "{key}"\n')
        else:
            label = f"--label={_SERVICE}: {provider}"
            self._run("store", label, "service", _SERVICE, "account", provider, stdin=key)
        return self.get(provider) == key

    def remove(self, provider: str) -> None:
        """Forget the key of a provider."""
        if self._is_security:
            self._run("delete-generic-password", "-s", _SERVICE, "-a", provider)
        else:
            self._run("clear", "service", _SERVICE, "account", provider)

    def _run(self, *arguments: str, stdin: str = "") -> str | None:
        """What the program prints; None if it fails."""
        try:
            done = subprocess.run(
                [self.program, *arguments], input=stdin, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.SubprocessError, UnicodeError):
            return None
        return done.stdout[:_LARGEST] if done.returncode == 0 else None


def find() -> Keyring | None:
    """The keyring's program, if the system has one; a folder of PATH that depends on the current one does not count."""
    program = shutil.which("security" if sys.platform == "darwin" else "secret-tool")
    return Keyring(program) if program and Path(program).is_absolute() else None
