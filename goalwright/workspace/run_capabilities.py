"""What the tasks of a run can do beyond reading files and loading skills: what skills may need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.discovery.needs import WEB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.tools.tool import Tool

_ADDRESS = frozenset({"url", "urls"})


def capabilities(programs: Iterable[Manifest], others: Iterable[Tool]) -> frozenset[str]:
    """What these tools let tasks do; what a skill needs besides is listed as not available.

    A tool that takes an address and has the network gives web access: a program has it only if its manifest asks for
    it. Nothing here depends on this machine, since a strict replay elsewhere must list the same.
    """
    opens = any(
        program.network and _ADDRESS & {parameter.name for parameter in program.parameters} for program in programs
    )
    opens = opens or any(_ADDRESS & set(tool.parameters.get("properties", ())) for tool in others)
    return frozenset({WEB} if opens else ())
