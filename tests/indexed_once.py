"""Caches skill indexes within a process, because most tests index the bundled skills plus one."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Text = tuple[list[str], list[str]]
    Sections = Callable[[Sequence[list[str]], Sequence[Text]], list[bytes]]

FEW_SKILLS, MOST_INDEXES = 40, 16
# The skill of the fixture `workspace`.
CATALOGING = """---
name: cataloging-apis
description: Write API documentation. Catalogs the endpoints of a service with parameters and answers.
---
# Cataloging APIs

List every endpoint in a table. Keep {{braces}} and <<marks>> as they are. Focus on: $ARGUMENTS
"""


def remembered(make: Sections) -> Sections:
    """Wrap `building.sections` with a cache by terms; paths and timestamps do not matter."""
    cache: OrderedDict[Any, list[bytes]] = OrderedDict()

    def sections(names: Sequence[list[str]], texts: Sequence[Text]) -> list[bytes]:
        if len(names) > FEW_SKILLS:
            return make(names, texts)
        key = (*map(tuple, names), *((tuple(short), tuple(body)) for short, body in texts))
        made = cache.pop(key, None)
        cache[key] = made = make(names, texts) if made is None else made
        while len(cache) > MOST_INDEXES:
            cache.popitem(last=False)
        return made

    return sections


def add_cataloging(workspace: Path) -> None:
    """Write the skill to a workspace."""
    file = workspace / "skills" / "cataloging-apis" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(CATALOGING, encoding="utf-8")
