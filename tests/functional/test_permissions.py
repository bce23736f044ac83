"""Permissions: every URL by every method, without a sign-in and as viewer, editor and administrator."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import func, select

from groundtransport.audit.models import AdminActivity
from groundtransport.kinds import kinds
from groundtransport.security import Role
from tests.site import JFK, Client, Site

VIEWERS, EDITORS, ADMINISTRATORS = list(Role), [Role.EDITOR, Role.ADMINISTRATOR], [Role.ADMINISTRATOR]

# Method, address, and who may. {id} is a live record, {gone} a deleted one.
TABLE = [
    ("GET", "/admin", VIEWERS),
    ("GET", "/admin/activity", VIEWERS),
    ("GET", "/admin/activity?ajax=1", VIEWERS),
    ("GET", "/admin/airports?q=jfk", VIEWERS),
    ("GET", "/admin/airports/JFK", VIEWERS),
    ("GET", "/admin/profile", VIEWERS),
    ("GET", "/admin/profile/sessions", VIEWERS),
    ("POST", "/admin/profile/sessions", VIEWERS),
    ("GET", "/admin/users", ADMINISTRATORS),
    ("GET", "/admin/users/the-viewer", ADMINISTRATORS),
    ("POST", "/admin/users/the-viewer/sessions", ADMINISTRATORS),
    ("GET", "/admin/security", ADMINISTRATORS),
    ("GET", "/admin/security/csv", ADMINISTRATORS),
    ("GET", "/admin/activity/csv", EDITORS),
    ("GET", "/admin/imports", EDITORS),
    ("GET", "/admin/scheduledbus/get-city-scheduled", VIEWERS),
]
for name in kinds():
    TABLE += [
        ("GET", f"/admin/{name}", VIEWERS),
        ("GET", f"/admin/{name}?ajax=1", VIEWERS),
        ("GET", f"/admin/{name}/create", EDITORS),
        ("GET", f"/admin/{name}/export", EDITORS),
        ("GET", f"/admin/{name}/import", EDITORS),
        ("GET", f"/admin/{name}/export?format=csv", EDITORS),
        ("POST", f"/admin/{name}/export", EDITORS),
        ("POST", f"/admin/{name}", EDITORS),
        ("GET", f"/admin/{name}/{{id}}", VIEWERS),
        ("GET", f"/admin/{name}/{{id}}/edit?key={{key}}", EDITORS),
        ("PUT", f"/admin/{name}/{{id}}", EDITORS),
        ("GET", f"/admin/{name}/{{id}}/delete", EDITORS),
        ("DELETE", f"/admin/{name}/{{id}}", EDITORS),
        ("GET", f"/admin/{name}/{{id}}/history", VIEWERS),
        ("GET", f"/admin/{name}/{{gone}}/history", VIEWERS),
        ("POST", f"/admin/{name}/{{gone}}/restore", EDITORS),
    ]


def fill_in(site: Site, address: str, client: Client) -> str:
    """Put the ids of records, and the client's own edit key, into an address of the table."""
    if "{" not in address:
        return address
    administrator, kind = site.client(), address.split("/")[2]
    ids = {"id": administrator.create(kind, company_name="Alpha"), "gone": 0, "key": "0" * 32}
    if "{gone}" in address:
        ids["gone"] = administrator.create(kind)
        administrator.delete(f"/admin/{kind}/{ids['gone']}")
    if "{key}" in address:
        link = next((row["actions"].get("edit", "") for row in client.rows(kind) if row["id"] == ids["id"]), "")
        ids["key"] = link.partition("key=")[2][:32] or "0" * 32
    return address.format(**ids)


def send(client: Client, method: str, address: str) -> Any:
    return {"GET": client.get, "POST": client.post, "PUT": client.put, "DELETE": client.delete}[method](
        address, {"airport_name": JFK} if method in ("POST", "PUT") else ()
    )


def facts(site: Site) -> tuple[Any, ...]:
    """Return what a refused request must leave alone."""
    models = [kind.model for kind in site.kinds.values()]
    live = [site.scalar(select(func.count()).select_from(model).where(model.is_live())) for model in models]
    return [site.count(model) for model in models], live, site.count(AdminActivity)


def login_query(answer: Any) -> dict[str, list[str]] | None:
    """Return the query of a redirect to the sign-in page; None for another answer."""
    parts = urlsplit(answer.location or "")
    if answer.status_int != 303 or (parts.netloc, parts.path) != ("localhost", "/login"):
        return None
    return parse_qs(parts.query)


