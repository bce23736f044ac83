"""Settings of the ini file and the environment, read once into a frozen object.

A missing, unknown or invalid setting stops the start with its name. No other module reads the environment.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pycountry
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

PREFIX = "groundtransport."
PAGE_SIZES = (10, 25, 50, 100)
ANONYMOUS_BODY_LIMIT = 64 * 1024  # bytes of a request without a sign-in; keep equal to deploy/nginx.conf
SECRET_MIN_LENGTH = 32  # characters; NIST SP 800-107 demands HMAC keys of at least 112 bits


class SettingsError(SystemExit):
    """A setting is missing or invalid. As a SystemExit it ends ``pserve`` with its message, without a traceback."""


@dataclass(frozen=True)
class Settings:
    """All settings. Times are in seconds, sizes in bytes; ``secrets`` has the newest secret first."""

    database_url: str
    secrets: tuple[bytes, ...] = field(repr=False)
    audit_secrets: tuple[bytes, ...] = field(repr=False)
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1")
    page_size: int = 25
    default_country: str = "US"
    session_idle: int = 30 * 60
    session_absolute: int = 12 * 60 * 60
    body_limit: int = 2 * 1024 * 1024
    security_log_days: int = 365
    second_factor_roles: tuple[str, ...] = ()

    @property
    def is_sqlite(self) -> bool:
        return self.database_url.startswith("sqlite")


def read(ini: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of an ``[app:main]`` section. Raise SettingsError with the name of an invalid setting."""
    ours = {key.removeprefix(PREFIX): value for key, value in ini.items() if key.startswith(PREFIX)}
    unknown = set(ours) - set(NUMBERS) - OTHERS
    if unknown:
        raise SettingsError(f"Unknown setting: {PREFIX}{sorted(unknown)[0]}")
    given = {name: _number(name, ours[name]) for name in NUMBERS if name in ours}
    if given.get("page_size", PAGE_SIZES[0]) not in PAGE_SIZES:
        raise SettingsError(f"{PREFIX}page_size must be one of {', '.join(map(str, PAGE_SIZES))}")
    return Settings(
        database_url=_database_url(environ.get("DATABASE_URL") or ini.get("sqlalchemy.url", "")),
        secrets=_secrets("GROUNDTRANSPORT_SECRET", "secret_file", ours, environ),
        audit_secrets=_secrets("GROUNDTRANSPORT_AUDIT_SECRET", "audit_secret_file", ours, environ),
        hosts=_hosts(ours.get("hosts", "")),
        default_country=_country(ours.get("default_country", "US")),
        second_factor_roles=tuple(ours.get("second_factor_roles", "").split()),
        **given,
    )


OTHERS = {"hosts", "default_country", "secret_file", "audit_secret_file", "second_factor_roles"}
NUMBERS = {
    "page_size": (min(PAGE_SIZES), max(PAGE_SIZES)),
    "session_idle": (60, 24 * 60 * 60),
    "session_absolute": (60, 7 * 24 * 60 * 60),
    "body_limit": (64 * 1024, 1024 * 1024 * 1024),
    "security_log_days": (30, 10 * 365),
}


def _number(name: str, text: str) -> int:
    low, high = NUMBERS[name]
    if not (text.isascii() and text.isdigit() and len(text) < 15 and low <= int(text) <= high):
        raise SettingsError(f"{PREFIX}{name} must be a whole number from {low} to {high}, not {text!r}")
    return int(text)


def _database_url(text: str) -> str:
    if not text:
        raise SettingsError("sqlalchemy.url is missing, and so is DATABASE_URL in the environment")
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise SettingsError("sqlalchemy.url is not a database URL") from None
    backend = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if backend not in ("sqlite", "postgresql"):
        raise SettingsError(f"sqlalchemy.url names {backend!r}; sqlite and postgresql are supported")
    if backend == "sqlite" and url.database in (None, "", ":memory:"):
        raise SettingsError("sqlalchemy.url: SQLite needs a file, not memory")
    driver = "postgresql+psycopg" if backend == "postgresql" else "sqlite"
    return url.set(drivername=driver).render_as_string(hide_password=False)


def _hosts(text: str) -> tuple[str, ...]:
    hosts = tuple(text.lower().split())
    if not hosts:
        raise SettingsError(f"{PREFIX}hosts is missing: the names under which the service is reached")
    bad = [host for host in hosts if set(host) & set("/@?#\\") or (":" in host and not host.startswith("["))]
    if bad:
        raise SettingsError(f"{PREFIX}hosts must hold names without scheme, port or path, not {bad[0]!r}")
    return hosts


def _country(text: str) -> str:
    if not text.isupper() or pycountry.countries.get(alpha_2=text) is None:
        raise SettingsError(
            f"{PREFIX}default_country must be a country of ISO 3166-1 in two capital letters, not {text!r}"
        )
    return text


def _secrets(name: str, setting: str, ours: Mapping[str, str], environ: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the secret ``name`` of the environment, or else of a file, which is created for development.

    ``<name>_OLD`` in the environment has previous secrets that are still accepted, separated by blanks.
    """
    file = ours.get(setting)
    try:
        newest = environ.get(name, "") or (_secret_of(Path(file)) if file else "")
    except OSError as error:
        raise SettingsError(f"{PREFIX}{setting}: {file} cannot be created or read: {error.strerror}") from error
    if not newest:
        raise SettingsError(f"{name} is missing in the environment")
    old = environ.get(f"{name}_OLD", "").split()
    for title, secret in ((name, newest), *((f"{name}_OLD", secret) for secret in old)):
        if len(secret) < SECRET_MIN_LENGTH:
            raise SettingsError(f"{title} is too short: at least {SECRET_MIN_LENGTH} characters")
    return tuple(secret.encode() for secret in (newest, *old))


def _secret_of(file: Path) -> str:
    """Return the secret in a file; create the file with a random secret if it does not exist."""
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(48))
        try:
            os.link(temporary, file)  # atomic: of two processes that start at once, the first wins
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return file.read_text().strip()
