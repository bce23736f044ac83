"""Protection against scripts of other sites: escaped texts, and the security headers of every response."""

import re
from pathlib import Path
from typing import Any

from groundtransport.security import Role
from tests.site import JFK, Client, Site

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}&amp;"
LINK = "https://alpha.example/\"'><script>alert(1)</script><img/src=x/onerror=alert(1)>"
TEXTS = ["company_name", "company_address", "route_name", "place", "description", "city"]


def assert_harmless(answer: Any) -> None:
    """Assert that a page shows the text as text: no script, image or handler of it has come alive."""
    page = answer.html
    assert "alert(1)" in answer.text, "the text should be there to be seen"
    assert [script for script in page.find_all("script") if not script.get("src", "").startswith("/static/")] == []
    assert [tag for tag in page.find_all(True) if any(name.startswith("on") for name in tag.attrs)] == []
    assert [image for image in page.find_all("img") if not image["src"].startswith("/static/")] == []
    links = [tag.get("href", "") for tag in page.find_all("a")]
    assert [link for link in links if not link.startswith(("/", "#", "https://", "http://", "tel:"))] == []
    assert "49&amp;amp;" not in answer.text  # no template was run


def test_markup_in_any_field_stays_text_on_every_page(client: Client, kind: str) -> None:
    fields = {name: EVIL for name in TEXTS if kind == "transit" or name in ("company_name", "company_address")}
    if kind == "transit":
        fields["company_link"] = LINK
    record_id = client.create(kind, **fields)
    here = f"/admin/{kind}"

    pages = [here, "/admin", "/admin/activity", f"{here}/{record_id}", f"{here}/{record_id}/delete"]
    for address in [*pages, f"{here}/{record_id}/history", client.edit_link(kind, record_id)]:
        answer = client.get(address)
        assert answer.status_int == 200, address
        assert_harmless(answer)
    if kind == "transit":
        for query in (
            {"q": "<script>alert(1)</script>"},
            {"q": "alert(1)", "sort": '"><script>', "find": str(record_id)},
        ):
            assert_harmless(client.get(here, query))  # found and marked, and the search in each row's addresses
    client.create(kind, **fields)
    assert_harmless(client.get("/admin/profile"))  # the message of the creation
    form = client.get(client.edit_link(kind, record_id)).forms["record"]
    assert {name: form[name].value for name in fields} == fields
    assert client.rows(kind)[0]["company_name"] == EVIL


def test_markup_that_is_refused_stays_text_in_the_form(client: Client, site: Site, kind: str) -> None:
    fields = dict.fromkeys(site.kinds[kind].fields, EVIL) | {"list_state": f"q={EVIL}", "version": EVIL}

    assert_harmless(client.post(f"/admin/{kind}", fields))
    record_id = client.create(kind)
    assert_harmless(client.put(f"/admin/{kind}/{record_id}", fields | {"airport_name": JFK}))
    refreshed = client.post(f"/admin/{kind}", fields | {"refresh": "1"})
    assert refreshed.status_int == 200
    assert_harmless(refreshed)


def test_markup_in_a_conflict_stays_text(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name=EVIL)

    answer = client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "x", "version": "9"})

    assert answer.status_int == 409
    assert_harmless(answer)


def test_markup_in_the_query_stays_text(client: Client, kind: str) -> None:
    for name in ("q", "company_name", "airport_name", "airport_code", "sort", "page_no", "page_size"):
        seen = {"company_address": "alert(1)"}  # a filter that is surely shown

        assert_harmless(client.get(f"/admin/{kind}", {**seen, name: EVIL}))


def test_markup_at_the_sign_in_stays_text(site: Site) -> None:
    client = site.anonymous()

    shown = client.get("/login", {"next": f"/admin?{EVIL}", "missing": EVIL})
    refused = client.post("/login", {"username": EVIL, "password": "x", "next": f"/admin?{EVIL}"})

    assert refused.status_int == 422
    assert_harmless(shown)
    assert_harmless(refused)
    signed_in = site.client(Role.VIEWER).get("/login", {"missing": EVIL})
    assert [script for script in signed_in.html.find_all("script") if not script.get("src")] == []


