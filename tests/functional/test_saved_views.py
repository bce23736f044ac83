"""Saved views: a search, filters, sort and columns under a name, for one person or for all."""

from typing import Any

import pytest

from groundtransport.accounts.saved_views import store
from groundtransport.accounts.saved_views.models import SavedView
from groundtransport.security import Role
from groundtransport.security_log.events import Event
from tests.site import Client, Site

STATE = "company_name=alpha&sort=-city&columns=city,company_name"


@pytest.fixture
def editor(site: Site) -> Client:
    return site.client(Role.EDITOR)


def post(client: Client, do: str = "save", **fields: str) -> Any:
    return client.post("/admin/transit/views", {"do": do, "list_state": STATE, **fields})


def listed(client: Client, address: str = "/admin/transit") -> dict[str, str]:
    """Return the views in the menu of the list, or on the overview: their URLs by name."""
    page = client.get(address).html
    links = page.select(".menu-links a, .board-views a")
    return {next(link.stripped_strings): link["href"] for link in links}


def form_of(client: Client, do: str) -> dict[str, str]:
    """Return the hidden fields of a form of the first view."""
    page = client.get("/admin/transit/views")
    form = next(form for form in page.forms.values() if "do" in form.fields and form["do"].value == do)
    return {name: value for name, value in form.submit_fields() if name != "csrf_token"}


def send(client: Client, form: dict[str, str], **changes: str) -> Any:
    return client.post("/admin/transit/views", {**form, **changes})


def said(client: Client) -> str:
    return " ".join(client.get("/admin/transit").html.find(id="messages").get_text(" ").split())


def test_a_view_shows_the_same_list_again(site: Site, editor: Client) -> None:
    for name, city in (("Alpha 1", "Athens"), ("Alpha 2", "Berlin"), ("Beta", "Cairo")):
        editor.create("transit", company_name=name, city=city)

    answer = post(editor, name="  Alphas  ")

    assert "The view Alphas was saved." in said(editor)
    for page in ("/admin/transit", "/admin"):
        assert listed(editor, page) == {"Alphas": answer.location.removeprefix("http://localhost")}
    shown = editor.get(listed(editor)["Alphas"]).html
    columns = [cell["data-name"] for cell in shown.select("th[data-name]")]
    assert [name for name in columns if name not in ("select", "actions")] == ["city", "company_name"]
    cells = [cell.get_text(strip=True) for cell in shown.select("tbody td.col-city")]
    assert cells == ["Berlin", "Athens"]
    assert listed(site.client(Role.VIEWER)) == {}
    assert listed(editor, "/admin/scheduledbus") == {}


def test_a_view_keeps_the_columns_that_were_shown(editor: Client) -> None:
    editor.post("/admin/profile/preferences", {"columns": "transit", "shown": "city"})
    editor.post("/admin/transit/views", {"name": "Mine", "list_state": "q=a"})
    assert listed(editor) == {"Mine": "/admin/transit?q=a&columns=city"}


def test_a_view_for_all_needs_a_permission_and_is_recorded(site: Site, editor: Client) -> None:
    viewer = site.client(Role.VIEWER)
    assert "missing=" in post(viewer, name="For all", shared="1").location
    assert post(viewer, name="My own").status_int == 303
    post(editor, name="For all", shared="1")

    assert list(listed(viewer)) == ["My own", "For all"]
    assert list(listed(editor)) == ["For all"]
    assert "shared" not in viewer.get("/admin/transit/views").text
    form = form_of(editor, "delete")
    assert "missing=" in send(viewer, form).location
    assert send(editor, form).status_int == 303
    assert list(listed(viewer)) == ["My own"]
    events = site.events(Event.VIEW)
    assert [(event["name"], event["details"]["what"]) for event in events] == [
        ("the-editor", "saved"),
        ("the-editor", "deleted"),
    ]


