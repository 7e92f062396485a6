"""Names of models: whether one carries an address, to which litellm would send the prompts and a key."""

from __future__ import annotations

import re

# `provider/group/name:tag@version`: no empty part (as in `://`), no escape, query, user or space.
_PART = r"@?[A-Za-z0-9_][A-Za-z0-9_.+\-]*(?:@[A-Za-z0-9_\-]+)?"
_NAME = re.compile(rf"{_PART}(?:[/:]{_PART})*")
# A scheme without its slashes, an IP address or this machine: nothing that a model is called.
_ADDRESS = re.compile(
    r"(?:^|[/:@])(?:(?:https?|wss?|ftps?|file|unix|tcp|grpcs?)[:/]|(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|localhost(?![\w.\-]))",
    re.IGNORECASE,
)


def carries_address(name: str) -> bool:
    """Whether a model's name is more than a name: `oobabooga/http://host`, or anything that could be read as one."""
    return _NAME.fullmatch(name) is None or _ADDRESS.search(name) is not None
