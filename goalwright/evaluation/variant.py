"""A variant: one of the ways to run the cases that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings that replace those of the evaluation, and skills that every case asks for; `flags` say it in words."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    skills: tuple[str, ...] = ()
    flags: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The variant as an evaluation's record has it."""
        settings = {key: list(value) if isinstance(value, tuple) else value for key, value in self.settings.items()}
        return {"name": self.name, "settings": settings, "skills": list(self.skills), "flags": self.flags}


ONLY = Variant("all")


def check_names(variants: Sequence[Variant]) -> None:
    """Raise if two variants share a name, or one has none."""
    names = [variant.name for variant in variants]
    for name in names:
        if not name.strip() or "@" in name or "#" in name:
            raise InputError(f"a variant cannot be called {name!r}", hint="use letters, digits, spaces and '-'")
        if names.count(name) > 1:
            raise InputError(f"two variants are called {name!r}", hint="give each a name of its own")
