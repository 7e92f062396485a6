"""Text inside XML; a module of its own because Python's loads an HTTP client with it."""

from __future__ import annotations


def escape(text: str) -> str:
    """The text as the content of an XML element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
