"""Which addresses on the network a fetched page may lie at."""

import asyncio
import ipaddress
import socket

from memory.errors import ToolFailed, ToolRefused
from memory.text import label

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = {
    ipaddress.ip_address(text) for text in ("100.100.100.200", "fd00:ec2::254", "192.0.0.192", "168.63.129.16")
}
"""Where clouds tell a machine its keys, beside the link-local ones."""
_STAND_INS = ipaddress.ip_network("198.18.0.0/15")
"""What proxies on this machine give for every name of the internet; nobody's network lies there."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def literal(host: str) -> Address | None:
    """The address that a host is written as; `None` for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_forbidden(address: Address) -> bool:
    """Never to be asked, whatever the user says: link-local and metadata addresses, and those that are no host's."""
    inner = _inner(address)
    if inner is not None:
        return is_forbidden(inner)
    return address in _METADATA or address.is_link_local or address.is_multicast or address.is_unspecified


def is_private(address: Address) -> bool:
    """On this machine or in a network that is not the internet."""
    inner = _inner(address)
    if inner is not None:
        return is_private(inner)
    return not address.is_global and address not in _STAND_INS


def is_local_name(host: str) -> bool:
    """A name that says by itself that it is no host of the internet."""
    name = host.rstrip(".").lower()
    return "." not in name or name.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))


async def resolve(host: str, port: int, *, allow_private: bool) -> str:
    """One address of a host, to be connected to as it is: a second look-up could tell another.

    Raises `ToolRefused` when any of its addresses may not be asked, `ToolFailed` when it has none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailed(f"The host {label(host, 100)} was not found.", hint="Look at the address.") from error
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for address in addresses:
        if is_forbidden(address):
            raise ToolRefused(f"{label(host, 100)} leads to {address}, which is never asked.")
        if is_private(address) and not allow_private:
            raise ToolRefused(
                f"{label(host, 100)} leads to {address}, which is on this machine or in a private network.",
                hint="If the user wants that, call it with this address in the place of the name.",
            )
    if not addresses:
        raise ToolFailed(f"The host {label(host, 100)} has no address.")
    return str(addresses[0])


def _inner(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
