"""Which hosts the user allows.

example.org           this host
*.example.org         its subdomains
example.org:8443      this host on this port alone
127.0.0.1:8080        this address on this port, though it is private
*                     every public host
"""

from __future__ import annotations

from dataclasses import dataclass

from goalwright_skills.ip_addresses import literal


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """One entry of the list; without a port, it holds for all."""

    host: str
    port: int | None = None

    @classmethod
    def of(cls, text: str) -> AllowedHost:
        """The entry in a text; raises ValueError with what is wrong with it."""
        name, port = text.strip().lower(), None
        if not name or any(letter in name for letter in "/@?# \\\t\n\0"):
            raise ValueError(f"{text!r} is not a host: write example.org, *.example.org or 127.0.0.1:8080")
        if name.startswith("[") and "]" in name:
            name, _, rest = name[1:].partition("]")
            port = rest.removeprefix(":") or None
        elif name.count(":") == 1:
            name, _, port = name.partition(":")
        if port is not None and not (port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError(f"{text!r} has no valid port")
        if "*" in name.removeprefix("*.") and name != "*":
            raise ValueError(f"{text!r} has a `*` that is not at its beginning: write *.example.org")
        return cls(_ascii(name.rstrip(".")), int(port) if port else None)

    def matches(self, host: str, port: int) -> bool:
        """Whether it holds for a host and port."""
        if self.port is not None and self.port != port:
            return False
        host = _ascii(host.lower().rstrip("."))
        if self.host == "*":
            return True
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def grants_private(self, host: str, port: int) -> bool:
        """Whether it is this very address, with this port."""
        return self.port is not None and literal(self.host) is not None and self.matches(host, port)


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    import idna  # as httpx has it

    any_below = "*." if name.startswith("*.") else ""
    try:
        return any_below + idna.encode(name.removeprefix("*.")).decode("ascii")
    except idna.IDNAError:
        return name
