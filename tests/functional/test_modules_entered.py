"""How many of our modules a request enters: what an engineer has to read to follow it."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import groundtransport
from tests.site import JFK, Client

PACKAGE = Path(groundtransport.__file__).parent
QUERY = ("records/list/", "records/search/")  # the path of a list's query, from the URL to the rows
OPTIONAL = {"monitoring/tracing.py"}  # entered if OpenTelemetry is installed, which only the tests need


def modules_entered(ask: Callable[[], Any]) -> list[str]:
    """Return the modules of ours whose functions are called while ``ask`` runs."""
    entered = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE) and frame.f_code.co_name != "<module>":
            entered.add(path.relative_to(PACKAGE).as_posix())

    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return sorted(entered - OPTIONAL)


def test_a_search_enters_few_modules(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha Coaches")
    client.rows(kind, q="coaches")
    entered = modules_entered(lambda: client.rows(kind, q="alpha", sort="company_name"))
    path = [name for name in entered if name.startswith(QUERY)]
    assert len(path) <= 13, path  # as measured
    assert len(entered) <= 59, entered  # as measured


def test_a_save_enters_few_modules(client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha Coaches")
    fields = [("airport_name", JFK), ("company_name", "Beta"), ("csrf_token", client.csrf)]
    entered = modules_entered(lambda: client.app.post(f"/admin/{kind}", fields, status=303))
    assert len(entered) <= 83, entered  # as measured, 5 of which keep the pairs of doubles
