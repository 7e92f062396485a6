"""Which names a skill may have, and the slug of any other name."""

from __future__ import annotations

import re

LENGTH = 64
FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def fits(name: str) -> bool:
    """Whether a name has the form that the specification requires."""
    return len(name) <= LENGTH and FORM.fullmatch(name) is not None


def slug(name: str) -> str:
    """A name in the allowed form: lower case, runs of other characters become `-`, at most 64 long; may be empty."""
    return _OTHER.sub("-", name.lower()).strip("-")[:LENGTH].rstrip("-")
