"""Where the time of a request goes, by whose code it is spent in, and how far it is to the bare limit."""

import cProfile
import pstats
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from pyramid.paster import get_app
from sqlalchemy import create_engine
from webtest import TestApp

from benchmarks.client import Client
from benchmarks.data import KIND, PASSWORD, USER, Database
from benchmarks.ours import LIST, distinct, serving

REPEATS = 100
TITLES = {"a_list": "a list JSON", "a_page": "a' list as HTML page", "j_create": "j create"}
# The folder of a file, below site-packages, and what it is part of.
PARTS = {
    "groundtransport": "this service",
    "benchmarks": "the measuring",
    "sqlalchemy": "SQLAlchemy",
    "zope": "Pyramid, WebOb, transaction",
    "transaction": "Pyramid, WebOb, transaction",
    "pyramid": "Pyramid, WebOb, transaction",
    "pyramid_tm": "Pyramid, WebOb, transaction",
    "pyramid_retry": "Pyramid, WebOb, transaction",
    "webob": "Pyramid, WebOb, transaction",
    "jinja2": "Jinja2 and translations",
    "pyramid_jinja2": "Jinja2 and translations",
    "markupsafe": "Jinja2 and translations",
    "translationstring": "Jinja2 and translations",
    "colander": "colander, deform, Chameleon",
    "deform": "colander, deform, Chameleon",
    "peppercorn": "colander, deform, Chameleon",
    "chameleon": "colander, deform, Chameleon",
    "psycopg": "driver and database",
    "phonenumbers": "phonenumbers",
    "webtest": "the measuring",
}
DRIVER, OTHER = "driver and database", "Python's own library"
_BELOW = re.compile(r"(?:site-packages/|/)(?P<top>groundtransport|benchmarks|(?<=site-packages/)[a-z0-9_]+)[/.]")


def measure(database: Database) -> dict[str, Any]:
    """Return each request's shares in percent, and the limits in ms."""
    return {"profile": _profiles(database), "limits": _limits(database)}


def _profiles(database: Database) -> dict[str, dict[str, float]]:
    asked = _requests(database)
    return {name: _shares(ask) for name, ask in asked.items()}


def _requests(database: Database) -> dict[str, Callable[[], object]]:
    """Return the requests as calls of the application, in this process, by somebody who is signed in."""
    client = TestApp(get_app(str(database.ini)), extra_environ={"HTTP_HOST": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1"})
    form = client.get("/login").forms[0]
    form["username"], form["password"] = USER, PASSWORD
    form.submit(status=303)
    page = client.get("/admin/profile").html
    token = page.select_one("input[name=csrf_token]")["value"]
    ((airport,),) = database.query(f"SELECT airport_name FROM {KIND} WHERE id = {database.size // 2 + 3}")

    def create() -> None:
        values = {"airport_name": str(airport), "company_name": distinct("Benchmark Profile"), "csrf_token": token}
        client.post(LIST, values, status=303)

    return {
        "a_list": lambda: client.get(f"{LIST}?ajax=1&draw=1&start=0&length=25"),
        "a_page": lambda: client.get(LIST),
        "j_create": create,
    }


def _shares(ask: Callable[[], object]) -> dict[str, float]:
    for _ in range(10):
        ask()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(REPEATS):
        ask()
    profile.disable()
    spent: Counter[str] = Counter()
    stats: Any = pstats.Stats(profile)
    for (file, _line, name), (_cc, _nc, own, _ct, callers) in stats.stats.items():
        if file != "~":
            spent[_part(file)] += own
        elif "sqlite3" in name or "psycopg" in name:
            spent[DRIVER] += own
        else:  # of Python itself: it works for its callers
            for (caller, _, _), (_, _, share, _) in callers.items():
                spent[_part(caller)] += share
    spent.pop("the measuring", None)
    whole = sum(spent.values())
    return {part: own / whole * 100 for part, own in spent.most_common()}


def _part(file: str) -> str:
    if file.endswith(".jinja2") or "<template>" in file:
        return PARTS["jinja2"]
    if file.endswith(".pt"):
        return PARTS["chameleon"]
    found = _BELOW.search(file)
    return PARTS.get(found["top"], OTHER) if found else OTHER


def _limits(database: Database) -> dict[str, float]:
    """Return the ms of 25 rows by the driver alone, and of a page that is empty."""
    engine = create_engine(database.url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        query = f"SELECT * FROM {KIND} WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 25"
        rows = _median(lambda: driver.execute(query).fetchall())
    engine.dispose()
    with serving(database) as server:
        client = Client(server.port)
        empty = _median(lambda: client.ask("GET", "/healthz"))
        client.sign_in(USER, PASSWORD)
        page = _median(lambda: client.ask("GET", f"{LIST}?ajax=1&draw=1&start=0&length=25"))
    return {"rows": rows, "empty": empty, "list": page}


def _median(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(300):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)
