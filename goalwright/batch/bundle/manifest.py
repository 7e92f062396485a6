"""What a bundle says of itself: which goalwright made it, which skills it must show, and what its sender trusts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from goalwright.batch.bundle.refusal import BundleRefused
from goalwright.version import __version__
from goalwright_skills.discovery.skill_file import read_all
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goalwright_skills.discovery.registry import Registry

NAME = PurePosixPath("bundle.json")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The manifest of a bundle; `catalogue` has the hash of each active skill, `trusted` those of trusted folders."""

    goalwright: str = __version__
    catalogue: Mapping[str, str] = field(default_factory=dict)
    trusted: Sequence[str] = ()
    templates: bool = False

    def to_bytes(self) -> bytes:
        """The manifest as it is in the bundle."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=True, indent=1).encode()

    @classmethod
    def read(cls, data: bytes) -> BundleManifest:
        """A bundle's manifest; raises if it is not one."""
        try:
            document = json.loads(data)
            catalogue = {str(name): str(key) for name, key in document["catalogue"].items()}
            trusted = tuple(str(key) for key in document["trusted"])
            return cls(str(document["goalwright"]), catalogue, trusted, document["templates"] is True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BundleRefused("the bundle has no valid bundle.json", hint="send it again from goalwright") from error

    def check(self, registry: Registry) -> None:
        """Raise unless a machine finds the same skills in the bundle as its sender did."""
        if self.goalwright != __version__:
            raise BundleRefused(
                f"the bundle was made by goalwright {self.goalwright}, and this is {__version__}",
                hint="install the same version on all machines",
            )
        here = catalogue_of(registry)
        names = sorted(name for name in {*here, *self.catalogue} if here.get(name) != self.catalogue.get(name))
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            raise BundleRefused(
                f"skills differ from those of the sender: {', '.join(names[:_SHOWN])}{more}",
                hint="install the same goalwright on all machines, and set the same GOALWRIGHT_* variables",
            )


def catalogue_of(registry: Registry) -> dict[str, str]:
    """Each active skill and tool with the hash of its file and where it comes from."""
    registry.refresh()
    return {f"{row.kind} {row.name}": _hash(row.file, row.source) for row in registry.list_skills()}


def _hash(path: str, source: str) -> str:
    try:
        return hashlib.sha256(source.encode() + b"\0" + read_all(path)).hexdigest()[:32]
    except (OSError, InputError):
        return ""
