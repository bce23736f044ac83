"""A database that is down, restarted or locked: an error page is shown, and no change is half done."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from groundtransport import db
from groundtransport.db import postgresql
from tests.functional.test_transaction import facts, send
from tests.site import JFK, Client, Site

pytestmark = pytest.mark.slow


@pytest.fixture
def cut_off_client(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A signed-in client whose database has just gone."""
    client = site.client()
    assert client.get("/admin").status_int == 200
    site.engine.dispose()

    def refuse_to_connect(*words: Any, **more: Any) -> Any:
        raise site.engine.dialect.dbapi.OperationalError("could not connect to db.internal")

    monkeypatch.setattr(site.engine.dialect, "connect", refuse_to_connect)
    yield client
    monkeypatch.undo()
    site.engine.dispose()


@pytest.mark.parametrize("address", ["/admin", "/admin/transit", "/admin/transit/1", "/admin/nowhere", "/readyz"])
def test_with_the_database_away_a_page_says_so(cut_off_client: Client, address: str) -> None:
    answer = cut_off_client.get(address)
    assert answer.status_int == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.html.find("main") is not None
    assert answer.html.find("link", rel="stylesheet") is not None
    assert "db.internal" not in answer.text
    assert "Traceback" not in answer.text


def test_with_the_database_away_a_program_gets_problem_details(cut_off_client: Client) -> None:
    answer = cut_off_client.get("/admin/transit?ajax=1", Accept="application/json")
    assert (answer.status_int, answer.content_type, answer.json["status"]) == (503, "application/problem+json", 503)
    assert int(answer.headers["Retry-After"]) > 0


def test_with_the_database_away_the_process_is_still_up(cut_off_client: Client) -> None:
    assert cut_off_client.get("/healthz").status_int == 200  # also for who carries a session
    assert cut_off_client.get("/static/base.css").status_int == 200  # else the page that says so would be a naked one


def test_with_the_database_away_a_write_is_refused_and_all_is_well_afterwards(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = client.csrf
    site.engine.dispose()
    with monkeypatch.context() as patch:

        def refuse_to_connect(*words: Any, **more: Any) -> Any:
            raise site.engine.dialect.dbapi.OperationalError("gone")

        patch.setattr(site.engine.dialect, "connect", refuse_to_connect)
        answer = send(client, "POST", "/admin/transit", {"airport_name": JFK}, token)
    assert answer.status_int == 503
    assert facts(site, "transit") == site.entries() == []
    assert client.post("/admin/transit", {"airport_name": JFK}).status_int == 303


CLOSE_ALL = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""


def test_a_connection_that_was_closed_is_noticed_before_the_request(site: Site, client: Client) -> None:
    """PostgreSQL was restarted; SQLite, which has no server, opens its file anew."""
    if site.engine.dialect.name == "postgresql":
        another = db.make_engine(site.registry["settings"])
        with another.connect() as connection:
            connection.execute(text(CLOSE_ALL))
        another.dispose()
    else:
        site.engine.dispose()
    assert client.get("/admin/transit").status_int == 200


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_connection_is_asked_in_one_go_and_keeps_its_statements(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes back after a while would wait for statements that are prepared anew."""
    for _ in range(8):
        assert client.get("/admin/transit").status_int == 200
    asked = text("SELECT count(*), pg_backend_pid() FROM pg_prepared_statements")
    with db.read_engine(site.engine).connect() as connection:
        prepared, process = connection.execute(asked).one()
    monkeypatch.setattr(postgresql, "FRESH", 0)
    with db.read_engine(site.engine).connect() as connection:
        assert connection.execute(asked).one() == (prepared, process)
    assert prepared > 0


def test_a_lock_that_is_not_given_up_ends_in_a_503(site: Site, kind: str) -> None:
    record_id = site.client().create(kind, company_name="Alpha")
    with site.again(**{"groundtransport.database_timeout": "1"}) as hasty:
        client = hasty.client()
        token, answers = client.csrf, []

        def save() -> None:
            fields = {"airport_name": JFK, "company_name": "Beta"}
            answers.append(send(client, "PUT", f"/admin/{kind}/{record_id}", fields, token).status_int)

        with db.transaction(site.engine) as dbsession:
            dbsession.get(site.kinds[kind].model, record_id, with_for_update=True)
            thread = threading.Thread(target=save)
            thread.start()
            thread.join(timeout=3)  # the usual limit is four seconds
            in_time = list(answers)
        thread.join()
    assert in_time == [503]
    assert site.row(kind, record_id)["company_name"] == "Alpha"
