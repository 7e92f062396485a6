"""What the tasks of a run can do beyond reading files and loading skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.discovery.needs import WEB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.tools.tool import Tool

_ADDRESS = frozenset({"url", "urls"})


def capabilities(programs: Iterable[Manifest], others: Iterable[Tool]) -> frozenset[str]:
    """Return the capabilities that these tools give to tasks; other needs of skills are listed as not available.

    A tool with a URL parameter and network access gives web access; programs have it only if their manifest requests
    it. The result does not depend on this machine, since a strict replay elsewhere must list the same.
    """
    opens = any(
        program.network and _ADDRESS & {parameter.name for parameter in program.parameters} for program in programs
    )
    opens = opens or any(_ADDRESS & set(tool.parameters.get("properties", ())) for tool in others)
    return frozenset({WEB} if opens else ())
