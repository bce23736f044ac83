"""How a request must come: by the right method, with the token of its own session, from our own pages."""

from typing import Any

from pyramid.scripting import prepare
from sqlalchemy import select

from tests.site import JFK, Client, Site

ELSEWHERE = [
    "https://evil.example",
    "http://localhost.evil.example",
    "https://localhost",
    "http://localhost:81",
    "null",
]


def raw(client: Client, method: str, address: str, body: str = "", **headers: str) -> Any:
    """Send just this: no token is added."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    form = "application/x-www-form-urlencoded"
    return client.app.request(
        address, method=method, body=body.encode(), content_type=form, headers=sent, expect_errors=True
    )


METHODS = [
    ("PUT", "/admin/{kind}", {"GET", "HEAD", "POST"}),
    ("DELETE", "/admin/{kind}", {"GET", "HEAD", "POST"}),
    ("PATCH", "/admin/{kind}", {"GET", "HEAD", "POST"}),
    ("POST", "/admin/{kind}/{id}", {"GET", "HEAD", "PUT", "DELETE"}),
    ("PATCH", "/admin/{kind}/{id}", {"GET", "HEAD", "PUT", "DELETE"}),
    ("POST", "/admin/{kind}/create", {"GET", "HEAD"}),
    ("PUT", "/admin/{kind}/{id}/edit", {"GET", "HEAD"}),
    ("DELETE", "/admin/{kind}/{id}/delete", {"GET", "HEAD"}),
    ("POST", "/admin/activity", {"GET", "HEAD"}),
    ("POST", "/admin", {"GET", "HEAD"}),
    ("DELETE", "/login", {"GET", "HEAD", "POST"}),
    ("GET", "/logout", {"POST"}),
    ("POST", "/healthz", {"GET", "HEAD"}),
]


def test_a_wrong_method_is_told_the_right_ones(client: Client, kind: str) -> None:
    record_id = client.create(kind)

    for method, address, allowed in METHODS:
        for accept in ("text/html", "application/json"):
            answer = raw(client, method, address.format(kind=kind, id=record_id), Accept=accept)
            assert answer.status_int == 405, (method, address)
            assert set(answer.headers["Allow"].replace(" ", "").split(",")) - {"OPTIONS"} == allowed, address


def test_a_write_needs_the_token_of_its_own_session(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    foreign = site.client().csrf
    body = "airport_name=x+(JFK)&company_name=Beta"
    for method, address in (("POST", f"/admin/{kind}"), ("PUT", f"/admin/{kind}/{record_id}")):
        assert raw(client, method, address, body).status_int == 400
        assert raw(client, method, f"{address}?csrf_token={client.csrf}", body).status_int == 400
        for token in (foreign, "", "x", client.csrf.upper(), client.csrf[:-1], "%C3%A9", "%00"):
            assert raw(client, method, address, f"{body}&csrf_token={token}").status_int == 400, token
            if "%" not in token:
                assert raw(client, method, address, body, X_CSRF_Token=token).status_int == 400, token
    assert raw(client, "DELETE", f"/admin/{kind}/{record_id}").status_int == 400
    assert raw(client, "DELETE", f"/admin/{kind}/{record_id}", X_CSRF_Token=foreign).status_int == 400
    row = site.row(kind, record_id)
    assert (row["company_name"], row["deleted_at"], len(site.entries())) == (None, None, 1)
    assert site.count(site.kinds[kind].model) == 1


def test_the_token_counts_as_a_field_and_as_a_header(site: Site, client: Client, kind: str) -> None:
    record_id, token = client.create(kind), client.csrf
    address, body = f"/admin/{kind}/{record_id}", "airport_name=x+(JFK)&company_name="

    by_field = raw(client, "PUT", address, f"{body}Beta&csrf_token={token}")
    by_header = raw(client, "PUT", address, f"{body}Gamma", X_CSRF_Token=token)
    by_form = raw(client, "POST", address, f"_method=DELETE&csrf_token={token}")

    assert [by_field.status_int, by_header.status_int, by_form.status_int] == [303, 303, 303]


def test_a_write_from_another_origin_is_refused(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)
    fields = {"airport_name": JFK, "company_name": "Beta"}

    for origin in ELSEWHERE:
        assert client.put(f"/admin/{kind}/{record_id}", fields, Origin=origin).status_int == 400, origin
    assert site.row(kind, record_id)["company_name"] is None
    assert client.put(f"/admin/{kind}/{record_id}", fields, Origin="http://localhost").status_int == 303


def test_signing_in_and_out_need_the_token_too(client: Client) -> None:
    assert raw(client, "POST", "/login", "username=the-viewer&password=x").status_int == 400
    assert raw(client, "POST", "/logout").status_int == 400
    assert client.get("/admin").status_int == 200


def test_a_refusal_is_problem_details_for_a_program(client: Client, kind: str) -> None:
    answer = raw(client, "POST", f"/admin/{kind}", "airport_name=x", Accept="application/json")

    assert (answer.status_int, answer.content_type) == (400, "application/problem+json")
    assert answer.json["status"] == 400


def test_a_request_that_did_not_come_in_can_ask_the_database(site: Site) -> None:
    """As in pshell."""
    with prepare(registry=site.registry) as prepared:
        assert prepared["request"].dbsession.scalar(select(1)) == 1
