"""The user's folders in which goalwright keeps its files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = "goalwright"


def cache() -> Path:
    """Return the folder for files that can be recreated."""
    return _folder("XDG_CACHE_HOME", "~/.cache", "user_cache_dir")


def data() -> Path:
    """Return the folder for files that must not be lost."""
    return _folder("XDG_DATA_HOME", "~/.local/share", "user_data_dir")


def _folder(variable: str, default: str, function: str) -> Path:
    """Return the folder that platformdirs returns, without its slow import on Linux."""
    if sys.platform != "linux" or "ANDROID_DATA" in os.environ:
        import platformdirs

        return Path(getattr(platformdirs, function)(APP))
    value = os.environ.get(variable, "")
    return (Path(value) if value.strip() else Path(default).expanduser()) / APP
