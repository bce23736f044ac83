"""Where a request comes from: the address that the server vouches for, never a header's own word.

``X-Forwarded-For`` counts only through waitress, which takes it from the configured proxy and puts it here.
"""

import ipaddress
import re

from pyramid.request import Request

CLIENT_IP_MAX = 64
AGENT_MAX = 200
IPV6_SITE = 64  # bits: the part of an IPv6 address that one household or one rented machine holds
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def client_ip_of(request: Request) -> str:
    """Return the address of the client; "" where the server does not know it."""
    return _clean(request.remote_addr or "", CLIENT_IP_MAX)


def network_of(address: str) -> str:
    """Return what counts as one origin: an IPv4 address itself, the /64 of an IPv6 address."""
    try:
        ip = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((int(ip), IPV6_SITE), strict=False))


def agent_of(request: Request) -> str:
    """Return what the browser calls itself, cut."""
    return _clean(request.user_agent or "", AGENT_MAX)


# What a browser's own name for itself holds; the first that fits counts, for they name each other.
BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome"}
BROWSERS |= {"Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {"Windows": "Windows", "Android": "Android", "iPhone": "iOS", "iPad": "iOS", "Mac OS X": "macOS"}
SYSTEMS |= {"CrOS": "ChromeOS", "Linux": "Linux"}


def browser_of(agent: str) -> tuple[str, str]:
    """Return the names of the browser and of the system that a user agent claims; "" for what is not known."""
    browser = next((name for token, name in BROWSERS.items() if token in agent), "")
    return browser, next((name for token, name in SYSTEMS.items() if token in agent), "")


def _clean(text: str, most: int) -> str:
    return _CONTROL.sub(" ", text)[:most].strip()
