"""How far a session may go without asking, chosen in the editor and kept when the session is loaded again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast, get_args

from acp.schema import SessionMode, SessionModeState

from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.settings.settings import Settings

ModeName = Literal["ask", "plan", "auto"]
DEFAULT: ModeName = "ask"
_ABOUT = {
    "ask": ("Ask", "Changes of files are offered, and each asks first"),
    "plan": ("Plan", "As Ask, and every plan waits for your yes before it runs"),
    "auto": ("Auto", "The rules of goalwright.toml decide what asks"),
}
_LARGEST = 1_000
_PLAIN = re.compile(r"[\w-]{1,100}", re.ASCII)


def state(mode: ModeName) -> SessionModeState:
    """The modes as a client shows them, and the one that holds."""
    known = [SessionMode(id=name, name=title, description=about) for name, (title, about) in _ABOUT.items()]
    return SessionModeState(current_mode_id=mode, available_modes=known)


def named(name: str) -> ModeName | None:
    """The mode of that name."""
    return cast("ModeName", name) if name in get_args(ModeName) else None


def settings_for(mode: ModeName, settings: Settings) -> Settings:
    """The settings of a turn in a mode."""
    if mode == "auto":
        return settings
    approve = "writes" if settings.approve == "never" else settings.approve
    return replace(settings, workspace_writes="ask", approve=approve)


@dataclass(frozen=True, slots=True)
class KeptModes:
    """The modes of sessions, in the user's data folder: they say nothing that a run was made from."""

    folder: Path

    def get(self, session: str) -> ModeName:
        """The mode of a session."""
        try:
            text = untrusted_files.read_text(self._file(session), _LARGEST)
            return named(str(json.loads(text)["mode"])) or DEFAULT
        except (OSError, ValueError, KeyError, TypeError):
            return DEFAULT

    def set(self, session: str, mode: ModeName) -> None:
        """Keep the mode of a session."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file(session).write_text(json.dumps({"mode": mode}), encoding="utf-8")

    def _file(self, session: str) -> Path:
        if not _PLAIN.fullmatch(session):
            raise ValueError(f"{session[:100]!r} is no session")
        return self.folder / f"{session}.json"
