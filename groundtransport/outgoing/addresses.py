"""URLs of other servers, and which IP addresses may be connected to (CWE-918, server-side request forgery)."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

URL_MAX = 2000  # characters
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?", re.ASCII
)
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)

# Global addresses that are not public: IPv4 inside IPv6 would lead around the check (RFC 6052, RFC 3056, RFC 4380), and
# the address of Azure's metadata.
REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "::ffff:0:0/96",
            "64:ff9b::/96",
            "64:ff9b:1::/48",
            "2002::/16",
            "2001::/32",
            "168.63.129.16/32",
            "192.0.0.0/24",  # RFC 6890; older releases of Python call it global
        ),
    )
)


class BadUrl(ValueError):
    """The URL cannot be requested: it is none, or not one of a public server."""


@dataclass(frozen=True)
class Target:
    """The parts of a URL that a request needs; ``path`` holds the query, too."""

    is_tls: bool
    host: str
    port: int
    path: str


def parse_url(url: str, *, allow_private: bool, allow_http: bool = False) -> Target:
    """Return the parts of an ``https`` URL, without resolving its host.

    ``allow_http`` also permits ``http``; ``allow_private`` permits that and private addresses. Raise BadUrl for any
    other URL, for one with a user name or a fragment, and for an IP address that is not public.
    """
    if len(url) > URL_MAX or not _PRINTABLE.fullmatch(url):
        raise BadUrl(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(url) from error
    is_tls, host = parts.scheme == "https", parts.hostname or ""
    is_scheme = is_tls or ((allow_private or allow_http) and parts.scheme == "http")
    has_more = "@" in parts.netloc or "#" in url or "\\" in url or port == 0
    if not is_scheme or has_more or not _is_host(host, allow_private=allow_private):
        raise BadUrl(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(is_tls, host, port or (443 if is_tls else 80), path)


def _is_host(host: str, *, allow_private: bool) -> bool:
    """Return True for a host name, and for an IP address that may be connected to."""
    try:
        return is_permitted(host, allow_private=allow_private)
    except ValueError:
        return len(host) <= 253 and _HOST.fullmatch(host) is not None


def is_permitted(address: str, *, allow_private: bool = False) -> bool:
    """Return True if an IP address may be connected to. Raise ValueError if it is none."""
    ip = ipaddress.ip_address(address)
    if allow_private:
        return not ip.is_multicast
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in REFUSED)


def resolve(target: Target, *, allow_private: bool) -> list[str]:
    """Return the IP addresses of a host, [] if one of them may not be connected to. Raise OSError if it has none."""
    entries = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    is_whole = all(is_permitted(address, allow_private=allow_private) for address in addresses)
    return addresses if is_whole else []
