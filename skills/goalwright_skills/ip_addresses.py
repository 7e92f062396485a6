"""Tells public IP addresses from private ones."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# All public IPv6 addresses are in the first network. The special blocks embed an IPv4 address or have purposes that
# older Pythons do not know; the last one is Azure's metadata service, which has a public address.
_PUBLIC_6 = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(block)
    for block in ("2002::/16", "2001::/32", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")
)


def literal(host: str) -> Address | None:
    """Parse a host that is written as an IP address; None for names."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet, not on this machine, its network or a cloud provider's network."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address.version == 6 and address not in _PUBLIC_6:
        return False
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast
