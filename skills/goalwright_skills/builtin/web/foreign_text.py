"""Marks around untrusted text, so that a model treats it as data; the text itself cannot end the mark."""

from __future__ import annotations

import re

TAIL = "\n</foreign-text>"
_TAG = re.compile(r"<(/?foreign-text)", re.IGNORECASE)


def head(note: str, **about: str) -> str:
    """Return the note and the opening tag with its attributes."""
    shown = (f'{name}="{_attribute(text)}"' for name, text in about.items())
    return f"{note}\n<foreign-text {' '.join(shown)}>\n"


def harmless(text: str) -> str:
    """Escape tags that could end the mark around the text."""
    return _TAG.sub(r"<\\\1", text)


def _attribute(text: str) -> str:
    return re.sub(r"[\"<>\s]+", " ", text)[:300]
