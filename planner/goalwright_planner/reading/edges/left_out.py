"""Marks that something was left out: `// ... more tasks here`, a task that is only `...`."""

from __future__ import annotations

import re

_WHAT = r"(?:tasks?|steps?|nodes?|items?|entries|ones|plan)"
_WHICH = r"(?:more|remaining|rest|other|others|additional|further|similar|subsequent|following|same)"
_LEFT_OUT = re.compile(
    rf"""\.{{3}}|…|\betc\b|\band\s+so\s+(?:on|forth)\b|\b(?:omitted|elided|truncated|left\s+out|to\s+be\s+continued|TODO|TBD)\b
    |\b{_WHICH}\b[^.\n]*\b{_WHAT}\b|\b{_WHAT}\b[^.\n]*\b(?:follow|go|here|above|below|continue)\b
    |\b(?:rest|remainder|repeat|continue|continued|likewise)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DOTS = re.compile(r"[\s\W]*(?:\.{3}|…)[\s\W]*")
_SAID = re.compile(
    rf"\s*(?:\.{{3}}|…)|\b(?:more|remaining|other|additional|further)\s+{_WHAT}\s+(?:here|follow|go\s+here|as\s+needed|omitted|to\s+come)"
    rf"|\b{_WHAT}\s+(?:were\s+|are\s+)?(?:omitted|elided|left\s+out|truncated)|\brest\s+of\s+the\s+(?:tasks|plan|steps)\b",
    re.IGNORECASE,
)
_IN_PROSE = re.compile(
    rf"\b(?:more|remaining|other|others|additional|further|similar)\s+{_WHAT}\s+(?:here|as\s+needed|(?:were\s+|are\s+)?(?:omitted|left\s+out))"
    rf"|\b(?:omitted|left\s+out|skipped|shortened|truncated)\b[^.\n]*\b(?:for\s+brevity|{_WHAT})\b|\b{_WHAT}\b[^.\n]*\bfor\s+brevity\b",
    re.IGNORECASE,
)


def marks_left_out(comment: str) -> bool:
    """Whether a comment in a plan says that something stands there no more."""
    return _LEFT_OUT.search(comment) is not None


def is_dots(value: object) -> bool:
    """Whether a text is nothing but dots."""
    return isinstance(value, str) and _DOTS.fullmatch(value) is not None


def says_left_out(value: object) -> bool:
    """Whether the value of a key says that tasks were left out."""
    return isinstance(value, str) and _SAID.match(value.strip()) is not None


def left_out_in_prose(text: str) -> bool:
    """Whether the text around a plan says that tasks were left out of it."""
    return _IN_PROSE.search(text) is not None
