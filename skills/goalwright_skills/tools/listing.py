"""The list of tools in a planner's prompt: names, descriptions and parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import escape, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.tools.tool import DescribedTool

LIMIT = 60
_DESCRIPTION_LIMIT = 400


def render(tools: Sequence[DescribedTool], *, limit: int = LIMIT) -> str:
    """Return `<available_tools>` with a `<tool>` for each tool; the block is present even if it is empty."""
    lines = ["<available_tools>", *(_item(tool) for tool in tools[:limit])]
    if len(tools) > limit:
        lines.append(f"{len(tools) - limit} more tools are not listed.")
    return "\n".join([*lines, "</available_tools>"])


def _item(tool: DescribedTool) -> str:
    schema = json.dumps(dict(tool.parameters), ensure_ascii=False, sort_keys=True)
    return (
        f"<tool>\n<name>{escape(tool.name)}</name>\n"
        f"<description>{escape(shorten(tool.description, _DESCRIPTION_LIMIT))}</description>\n"
        f"<parameters>{escape(schema)}</parameters>\n</tool>"
    )
