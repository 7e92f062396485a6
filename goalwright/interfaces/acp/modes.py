"""The modes of a session: how far it may go without asking. A loaded session keeps its mode."""

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
_TEXTS = {
    "ask": ("Ask", "Changes of files are offered, and each asks first"),
    "plan": ("Plan", "As Ask, and every plan waits for your yes before it runs"),
    "auto": ("Auto", "The rules of goalwright.toml decide what asks"),
}
_MAX_BYTES = 1_000
_SESSION_ID = re.compile(r"[\w-]{1,100}", re.ASCII)


def state(mode: ModeName) -> SessionModeState:
    """Return the available modes and the current one."""
    available = [SessionMode(id=name, name=title, description=text) for name, (title, text) in _TEXTS.items()]
    return SessionModeState(current_mode_id=mode, available_modes=available)


def named(name: str) -> ModeName | None:
    """Return the mode of that name; None if there is none."""
    return cast("ModeName", name) if name in get_args(ModeName) else None


def settings_for(mode: ModeName, settings: Settings) -> Settings:
    """Return the settings of a turn in a mode."""
    if mode == "auto":
        return settings
    approve = "writes" if settings.approve == "never" else settings.approve
    return replace(settings, workspace_writes="ask", approve=approve)


@dataclass(frozen=True, slots=True)
class ModeStore:
    """Stores the modes of sessions in the user's data folder."""

    folder: Path

    def get(self, session: str) -> ModeName:
        """Return the mode of a session."""
        try:
            text = untrusted_files.read_text(self._file(session), _MAX_BYTES)
            return named(str(json.loads(text)["mode"])) or DEFAULT
        except (OSError, ValueError, KeyError, TypeError):
            return DEFAULT

    def set(self, session: str, mode: ModeName) -> None:
        """Store the mode of a session."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file(session).write_text(json.dumps({"mode": mode}), encoding="utf-8")

    def _file(self, session: str) -> Path:
        if not _SESSION_ID.fullmatch(session):
            raise ValueError(f"{session[:100]!r} is not a session id")
        return self.folder / f"{session}.json"
