"""Settings of the ini file and the environment, read once into a frozen object.

A missing, unknown or invalid setting stops the start with its name. No other module reads the environment.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from groundtransport.settings import parsing
from groundtransport.settings.database_url import database_url
from groundtransport.settings.errors import PREFIX, SettingsError
from groundtransport.settings.parsing import NUMBERS, PAGE_SIZES, DaysByKind
from groundtransport.settings.secret_texts import SECRET_MIN_LENGTH, secret_of, secrets_of

__all__ = [
    "ANONYMOUS_BODY_LIMIT",
    "JOB_RUNNERS",
    "LARGE_BODY",
    "PAGE_SIZES",
    "PREFIX",
    "SECRET_MIN_LENGTH",
    "SERVER_SETTINGS",
    "Settings",
    "SettingsError",
    "read",
    "secret_of",
    "server_settings",
    "variable",
]

_T = TypeVar("_T")

VERIFY_AFTER = DaysByKind(180)
LARGE_BODY = 8 * 1024 * 1024  # bytes of a request, except for the upload of a file; keep equal to deploy/nginx.conf
ANONYMOUS_BODY_LIMIT = 64 * 1024  # bytes of a request without a sign-in; keep equal to deploy/nginx.conf
JOB_RUNNERS = ("thread", "worker")


def _setting(default: _T, meaning: str) -> _T:
    """Return a dataclass field for a setting. Its ``meaning`` is shown by ``groundtransport settings``."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """All settings. Times are in seconds, sizes in bytes; ``secrets`` has the newest secret first."""

    database_url: str
    secrets: tuple[bytes, ...] = field(repr=False)
    audit_secrets: tuple[bytes, ...] = field(repr=False)
    hosts: tuple[str, ...] = _setting((), "host names of the service, separated by blanks; required")
    page_size: int = _setting(25, "rows of a list's page, unless the user chose another number: 10, 25, 50 or 100")
    default_country: str = _setting("US", "country of telephone numbers without one (ISO 3166-1, two letters)")
    session_idle: int = _setting(30 * 60, "seconds without a request after which a session ends")
    session_absolute: int = _setting(12 * 60 * 60, "seconds after the sign-in after which a session ends")
    body_limit: int = _setting(2 * 1024 * 1024, "largest body of a request, in bytes")
    verify_after_days: DaysByKind = _setting(  # noqa: RUF009  # the default is frozen
        VERIFY_AFTER, "days after which a record is due to be verified again; other numbers for kinds: `180 transit=90`"
    )
    security_log_days: int = _setting(365, "age in days from which `security prune` deletes security events")
    second_factor_roles: tuple[str, ...] = _setting((), "roles that require a second factor, separated by blanks")
    export_roles: tuple[str, ...] = _setting(
        ("editor", "administrator"), "roles that may export lists, separated by blanks"
    )
    trust_request_id: bool = _setting(default=False, meaning="`true` if the proxy in front sets `X-Request-Id`")
    pgbouncer: bool = _setting(
        default=False, meaning="`true` if the database URL is that of PgBouncer in transaction mode"
    )
    worker: str = _setting(
        "", "name of this process in `application_name` of PostgreSQL; by default the host's name and the process id"
    )
    pool_size: int = _setting(
        32, "connections to the database that a process keeps, at least twice its threads; up to 10 more for a moment"
    )
    pool_timeout: int = _setting(2, "seconds that a request waits for one of these connections")
    replica_url: str = field(
        default="",
        repr=False,
        metadata={"meaning": "URL of standbys that answer requests which only read; none if unset; also as `_FILE`"},
    )
    replica_max_lag: int = _setting(5, "seconds that a standby may be behind; further behind, the leader answers")
    database_timeout: int = _setting(
        4, "seconds that a statement of a request, or its wait for a lock, may take; all of them half a second more"
    )
    jobs: str = _setting(
        JOB_RUNNERS[0], "`thread`: the server executes background jobs; `worker`: `groundtransport worker` does"
    )
    api_body_limit: int = _setting(4 * 1024 * 1024, "largest body of a request to the API, in bytes")
    api_rate_limit: int = _setting(600, "requests a minute of one token of the API; 0 for no limit")
    api_origins: tuple[str, ...] = _setting((), "origins whose scripts may call the API (CORS), separated by blanks")
    public_kinds: tuple[str, ...] = _setting((), "kinds whose active records anybody may read below `/public/v1`")
    public_fields: tuple[str, ...] = _setting((), "fields of these records that are public; all, if none is named")
    public_rate_limit: int = _setting(60, "requests a minute of one client IP below `/public`; 0 for no limit")
    webhooks_private: bool = _setting(
        default=False, meaning="`true` if webhooks may have private addresses and `http`, for an intranet"
    )
    links_user_agent: str = _setting(
        "groundtransport-links", "`User-Agent` of link checks; its first word is the name in robots.txt"
    )
    links_private: bool = _setting(
        default=False, meaning="`true` if checked links may have private addresses, for an intranet"
    )
    import_rows: int = _setting(200_000, "most rows of an imported file")
    import_size: int = _setting(50 * 1024 * 1024, "largest imported file, in bytes")
    import_columns: int = _setting(200, "most columns of an imported file")
    import_cell: int = _setting(32_767, "longest cell of an imported file, in characters; the default is Excel's limit")
    import_unpacked: int = _setting(
        300 * 1024 * 1024, "largest unpacked size of an imported workbook or feed, in bytes"
    )

    @cached_property
    def request_budget(self) -> float:
        """Seconds that a request waits for the database in all."""
        return self.database_timeout + 0.5

    @property
    def is_sqlite(self) -> bool:
        """True if the database is SQLite."""
        return self.database_url.startswith("sqlite")


def read(ini: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of an ``[app:main]`` section. Raise SettingsError with the name of an invalid setting."""
    ours = {key.removeprefix(PREFIX): value for key, value in ini.items() if key.startswith(PREFIX)}
    ours |= _from_environment((*NUMBERS, *(OTHERS - SECRET_FILES)), environ)
    unknown = set(ours) - set(NUMBERS) - OTHERS
    if unknown:
        raise SettingsError(f"Unknown setting: {PREFIX}{sorted(unknown)[0]}")
    numbers = {name: parsing.number(name, ours[name]) for name in NUMBERS if name in ours}
    if numbers.get("page_size", PAGE_SIZES[0]) not in PAGE_SIZES:
        raise SettingsError(f"{PREFIX}page_size must be one of {', '.join(map(str, PAGE_SIZES))}")
    return Settings(
        database_url=database_url(secret_of("DATABASE_URL", environ) or ini.get("sqlalchemy.url", "")),
        secrets=secrets_of("GROUNDTRANSPORT_SECRET", "secret_file", ours, environ),
        audit_secrets=secrets_of("GROUNDTRANSPORT_AUDIT_SECRET", "audit_secret_file", ours, environ),
        hosts=parsing.hosts(ours.get("hosts", "")),
        default_country=parsing.country(ours.get("default_country", "US")),
        second_factor_roles=tuple(ours.get("second_factor_roles", "").split()),
        export_roles=tuple(ours.get("export_roles", "editor administrator").split()),
        trust_request_id=parsing.yes_no("trust_request_id", ours.get("trust_request_id", "false")),
        verify_after_days=parsing.days_by_kind("verify_after_days", ours.get("verify_after_days", str(VERIFY_AFTER))),
        replica_url=_replica_url(secret_of(variable("replica_url"), environ) or ours.get("replica_url", "")),
        pgbouncer=parsing.yes_no("pgbouncer", ours.get("pgbouncer", "false")),
        worker=parsing.worker(ours.get("worker", "")),
        jobs=parsing.one_of("jobs", ours.get("jobs", JOB_RUNNERS[0]), JOB_RUNNERS),
        webhooks_private=parsing.yes_no("webhooks_private", ours.get("webhooks_private", "false")),
        links_user_agent=parsing.user_agent(ours.get("links_user_agent", "groundtransport-links")),
        links_private=parsing.yes_no("links_private", ours.get("links_private", "false")),
        api_origins=parsing.origins(ours.get("api_origins", "")),
        public_kinds=tuple(ours.get("public_kinds", "").split()),
        public_fields=tuple(ours.get("public_fields", "").split()),
        **numbers,
    )


