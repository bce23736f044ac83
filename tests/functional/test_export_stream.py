"""Exports over a real server: a client that leaves, many at a time, changes meanwhile, and errors in the middle."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from groundtransport import db
from groundtransport.db.snapshot import snapshot
from groundtransport.security_log.log import SecurityLog
from groundtransport.transfer.export import records, rows, stream
from groundtransport.transfer.export.formats import Format
from tests.integrity import session_of
from tests.serving import Server, running
from tests.site import Client, Site


def many(site: Site, number: int) -> None:
    """Store records with long texts, past the writer: only their number and size matter."""
    model = site.kinds["transit"].model
    site.client().create("transit", company_name="First")
    table = model.__table__
    with site.engine.connect() as connection:
        row = dict(connection.execute(select(table)).mappings().one())
    for name in ("id", "form_token"):
        del row[name]
    row["description"] = "x" * 5_000
    with db.write_engine(site.engine).begin() as connection:
        for start in range(0, number, 1_000):
            connection.execute(table.insert(), [row] * min(1_000, number - start))


def until(what: Any) -> Any:
    """Return what a function gives once it is true."""
    end = time.monotonic() + 30
    while not (result := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return result


@pytest.fixture
def server(site: Site, tmp_path: Path) -> Iterator[Server]:
    result = Server(tmp_path, site.url)
    result.start()
    with running(result):
        yield result


def ask(server: Server, site: Site, file_format: str) -> socket.socket:
    """Send the request of an export, and return the connection."""
    cookie = f"groundtransport={session_of(site, 'the-editor')}"
    connection = server.connect()
    target = f"/admin/transit/export?format={file_format}"
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
    return connection


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["csv", "jsonl", "xlsx"])
def test_a_client_that_leaves_ends_the_query(site: Site, server: Server, file_format: str) -> None:
    many(site, 6_000)  # 30 MB: more than the buffers between the two hold
    connection = ask(server, site, file_format)
    if file_format != "xlsx":  # which is sent when it is complete
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
    connection.close()

    (event,) = until(lambda: site.events("export"))

    assert event["details"]["end"] == "not complete"
    assert int(event["details"]["rows"]) <= 6_001


@pytest.mark.slow
def test_the_whole_file_arrives_in_chunks(site: Site, server: Server) -> None:
    many(site, 5_000)
    connection = ask(server, site, "jsonl")
    answer = http.client.HTTPResponse(connection)
    answer.begin()

    lines = answer.read().splitlines()

    assert answer.getheader("Transfer-Encoding") == "chunked"
    assert len(lines) == 5_001
    connection.close()
    (event,) = until(lambda: site.events("export"))
    assert event["details"] == {"what": "transit", "format": "jsonl", "rows": "5001"}


def test_more_exports_than_the_process_allows_are_told_to_wait(site: Site, client: Client) -> None:
    slots = site.registry["export_slots"]
    with slots.take(), slots.take():
        refused = client.get("/admin/transit/export", {"format": "csv"})

    assert refused.status_int == 503
    assert refused.headers["Retry-After"] == "60"
    assert "Other people are exporting" in refused.html.main.get_text()
    assert client.get("/admin/transit/export", {"format": "csv"}).status_int == 200
    for _ in range(3):
        assert client.get("/admin/transit/export", {"format": "csv", "column": "nothing"}).status_int == 422
    assert client.get("/admin/activity/csv").status_int == 200, "a refused export frees its place"


def test_an_answer_that_nobody_reads_frees_its_place(site: Site, client: Client) -> None:
    for _ in range(3):
        assert client.app.head("/admin/transit/export?format=csv").status_int == 200


def test_a_file_shows_one_state_of_the_database(site: Site, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "CHUNK", 1)
    for name in ("Alpha", "Beta", "Gamma"):
        client.create("transit", company_name=name)
    selection = rows.Selection(site.kinds["transit"], records_query(site, "company_name"))
    with snapshot(site.engine, 60) as connection:
        chunks = rows.read_chunks(connection, selection, ["company_name"])
        first = next(chunks)[0].company_name
        last = client.rows("transit", sort="-company_name")[0]["id"]
        client.delete(f"/admin/transit/{last}")
        client.create("transit", company_name="Beta two")
        others = [row.company_name for chunk in chunks for row in chunk]

    assert [first, *others] == ["Alpha", "Beta", "Gamma"]


def records_query(site: Site, sort: str) -> Any:
    from groundtransport.records.list.query import read_query

    return read_query(site.kinds["transit"], {"sort": [sort]}, 10)


def test_an_error_in_the_middle_is_no_complete_file(site: Site, client: Client) -> None:
    client.create("transit")
    log: SecurityLog = site.registry["security_log"]
    selection = rows.Selection(site.kinds["transit"], records_query(site, ""))
    entry = stream.Entry(stream_event(), "somebody", details={"what": "transit"})
    whole = records.export_of(selection, records.Options(Format.JSONL), entry, str)

    def fail(chunks: Any) -> Iterator[bytes]:
        yield from whole.write(chunks)
        raise RuntimeError("the disk is full")

    parts = stream.run_export(stream.Export(whole.read, fail, entry), site.engine, log)
    with pytest.raises(RuntimeError, match="full"):
        list(parts)

    (event,) = site.events("export")
    assert event["details"] == {"what": "transit", "rows": "1", "end": "not complete"}


def stream_event() -> Any:
    from groundtransport.security_log.events import Event

    return Event.EXPORT


def test_a_client_that_is_too_slow_is_cut_off(site: Site, client: Client) -> None:
    client.create("transit")
    entry = stream.Entry(stream_event(), "somebody")
    selection = rows.Selection(site.kinds["transit"], records_query(site, ""))
    export = records.export_of(selection, records.Options(Format.JSONL), entry, str)
    parts = stream.run_export(export, site.engine, site.registry["security_log"], 0.2)
    next(parts)
    threading.Event().wait(0.3)

    with pytest.raises(stream.TooSlow):
        next(parts)
