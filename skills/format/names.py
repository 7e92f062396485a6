"""What a skill may be called, and what a name of another form becomes."""

from __future__ import annotations

import re

LENGTH = 64
FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def fits(name: str) -> bool:
    """Whether a name is of the form that the specification asks for."""
    return len(name) <= LENGTH and FORM.fullmatch(name) is not None


def slug(name: str) -> str:
    """The name in the allowed form: lower case, other runs become `-`, cut at 64; may be empty."""
    return _OTHER.sub("-", name.lower()).strip("-")[:LENGTH].rstrip("-")