@pytest.mark.parametrize(("method", "address", "allowed"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE])
def test_each_role_may_do_what_the_table_says(site: Site, method: str, address: str, allowed: list[Role]) -> None:
    anonymous = site.anonymous()
    filled = fill_in(site, address, site.client())
    before = facts(site)
    assert login_query(send(anonymous, method, filled))["next"]
    assert facts(site) == before

    for role in Role:
        client = site.client(role)
        filled = fill_in(site, address, client)
        before = facts(site)

        answer = send(client, method, filled)

        if role in allowed:
            assert login_query(answer) is None, role
            assert answer.status_int == (200 if method == "GET" else 303), role
        else:
            assert login_query(answer) is not None, (role, answer.status)
            assert facts(site) == before


@pytest.mark.parametrize("permission", ["create", "edit", "delete"])
def test_who_lacks_a_permission_is_told_which_and_sent_nowhere(site: Site, kind: str, permission: str) -> None:
    record_id = site.client().create(kind)
    viewer = site.client(Role.VIEWER)
    address = {"create": f"/admin/{kind}/create"}.get(permission, f"/admin/{kind}/{record_id}/{permission}")

    refused = viewer.get(address)
    page = viewer.get(refused.location)

    assert login_query(refused)["next"] == [address]
    assert page.status_int == 200, "a redirect here would loop"
    text = page.html.find("main").get_text()
    assert "the-viewer" in text
    assert "does not allow" in text
    assert permission in text


def test_an_editor_without_a_permission_hears_the_same_as_json(site: Site, kind: str) -> None:
    answer = site.client(Role.VIEWER).post(f"/admin/{kind}", {"airport_name": JFK}, Accept="application/json")

    assert login_query(answer) is not None


def test_the_permission_is_asked_before_the_token_and_the_fields(site: Site, kind: str) -> None:
    viewer = site.client(Role.VIEWER)

    assert login_query(viewer.post(f"/admin/{kind}", {}, X_CSRF_Token="")) is not None
    assert viewer.post(f"/admin/{kind}/4711", {}, X_CSRF_Token="").status_int == 404


# Not signed in


def test_whatever_the_address_and_the_method_a_sign_in_comes_first(site: Site) -> None:
    paths = ["/admin", "/admin/", "/admin/nope", "/admin/transit/abc", "/admin/transit/1/nope", "//admin", "/admin//"]
    paths += ["/admin/%ff", "/admin/transit?q=%ff", "/admin/%00", "/./admin", "/static/../admin", "/x/../admin/transit"]
    anonymous = site.anonymous().app

    for path in paths:
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer = anonymous.request(path, method=method, expect_errors=True)
            assert login_query(answer) is not None, (method, path, answer.status)


def test_only_the_public_pages_need_no_sign_in(site: Site) -> None:
    anonymous = site.anonymous()

    assert [anonymous.get(page).status_int for page in ("/login", "/healthz", "/readyz")] == [200, 200, 200]
    assert anonymous.get("/nope").status_int == 404
    assert anonymous.get("/static/base.css").status_int == 200


WAYS_BACK = [
    ("GET", "/admin/{kind}?q=a%26b&page_no=2", "/admin/{kind}?q=a%26b&page_no=2"),
    ("GET", "/admin/{kind}/create", "/admin/{kind}/create"),
    ("GET", "/admin/{kind}/1/edit?key=abc&page_no=2", "/admin/{kind}/1/edit?key=abc&page_no=2"),
    ("GET", "/admin/{kind}/1/delete", "/admin/{kind}/1/delete"),
    ("GET", "/admin/{kind}/1/history", "/admin/{kind}/1/history"),
    ("GET", "/admin/activity", "/admin/activity"),
    ("GET", "/admin/nope", "/admin/nope"),
    ("GET", "/admin/{kind}?ajax=1&q=x", "/admin/{kind}"),
    ("GET", "/admin/{kind}/1", "/admin/{kind}"),
    ("GET", "/admin/{kind}/1/", "/admin/{kind}"),
    ("GET", "/admin/scheduledbus/get-city-scheduled?airport=x", "/admin/scheduledbus"),
    ("POST", "/admin/{kind}", "/admin/{kind}"),
    ("PUT", "/admin/{kind}/1", "/admin/{kind}"),
    ("DELETE", "/admin/{kind}/1", "/admin/{kind}"),
    ("POST", "/admin/{kind}/1/restore", "/admin/{kind}"),
]


def test_a_sign_in_leads_back_to_the_page_or_to_its_list(site: Site, kind: str) -> None:
    for method, address, back in WAYS_BACK:
        answer = site.anonymous().app.request(address.format(kind=kind), method=method)

        assert login_query(answer) == {"next": [back.format(kind=kind)]}, (method, address)