def test_a_name_twice_is_refused_and_can_replace(editor: Client) -> None:
    post(editor, name="Alphas")

    answer = post(editor, name="<b>ALPHAS</b>".replace("<b>", "").replace("</b>", ""), list_state="q=new")

    assert answer.status_int == 422
    assert "There is already a view called Alphas" in answer.html.find(role="alert").get_text()
    assert answer.html.find(id="name")["value"] == "ALPHAS"
    replacing = next(form for form in answer.forms.values() if "do" in form.fields and form["do"].value == "replace")
    assert replacing.submit().status_int == 303
    assert listed(editor)["Alphas"].startswith("/admin/transit?q=new&")
    post(editor, name="Betas")
    renamed = send(editor, form_of(editor, "rename"), name="betas")
    assert (renamed.status_int, sorted(listed(editor))) == (422, ["Alphas", "Betas"])
    assert post(editor, name="alphas", shared="1").status_int == 303, "for all it is another one"


def test_two_tabs_do_not_overwrite_each_other(editor: Client) -> None:
    post(editor, name="Alphas")
    rename, replace, delete = (form_of(editor, do) for do in ("rename", "replace", "delete"))

    assert send(editor, rename, name="Renamed").status_int == 303
    assert send(editor, replace, list_state="q=other").status_int == 409
    assert send(editor, delete).status_int == 409
    assert listed(editor).keys() == {"Renamed"}
    again = form_of(editor, "delete")
    assert send(editor, again).status_int == 303
    assert send(editor, again).status_int == 303
    assert "That view was deleted in the meantime." in said(editor)
    assert listed(editor) == {}


@pytest.mark.parametrize("shared", ["", "1"])
def test_a_deleted_view_can_be_taken_back(site: Site, editor: Client, shared: str) -> None:
    post(editor, name="Alphas", shared=shared)
    before = listed(editor)
    send(editor, form_of(editor, "delete") | {"list_state": "q=kept"})
    page = editor.get("/admin/transit/views?q=kept")
    assert listed(editor) == {}

    undo = page.html.select_one("#messages form")
    assert undo is not None
    assert undo.button.get_text() == "Undo"
    fields = {tag["name"]: tag["value"] for tag in undo.select("input") if tag["name"] != "csrf_token"}
    answer = editor.post(undo["action"], fields)

    assert answer.location.endswith("/admin/transit/views?q=kept")
    assert "The view Alphas is there again." in said(editor)
    assert listed(editor) == before
    assert listed(site.client(Role.VIEWER)) == (before if shared else {})
    assert editor.post(undo["action"], fields).status_int == 422  # its name is taken
    whats = [event["details"]["what"] for event in site.events(Event.VIEW)]
    assert whats == (["saved", "deleted", "restored"] if shared else [])


def test_names_are_checked_and_escaped_and_there_is_a_most(
    site: Site, editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST", 1)
    for name in ("", "   ", "x" * 61, "a\nb", "a\x00b"):
        answer = post(editor, name=name)
        assert (answer.status_int, site.count(SavedView)) == (422, 0), name
    post(editor, name="<script>alert(1)</script>")
    assert list(listed(editor)) == ["<script>alert(1)</script>"]
    assert "delete one first" in post(editor, name="One more").text
    assert post(editor, do="nonsense").status_int == 404
    assert editor.post("/admin/transit/views", [("do", "delete"), ("view", "9" * 30)]).status_int == 303
    assert list(listed(editor, "/admin/transit?columns=nonsense,city&columns=x")) == list(listed(editor))


def test_the_page_keeps_the_list_after_each_change(editor: Client) -> None:
    for name in ("One", "Two"):
        post(editor, name=name)
    form = form_of(editor, "rename") | {"list_state": "q=kept"}
    for do in ("rename", "delete", "delete"):  # the last one finds nothing
        location = send(editor, {**form, "do": do, "version": ""}, name="Other").location
        assert location.endswith("/admin/transit/views?q=kept")
    page = editor.get("/admin/transit/views?q=kept").html
    assert page.select_one("form[data-url]")["data-url"] == "/admin/transit/views?q=kept"
