"""Which hosts the user allows, and which addresses are private.

example.org           this host
*.example.org         its subdomains
example.org:8443      this host on this port alone
127.0.0.1:8080        this address on this port, though it is private
*                     every public host
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# All public addresses of version 6 are in this network. The others hold one of version 4, which decides elsewhere where
# they lead, or are for special purposes that older Pythons do not know.
_PUBLIC_6 = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(block) for block in ("2002::/16", "2001::/32", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24")
)


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


def literal(host: str) -> Address | None:
    """The address that a host is written as, if it is one."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet, and not of this machine, its network or a provider's inside."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address.version == 6 and address not in _PUBLIC_6:
        return False
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    import idna  # as httpx has it

    any_below = "*." if name.startswith("*.") else ""
    try:
        return any_below + idna.encode(name.removeprefix("*.")).decode("ascii")
    except idna.IDNAError:
        return name