def test_a_sign_that_turns_the_writing_turns_its_own_element_alone(client: Client) -> None:
    style = (Path(__file__).parents[2] / "groundtransport/static/base.css").read_text()
    rule = re.search(r":is\(([^)]*)\) \{\s*unicode-bidi: isolate;", style)
    assert rule
    alone = {*rule[1].split(", "), "td", "dd", "h1", "title", "option", "textarea"}  # or a block by itself
    record_id = client.create("transit", company_name="\u202ealpha", description="\u202ebeta")
    client.put(f"/admin/transit/{record_id}", {"airport_name": JFK, "company_name": "\u202egamma"})

    pages = ["/admin", "/admin/transit", "/admin/activity", f"/admin/transit/{record_id}", "/admin/search?q=gamma"]
    for page in (*pages, f"/admin/transit/{record_id}/history", f"/admin/transit/{record_id}/delete"):
        turned = client.get(page).html.find_all(string=re.compile("\u202e"))
        assert turned, page
        assert {text.parent.name for text in turned} <= alone, page


# Headers


def answers(site: Site) -> dict[str, Any]:
    """Return an answer of every kind."""
    client, anonymous = site.client(), site.anonymous()
    record_id = client.create("transit")
    return {
        "200 page": client.get("/admin/transit"),
        "200 fragment": client.get(f"/admin/transit/{record_id}"),
        "200 json": client.get("/admin/transit?ajax=1"),
        "200 sign-in": anonymous.get("/login"),
        "200 health": anonymous.get("/healthz"),
        "200 static": anonymous.get("/static/base.css"),
        "303 sign-in": anonymous.get("/admin"),
        "303 write": client.post("/admin/transit", {"airport_name": JFK}),
        "400 token": client.post("/admin/transit", {"airport_name": JFK}, X_CSRF_Token=""),
        "400 encoding": client.get("/admin/transit?q=%ff"),
        "400 host": anonymous.app.get("/login", extra_environ={"HTTP_HOST": "evil.example"}, expect_errors=True),
        "404": client.get("/admin/nope"),
        "404 static": anonymous.get("/static/nope"),
        "404 json": client.get("/admin/nope", Accept="application/json"),
        "405": client.put("/admin/transit"),
        "422": client.post("/admin/transit"),
        "422 json": client.post("/admin/transit", Accept="application/json"),
    }


def test_every_kind_of_answer_carries_the_headers(site: Site) -> None:
    for name, answer in answers(site).items():
        assert answer.status.startswith(name[:3]), (name, answer.status)
        policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'", name
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'", name
        assert "unsafe" not in answer.headers["Content-Security-Policy"], name
        assert answer.headers["X-Content-Type-Options"] == "nosniff", name
        assert answer.headers["Referrer-Policy"] in ("same-origin", "no-referrer"), name
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", name
        assert "Access-Control-Allow-Origin" not in answer.headers, name
        if "static" not in name:
            assert "no-store" in answer.headers["Cache-Control"], name
        if answer.content_type.startswith("text/"):
            assert answer.charset.lower() == "utf-8", name


def test_static_files_may_be_kept_by_the_browser(site: Site) -> None:
    page = site.anonymous().get("/login")
    address = page.html.find("link", rel="stylesheet")["href"]

    assert "max-age" in site.anonymous().get(address).headers["Cache-Control"]


def test_over_https_the_cookie_is_bound_to_the_host(site: Site) -> None:
    secure = {"wsgi.url_scheme": "https", "HTTP_HOST": "localhost"}

    answer = site.anonymous().app.get("/login", extra_environ=secure)

    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-")
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]


def test_the_cookie_is_out_of_reach_of_scripts(site: Site) -> None:
    cookie = site.anonymous().get("/login").headers["Set-Cookie"].lower()

    assert "httponly" in cookie
    assert "samesite=lax" in cookie or "samesite=strict" in cookie
