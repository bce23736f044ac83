"""Conversion of the texts of settings. Each function raises SettingsError, which names the setting."""

import re
from dataclasses import dataclass

import pycountry

from groundtransport.settings.errors import PREFIX, SettingsError

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)
_WORKER = re.compile(r"[A-Za-z0-9._:@-]{0,40}", re.ASCII)
_USER_AGENT = re.compile(r"[A-Za-z][A-Za-z_-]*[ -~]{0,200}", re.ASCII)
PAGE_SIZES = (10, 25, 50, 100)  # rows of a page of a list
# The settings that are whole numbers, with the least and the greatest value.
NUMBERS = {
    "page_size": (min(PAGE_SIZES), max(PAGE_SIZES)),
    "session_idle": (60, 24 * 60 * 60),
    "session_absolute": (60, 7 * 24 * 60 * 60),
    "body_limit": (64 * 1024, 1024 * 1024 * 1024),
    "security_log_days": (30, 10 * 365),
    "pool_size": (4, 1000),
    "pool_timeout": (1, 30),
    "database_timeout": (1, 30),
    "replica_max_lag": (1, 600),
    "api_body_limit": (64 * 1024, 1024 * 1024 * 1024),
    "api_rate_limit": (0, 1_000_000),
    "public_rate_limit": (0, 1_000_000),
    "import_rows": (1, 10_000_000),
    "import_size": (1024, 10 * 1024 * 1024 * 1024),
    "import_columns": (1, 10_000),
    "import_cell": (100, 100_000),  # the csv module of Python refuses longer ones
    "import_unpacked": (1024, 100 * 1024 * 1024 * 1024),
}
DAYS_MAX = 3650
_DAYS = re.compile(r"(?:([a-z][a-z0-9_]*)=)?([0-9]{1,5})", re.ASCII)


@dataclass(frozen=True)
class DaysByKind:
    """A number of days, and other numbers for some kinds, by the kind's name."""

    usual: int
    by_kind: tuple[tuple[str, int], ...] = ()

    def of(self, kind: str) -> int:
        """Return the number of days for a kind."""
        return dict(self.by_kind).get(kind, self.usual)

    def __str__(self) -> str:
        return " ".join([str(self.usual), *(f"{kind}={days}" for kind, days in self.by_kind)])


def number(name: str, text: str) -> int:
    """Return the number of a setting. Raise SettingsError if it is none, or outside the limits in ``NUMBERS``."""
    low, high = NUMBERS[name]
    if not (text.isascii() and text.isdigit() and len(text) < 15 and low <= int(text) <= high):
        raise SettingsError(f"{PREFIX}{name} must be a whole number from {low} to {high}, not {text!r}")
    return int(text)


def days_by_kind(name: str, text: str) -> DaysByKind:
    """Return the numbers of a text such as ``180 transit=90``. Raise SettingsError for another text."""
    matches = [_DAYS.fullmatch(part) for part in text.split()]
    pairs = [(match[1] or "", int(match[2])) for match in matches if match]
    numbers = dict(pairs)
    is_complete = len(numbers) == len(matches) and "" in numbers
    if not is_complete or not all(1 <= days <= DAYS_MAX for days in numbers.values()):
        raise SettingsError(f"{PREFIX}{name} must hold days from 1 to {DAYS_MAX}: 180, or 180 transit=90")
    return DaysByKind(numbers.pop(""), tuple(numbers.items()))


def yes_no(name: str, text: str) -> bool:
    """Return True for ``true``, False for ``false``; raise SettingsError for another text."""
    if text not in ("true", "false"):
        raise SettingsError(f"{PREFIX}{name} must be true or false, not {text!r}")
    return text == "true"


def one_of(name: str, text: str, choices: tuple[str, ...]) -> str:
    """Return the text if it is one of the choices; else raise SettingsError."""
    if text not in choices:
        raise SettingsError(f"{PREFIX}{name} must be one of {', '.join(choices)}, not {text!r}")
    return text


def hosts(text: str) -> tuple[str, ...]:
    """Return host names separated by blanks, in lower case; raise SettingsError if there are none or one is a URL."""
    names = tuple(text.lower().split())
    if not names:
        raise SettingsError(f"{PREFIX}hosts is missing: the names under which the service is reached")
    bad = [host for host in names if set(host) & set("/@?#\\,;") or (":" in host and not host.startswith("["))]
    if bad:
        raise SettingsError(
            f"{PREFIX}hosts must hold names separated by blanks, without scheme, port or path, not {bad[0]!r}"
        )
    return names


def origins(text: str) -> tuple[str, ...]:
    """Return origins separated by blanks, in lower case; raise SettingsError if one is no origin."""
    values = tuple(text.lower().split())
    bad = [origin for origin in values if not _ORIGIN.fullmatch(origin)]
    if bad:
        raise SettingsError(f"{PREFIX}api_origins must hold origins such as https://www.example.org, not {bad[0]!r}")
    return values


def user_agent(text: str) -> str:
    """Return a ``User-Agent``; raise SettingsError unless it is a line of ASCII that begins with a name."""
    if not _USER_AGENT.fullmatch(text):
        raise SettingsError(f"{PREFIX}links_user_agent must begin with a name of letters, not {text!r}")
    return text


def worker(text: str) -> str:
    """Return the name of a process; raise SettingsError unless it has at most 40 letters, digits and ``.-_:@``."""
    if not _WORKER.fullmatch(text):
        raise SettingsError(f"{PREFIX}worker must have at most 40 letters, digits and . _ : @ -, not {text!r}")
    return text


def country(text: str) -> str:
    """Return the code of a country of ISO 3166-1; raise SettingsError for another text."""
    if not text.isupper() or pycountry.countries.get(alpha_2=text) is None:
        raise SettingsError(
            f"{PREFIX}default_country must be a country of ISO 3166-1 in two capital letters, not {text!r}"
        )
    return text
