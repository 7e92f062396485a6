"""The skills that a listing shows, read back from its text: a replayed run has the listing on record, not the files."""

from __future__ import annotations

import html
import re
from itertools import islice

from goalwright_skills.text.formatting import cut

_SKILL = re.compile(r"^<name>(.*)</name>\n<description>(.*)</description>$", re.MULTILINE)


def descriptions_of(listing: str, most: int) -> dict[str, str]:
    """The first skills of a listing, each with its description."""
    rows = islice(_SKILL.finditer(listing), most)
    return {html.unescape(row[1]): html.unescape(row[2]) for row in rows}


def lines_of(listing: str, most: int, width: int) -> dict[str, str]:
    """The first skills of a listing, each with its description cut to a width."""
    return {name: cut(text, width) for name, text in descriptions_of(listing, most).items()}
