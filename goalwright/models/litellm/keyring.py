"""The system's keyring, used through its command-line program.

    macOS   security      part of the system
    Linux   secret-tool   part of libsecret, for the keyrings of GNOME, KDE and others

A program needs no dependency and no import, and no plug-in of another package can read the keys. Keys are passed
through a pipe, since other users can see the arguments of a process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_SERVICE = "goalwright"
_TIMEOUT = 30.0  # seconds: it may ask the user to unlock it
_MAX_OUTPUT = 10_000


@dataclass(frozen=True, slots=True)
class Keyring:
    """A keyring; if it is locked or not running, its methods return None or False."""

    program: str

    @property
    def _is_security(self) -> bool:
        return Path(self.program).name == "security"

    def get(self, provider: str) -> str | None:
        """The key of a provider; None if there is none."""
        if self._is_security:
            output = self._run("find-generic-password", "-s", _SERVICE, "-a", provider, "-w")
        else:
            output = self._run("lookup", "service", _SERVICE, "account", provider)
        return output.strip() or None if output is not None else None

    def set(self, provider: str, key: str) -> bool:
        """Store a key, replacing an earlier one; return whether it can be read back."""
        if self._is_security:
            self._run("-i", stdin=f'add-generic-password -U -s {_SERVICE} -a {provider} -w "{key}"\n')
        else:
            label = f"--label={_SERVICE}: {provider}"
            self._run("store", label, "service", _SERVICE, "account", provider, stdin=key)
        return self.get(provider) == key

    def remove(self, provider: str) -> None:
        """Remove the key of a provider."""
        if self._is_security:
            self._run("delete-generic-password", "-s", _SERVICE, "-a", provider)
        else:
            self._run("clear", "service", _SERVICE, "account", provider)

    def _run(self, *arguments: str, stdin: str = "") -> str | None:
        """Run the program and return its output; None if it fails."""
        try:
            process = subprocess.run(
                [self.program, *arguments], input=stdin, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.SubprocessError, UnicodeError):
            return None
        return process.stdout[:_MAX_OUTPUT] if process.returncode == 0 else None


def find() -> Keyring | None:
    """The system's keyring, if it has a program for it; relative folders in PATH are ignored."""
    program = shutil.which("security" if sys.platform == "darwin" else "secret-tool")
    return Keyring(program) if program and Path(program).is_absolute() else None
