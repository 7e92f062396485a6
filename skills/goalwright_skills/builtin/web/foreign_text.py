"""Text of strangers, marked so that a model takes it as material; the text itself cannot end the mark."""

from __future__ import annotations

import re

TAIL = "\n</foreign-text>"
_TAG = re.compile(r"<(/?foreign-text)", re.IGNORECASE)


def head(note: str, **about: str) -> str:
    """What stands before the text: whose it is, and what it is about."""
    shown = (f'{name}="{_attribute(text)}"' for name, text in about.items())
    return f"{note}\n<foreign-text {' '.join(shown)}>\n"


def harmless(text: str) -> str:
    """The text without what could end the mark around it."""
    return _TAG.sub(r"<\\\1", text)


def _attribute(text: str) -> str:
    return re.sub(r"[\"<>\s]+", " ", text)[:300]
