"""Client IP and user agent of a request.

The client IP is the WSGI server's REMOTE_ADDR. Waitress sets it from ``X-Forwarded-For`` only for the configured proxy;
the header is never read here.
"""

import ipaddress
import re

from groundtransport.request import Request

CLIENT_IP_MAX = 64
AGENT_MAX = 200
IPV6_SITE = 64  # bits; the prefix that one household or one rented machine gets
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def client_ip_of(request: Request) -> str:
    """Return the client IP; "" if the server does not know it."""
    return _clean(request.remote_addr or "", CLIENT_IP_MAX)


def network_of(client_ip: str) -> str:
    """Return the network that counts as one client: an IPv4 address itself, or the /64 of an IPv6 address."""
    try:
        ip = ipaddress.ip_address(client_ip.strip("[]"))
    except ValueError:
        return client_ip
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((int(ip), IPV6_SITE), strict=False))


def agent_of(request: Request) -> str:
    """Return the User-Agent header without control characters, cut to AGENT_MAX characters."""
    return _clean(request.user_agent or "", AGENT_MAX)


# Tokens of user agents. The first match counts, because user agents contain the tokens of other browsers.
BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome"}
BROWSERS |= {"Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {"Windows": "Windows", "Android": "Android", "iPhone": "iOS", "iPad": "iOS", "Mac OS X": "macOS"}
SYSTEMS |= {"CrOS": "ChromeOS", "Linux": "Linux"}


def browser_of(agent: str) -> tuple[str, str]:
    """Return the names of the browser and the operating system of a user agent; "" for an unknown one."""
    browser = next((name for token, name in BROWSERS.items() if token in agent), "")
    return browser, next((name for token, name in SYSTEMS.items() if token in agent), "")


def _clean(text: str, max_length: int) -> str:
    return _CONTROL.sub(" ", text)[:max_length].strip()
