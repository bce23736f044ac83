"""Public records: off unless the ini names kinds, and then for everybody, in three formats."""

import csv
import gzip
import io
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from webob import Request
from webtest import TestApp

from groundtransport.public import ClientLimit, PublicFiles, check_settings, files
from groundtransport.settings import SettingsError
from tests.api import Program, make_token
from tests.site import JFK, Site

URL = "/public/v1/transit"
VALUES = {"airport_name": JFK, "company_name": "Airport Express", "source": "feed", "source_id": "7"}


@pytest.fixture
def public(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestApp]:
    """Somebody who is not signed in, while the transit services are public."""
    registry = site.registry
    monkeypatch.setitem(registry, "settings", replace(registry["settings"], public_kinds=("transit",)))
    monkeypatch.setitem(registry, "public_files", PublicFiles(site.engine, ()))
    monkeypatch.setitem(registry, "public_limit", ClientLimit(100))
    return TestApp(site.wsgi)


def get(app: TestApp, url: str = URL, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.get(url, headers=named, expect_errors=True)


def expire(site: Site) -> None:
    """Let a minute pass."""
    for slot in site.registry["public_files"]._slots.values():
        slot.checked_at = -files.MAX_AGE


def add(site: Site, **values: str) -> str:
    """Create a record and return its path in the API."""
    answer = Program(site, make_token(site)).post("/api/v1/transit", {**VALUES, **values})
    assert answer.status_int == 201, answer.text
    return str(answer.headers["Location"]).removeprefix("http://localhost")


def test_nothing_is_public_unless_the_ini_names_it(site: Site) -> None:
    for url in (URL, f"{URL}.csv", "/public/v1", "/public/v1/admin_user"):
        answer = get(TestApp(site.wsgi), url)
        assert (answer.status_int, answer.content_type) == (404, "application/problem+json"), url


def test_only_active_records_and_public_fields_are_shown(site: Site, public: TestApp) -> None:
    shown = add(site)
    add(site, company_name="Closed", status="inactive", source_id="8")
    deleted = add(site, company_name="Gone", source_id="9")
    Program(site, make_token(site)).delete(deleted, If_Match='"1"')

    (record,) = get(public).json["items"]
    assert record["id"] == int(shown.rpartition("/")[2])
    assert (record["company_name"], record["airport_code"]) == ("Airport Express", "JFK")
    assert record["updated_at"].endswith("Z")
    assert not {"source", "source_id", "version", "created_at", "deleted_by", "airport_id"} & set(record)
    for url in ("/public/v1/scheduledbus", f"{URL}.xml", f"{URL}.", f"{URL}/1"):
        assert get(public, url).status_int == 404, url
    assert public.post(URL, expect_errors=True).status_int == 405


def test_each_format_is_chosen_by_suffix_or_accept(site: Site, public: TestApp) -> None:
    add(site, company_name="=1+1")
    for by_suffix, by_accept in (
        (get(public, f"{URL}.csv"), get(public, Accept="text/csv")),
        (get(public, f"{URL}.geojson"), get(public, Accept="application/geo+json, */*;q=0.1")),
        (get(public, f"{URL}.json"), get(public, Accept="application/json")),
    ):
        assert by_suffix.body == by_accept.body
        assert by_suffix.content_type == by_accept.content_type
    (feature,) = get(public, f"{URL}.geojson").json["features"]
    longitude, latitude = feature["geometry"]["coordinates"]
    assert (round(longitude), round(latitude)) == (-74, 41)
    assert feature["properties"]["company_name"] == "=1+1"
    (line,) = csv.DictReader(io.StringIO(get(public, f"{URL}.csv").text))
    assert line["company_name"] == "'=1+1"  # a spreadsheet must not compute it
    assert get(public, Accept="text/html").status_int == 406


def test_the_answer_can_be_cached_by_everybody_and_names_nobody(site: Site, public: TestApp) -> None:
    add(site)
    answer = get(public, Accept_Encoding="gzip", Cookie="groundtransport=" + site.sign_in("editor"))
    assert answer.headers["Cache-Control"] == "public, max-age=60"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert {"Accept", "Accept-Encoding"} == set(answer.vary)
    assert "Set-Cookie" not in answer.headers
    plain = get(public)
    packed = Request.blank(URL, headers={"Accept-Encoding": "gzip"}).get_response(site.wsgi)  # WebTest would unpack it
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.content_length == len(packed.body)
    assert gzip.decompress(packed.body) == plain.body
    assert plain.content_length == len(plain.body)

    etag, modified = answer.headers["ETag"], answer.headers["Last-Modified"]
    for headers in ({"If_None_Match": etag}, {"If_None_Match": f'"x", {etag}'}, {"If_Modified_Since": modified}):
        unchanged = get(public, **headers)
        assert (unchanged.status_int, unchanged.body, unchanged.headers["ETag"]) == (304, b"", etag), headers
    assert get(public, If_None_Match='"x"', If_Modified_Since=modified).status_int == 200
    assert public.options(URL).headers["Access-Control-Allow-Headers"] == "If-None-Match"


def test_a_file_is_made_at_most_once_a_minute_and_after_a_change_alone(site: Site, public: TestApp) -> None:
    path, slots = add(site), site.registry["public_files"]._slots
    before = get(public)
    file = slots["transit", "json"].file
    Program(site, make_token(site)).patch(path, {"place": "Terminal 4"}, If_Match='"1"')
    assert get(public).body == before.body
    expire(site)
    after = get(public)
    assert after.json["items"][0]["place"] == "Terminal 4"
    assert after.headers["ETag"] != before.headers["ETag"]
    assert slots["transit", "json"].file is not file

    file = slots["transit", "json"].file
    expire(site)
    get(public)
    assert slots["transit", "json"].file is file


def test_the_file_before_is_sent_while_a_new_one_cannot_be_made(
    site: Site, public: TestApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "TIMEOUT", 0)
    before = get(public)
    slot = site.registry["public_files"]._slots["transit", "json"]
    expire(site)
    with slot.lock:
        assert get(public).body == before.body
        slot.file = None
        answer = get(public)
    assert (answer.status_int, answer.headers["Retry-After"]) == (503, "5")


def test_a_client_has_a_limit_of_its_own(site: Site, public: TestApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(site.registry, "public_limit", ClientLimit(2))
    assert [get(public).status_int for _ in range(3)] == [200, 200, 429]
    refused = get(public)
    assert refused.content_type == "application/problem+json"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["RateLimit"].startswith('"client";r=0;')
    other = TestApp(site.wsgi, extra_environ={"REMOTE_ADDR": "192.0.2.7"})
    assert get(other).status_int == 200


def test_many_records_are_sent_in_blocks(site: Site) -> None:
    lines = [b"x" * 100_000] * 30
    file = files.PublicFile(iter(lines), 0, None)
    assert file.size < 10_000
    blocks = list(file.unpacked())
    assert b"".join(blocks) == b"".join(lines)
    assert max(map(len, blocks)) <= files.BLOCK
    again = files.PublicFile(iter(lines), 1, file)
    assert (again.etag, again.modified_at) == (file.etag, file.modified_at)


def test_fields_are_chosen_by_name_and_a_wrong_name_stops_the_start(whole_site: Site) -> None:
    settings, kinds = whole_site.registry["settings"], whole_site.kinds
    assert files.public_names(kinds["transit"], ("route_name", "id")) == ["id", "route_name"]
    check_settings(replace(settings, public_kinds=("transit",), public_fields=("route_name",)), kinds)
    check_settings(replace(settings, public_fields=("route_name", "city")), kinds)
    for wrong in (
        {"public_kinds": ("trains",)},
        {"public_kinds": ("scheduledbus",), "public_fields": ("route_name",)},
        {"public_kinds": ("transit",), "public_fields": ("deleted_by",)},
        {"public_kinds": ("transit",), "public_fields": ("source",)},
        {"public_fields": ("compnay_name",)},
    ):
        with pytest.raises(SettingsError, match="names"):
            check_settings(replace(settings, **wrong), kinds)


def test_a_file_is_closed_when_nobody_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = threading.Event()
    monkeypatch.setattr(files.os, "close", lambda number: closed.set())
    file = files.PublicFile([b"a"], 0, None)
    reading = file.packed()
    del file
    assert not closed.is_set()
    assert list(reading)
    del reading
    assert closed.is_set()
