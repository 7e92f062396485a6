"""Index the same skills once in a process: nearly every test has the bundled ones and one more, in a new workspace."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Text = tuple[list[str], list[str]]
    Sections = Callable[[Sequence[list[str]], Sequence[Text]], list[bytes]]

FEW_SKILLS, MOST_INDEXES = 40, 16
# The skill that the fixture `workspace` has.
CATALOGING = """---
name: cataloging-apis
description: Write API documentation. Catalogs the endpoints of a service with parameters and answers.
---
# Cataloging APIs

List every endpoint in a table. Keep {{braces}} and <<marks>> as they are. Focus on: $ARGUMENTS
"""


def remembered(make: Sections) -> Sections:
    """`building.sections`, with what it made of the same terms before; paths and stamps are no part of that."""
    known: OrderedDict[Any, list[bytes]] = OrderedDict()

    def sections(names: Sequence[list[str]], texts: Sequence[Text]) -> list[bytes]:
        if len(names) > FEW_SKILLS:
            return make(names, texts)
        key = (*map(tuple, names), *((tuple(short), tuple(body)) for short, body in texts))
        made = known.pop(key, None)
        known[key] = made = make(names, texts) if made is None else made
        while len(known) > MOST_INDEXES:
            known.popitem(last=False)
        return made

    return sections


def add_cataloging(workspace: Path) -> None:
    """Put the skill into a workspace."""
    file = workspace / "skills" / "cataloging-apis" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(CATALOGING, encoding="utf-8")
