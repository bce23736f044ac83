"""Read the beginning of a web page: its title, its language, and signs of a parked domain.

The page is a stranger's: every pattern has a limit, so that no page takes long to read.
"""

import html
import re
from dataclasses import dataclass

TITLE_MAX = 200  # characters
SMALL = 20_000  # characters of a page that has little more on it than an offer of the domain

_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_LANGUAGE = re.compile(r"<html[^>]{0,500}?\blang=[\"']?([a-z]{2,3})\b", re.IGNORECASE | re.ASCII)
_FIRST_LANGUAGE = re.compile(r"[a-z]{2,3}\b", re.IGNORECASE | re.ASCII)
_CHARSET = re.compile(r"charset=[\"' ]{0,3}([a-z0-9_-]{1,20})", re.IGNORECASE | re.ASCII)
# Encodings of the web (others of Python's are no text, or take long to decode).
_ENCODINGS = re.compile(
    r"utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8]|shift[_-]jis|euc-(jp|kr)|gb(2312|k|18030)|big5|koi8-[ru]",
    re.A,
)

# Hosts from which parking services serve their pages and the scripts of these pages.
PARKING_HOSTS = (
    "sedoparking.com",
    "parkingcrew.net",
    "bodis.com",
    "hugedomains.com",
    "parklogic.com",
    "above.com",
    "afternic.com",
    "dan.com",
    "wsimg.com/parking-lander",
    "parking.reg.ru",
)
# Words of their pages, in small letters; they count in the title, and anywhere in a small page.
PARKING_WORDS = (
    "domain is for sale",
    "domain may be for sale",
    "domain name is for sale",
    "buy this domain",
    "domain is parked",
    "parked domain",
    "this domain has expired",
    "dominio en venta",
    "dominio está en venta",
    "domaine est à vendre",
    "domain steht zum verkauf",
)
_PARKING_HOST = re.compile("|".join(rf"//(?:[a-z0-9-]{{1,63}}\.){{0,5}}{re.escape(host)}" for host in PARKING_HOSTS))


@dataclass(frozen=True)
class Page:
    """What is read of a page; "" for what it does not say. ``language`` is a code such as ``en``."""

    title: str = ""
    language: str = ""
    is_parked: bool = False


def read(body: bytes, content_type: str, content_language: str) -> Page:
    """Return what the beginning of a page says; the headers are those of the answer."""
    text = _decoded(body, content_type)
    title = _plain(match[1]) if (match := _TITLE.search(text)) else ""
    language = match[1] if (match := _LANGUAGE.search(text[:SMALL])) else _first_language(content_language)
    return Page(title[:TITLE_MAX], language.lower(), is_parked(title, text))


def is_parked(title: str, text: str) -> bool:
    """Return True if a page looks like one of a parking service."""
    lower, said = text.lower(), title.lower()
    if _PARKING_HOST.search(lower):
        return len(text) <= SMALL
    words = f"{said} {lower}" if len(text) <= SMALL else said
    return any(each in words for each in PARKING_WORDS)


def _decoded(body: bytes, content_type: str) -> str:
    match = _CHARSET.search(content_type) or _CHARSET.search(body[:2000].decode("latin-1"))
    encoding = match[1].lower() if match else "utf-8"
    return body.decode(encoding if _ENCODINGS.fullmatch(encoding) else "utf-8", errors="replace")


def _plain(text: str) -> str:
    """Return a text of HTML as text in one line, which every database stores and every page shows."""
    text = " ".join(html.unescape(text).split())
    return "".join(each for each in text if each.isprintable())


def _first_language(header: str) -> str:
    match = _FIRST_LANGUAGE.match(header.strip())
    return match[0] if match else ""
