"""The URL of the database, with one server or several."""

import re

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from groundtransport.settings.errors import SettingsError

# Several hosts as libpq writes them: scheme://[user[:password]@]host[:port],host[:port]...[/name][?query]
_HOSTS = re.compile(
    r"(?P<start>[a-z0-9+]+://(?:[^@/?]*@)?)(?P<hosts>[^@/?]*,[^@/?]*)(?P<name>/[^?]*)?(?:\?(?P<query>.*))?"
)


def _hosts_in_query(match: re.Match[str]) -> str:
    """Return a database URL with several hosts as SQLAlchemy writes it: ``scheme://user@/name?host=h1:5432&host=h2``."""
    hosts = [f"host={host}" for host in match["hosts"].split(",")]
    return f"{match['start']}{match['name'] or '/'}?{'&'.join(filter(None, [*hosts, match['query']]))}"


def database_url(text: str, name: str = "sqlalchemy.url") -> str:
    """Return the URL as SQLAlchemy reads it, with the driver.

    Raise SettingsError, which names the setting ``name``, if it is missing or unusable.
    """
    if not text:
        raise SettingsError(f"{name} is missing, and so is DATABASE_URL in the environment")
    try:
        url = make_url(_HOSTS.sub(_hosts_in_query, text, count=1))
    except (ArgumentError, ValueError):
        raise SettingsError(f"{name} is not a database URL") from None
    backend = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if backend not in ("sqlite", "postgresql"):
        raise SettingsError(f"{name} names {backend!r}; sqlite and postgresql are supported")
    if backend == "sqlite" and url.database in (None, "", ":memory:"):
        raise SettingsError(f"{name}: SQLite needs a file, not memory")
    driver = "postgresql+psycopg" if backend == "postgresql" else "sqlite"
    return url.set(drivername=driver).render_as_string(hide_password=False)
