"""The user's own folders for what weft keeps."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = "weft"


def cache() -> Path:
    """What can be made again."""
    found = _xdg("XDG_CACHE_HOME", "~/.cache")
    if found is None:
        import platformdirs

        found = Path(platformdirs.user_cache_dir(APP))
    return found


def data() -> Path:
    """What must not be lost."""
    found = _xdg("XDG_DATA_HOME", "~/.local/share")
    if found is None:
        import platformdirs

        found = Path(platformdirs.user_data_dir(APP))
    return found


def _xdg(variable: str, usual: str) -> Path | None:
    """As platformdirs has it on Linux, where importing it takes as long as Python's own start."""
    if sys.platform != "linux" or "ANDROID_DATA" in os.environ:
        return None
    named = os.environ.get(variable, "")
    return (Path(named) if named.strip() else Path(usual).expanduser()) / APP