def _replica_url(text: str) -> str:
    """Return the URL of the replica as SQLAlchemy reads it; "" without one. Raise SettingsError for another one."""
    if not text:
        return ""
    url = database_url(text, f"{PREFIX}replica_url")
    if url.startswith("sqlite"):
        raise SettingsError(f"{PREFIX}replica_url: SQLite has no replicas")
    return url


SECRET_FILES = {"secret_file", "audit_secret_file"}  # ini only: a file that does not exist is created
OTHERS = {
    "verify_after_days",
    "jobs",
    "hosts",
    "default_country",
    *SECRET_FILES,
    "second_factor_roles",
    "export_roles",
    "trust_request_id",
    "pgbouncer",
    "replica_url",
    "worker",
    "api_origins",
    "public_kinds",
    "public_fields",
    "webhooks_private",
    "links_user_agent",
    "links_private",
}


def server_settings(ini: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings of an ini's ``[server:main]``, as text; those of the environment take precedence."""
    return {**ini, **_from_environment(SERVER_SETTINGS, environ)}


# Settings of [server:main] that the environment can set, and what they are: waitress', ``drain`` and ``monitor``.
SERVER_SETTINGS = {
    "listen": "addresses to listen on, `host:port`, separated by blanks",
    "threads": "number of threads that handle requests",
    "drain": "seconds after SIGTERM during which `/readyz` answers 503, before the listening socket is closed (0 to 5)",
    "monitor": "address of the listener for metrics and probes, `host:port`; none if unset",
    "trusted_proxy": "IP address of the proxy whose `X-Forwarded-*` headers are trusted",
    "trusted_proxy_count": "number of proxies in front",
    "connection_limit": "largest number of connections",
    "channel_timeout": "seconds after which an idle connection is closed",
    "max_request_body_size": "largest body that the server receives, in bytes; at least `body_limit`",
}


def variable(name: str) -> str:
    """Return the environment variable of a setting: ``page_size`` -> ``GROUNDTRANSPORT_PAGE_SIZE``."""
    return f"GROUNDTRANSPORT_{name.upper()}"


def _from_environment(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[variable(name)] for name in names if variable(name) in environ}
