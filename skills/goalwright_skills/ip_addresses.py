"""Which addresses are of the open internet, and which are private."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# All public addresses of version 6 are in this network. The others hold one of version 4, which decides elsewhere where
# they lead, or are for special purposes that older Pythons do not know. What Azure tells its machines has an address of
# the open internet.
_PUBLIC_6 = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(block)
    for block in ("2002::/16", "2001::/32", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")
)


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
