"""Metrics that are read from the database, and the reasons of 503."""

from typing import Any

import pytest
from sqlalchemy.exc import OperationalError, TimeoutError

from groundtransport.web import readiness
from tests.site import JFK, Client, Site


def value(site: Site, name: str, **labels: str) -> float | None:
    return site.registry["metrics"].registry.get_sample_value(f"groundtransport_{name}", labels)


def test_numbers_of_the_database(site: Site, client: Client) -> None:
    client.create("transit", airport_name=JFK)
    client.create("transit", airport_name=JFK)
    assert (value(site, "log_position"), value(site, "sessions")) == (2, 1)
    assert value(site, "sign_in_failures") == 0
    other = site.anonymous()
    other.post("/login", {"name": "the-editor", "password": "wrong", "csrf_token": other.csrf})
    assert value(site, "sign_in_failures") == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [(TimeoutError("QueuePool limit"), "pool"), (OperationalError("SELECT", {}, Exception("away")), "database")],
)
def test_the_reason_of_a_503_is_counted(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(readiness.compatibility, "state_of", fail)
    before = value(site, "unavailable_total", reason=reason) or 0
    assert client.get("/readyz").status_int == 503
    assert value(site, "unavailable_total", reason=reason) == before + 1
