"""A record over the list, at an address of its own: as the server makes it, for shared links and without script."""

from typing import Any

import pytest

from groundtransport.security import Role
from tests.functional.filling import fill
from tests.site import JFK, Client, Site, query_of


def dialog(client: Client, kind: str, query: str) -> Any:
    page = client.get(f"/admin/{kind}?{query}")
    assert page.status_int == 200
    return page.html.select_one("dialog#detail")


def test_it_shows_what_the_fragment_shows_and_who_changed_it_last(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", zip_code="11430")
    editor = site.client(Role.EDITOR)
    editor.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta"})

    shown, fragment = dialog(client, kind, f"view={record_id}"), client.get(f"/admin/{kind}/{record_id}")

    assert "open" in shown.attrs
    assert str(shown.select_one(".detail")) == str(fragment.html.select_one(".detail"))
    assert "the-editor" in shown.select_one("[data-detail-last]").get_text()
    at = shown.select_one("[data-detail-last] time")["datetime"]
    assert (fragment.headers["X-Changed-By"], fragment.headers["X-Changed-At"]) == ("the-editor", at)
    assert "the-editor" not in fragment.text, "the fragment itself holds the fields alone"


def test_without_view_it_is_closed(client: Client, kind: str) -> None:
    client.create(kind)

    assert "open" not in dialog(client, kind, "").attrs


def test_the_name_in_a_row_leads_to_it(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    nameless = client.create(kind)

    page = client.get(f"/admin/{kind}?page_size=50").html

    link = page.select_one(f"#record-{record_id} .col-company_name a")
    assert (link.get_text(), link["data-view"]) == ("Alpha", f"/admin/{kind}/{record_id}")
    assert query_of(link["href"]) == {"page_size": ["50"], "view": [str(record_id)]}
    assert page.select_one(f"#record-{nameless} .col-airport_name a")["data-view"] == f"/admin/{kind}/{nameless}"


def test_one_goes_on_through_the_whole_result(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 23)
    seen, query = [], "q=0&sort=company_name&page_size=10&view=first"
    while query:
        shown = dialog(client, kind, query)
        seen.append(shown["data-label"])
        step = shown.select_one("[data-step=next]")
        query = "" if "hidden" in step.attrs else step["href"].partition("?")[2]

    assert seen == [f"{number:03}" for number in range(1, 24)]
    back = shown.select_one("[data-step=previous]")["href"].partition("?")[2]
    assert dialog(client, kind, back)["data-label"] == "022"
    border = dialog(client, kind, "sort=company_name&page_size=10&page_no=2&view=first")
    before = border.select_one("[data-step=previous]")["href"].partition("?")[2]
    assert dialog(client, kind, before)["data-label"] == "010"


def test_a_record_outside_the_result_is_shown_without_neighbors(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.create(kind, company_name="Beta")

    shown = dialog(client, kind, f"q=beta&view={record_id}")

    assert shown["data-label"] == "Alpha"
    assert all("hidden" in step.attrs for step in shown.select("[data-step]"))


def test_what_is_not_there_is_told(client: Client, kind: str) -> None:
    record_id = client.create(kind)
    client.delete(f"/admin/{kind}/{record_id}")

    for value in (str(record_id), "999999", "x", "9" * 30, "first"):
        shown = dialog(client, kind, f"view={value}")
        assert "never was one" in shown.get_text()
        assert [link for link in shown.select("footer a[data-edit], [data-action]") if "hidden" not in link.attrs] == []
    assert (
        dialog(client, kind, f"view={record_id}").select_one("[data-history]")["href"].endswith(f"{record_id}/history")
    )
    assert "open" not in dialog(client, kind, "view=1&view=2").attrs


def test_a_viewer_may_look_and_no_more(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind)

    shown = dialog(site.client(Role.VIEWER), kind, f"view={record_id}")

    assert shown.select_one("[data-action=delete]") is None
    assert "hidden" in shown.select_one("[data-edit]").attrs


ENTRIES = """
INSERT INTO admin_activity (id, at, actor, request_id, address, batch, action, kind, record_id, version, airport_code,
label, changes, key_id, mac, search_text)
SELECT n, now(), 'a', '', '', '', 'update', 'transit', CASE WHEN mod(n, 3) = 0 THEN 7 ELSE n END, 1, 'JFK',
'', '{}', '', '', '' FROM generate_series(1, 9000) n
"""


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_last_change_of_a_record_is_found_without_reading_all_of_them(site: Site) -> None:
    with site.engine.begin() as connection:
        connection.exec_driver_sql(ENTRIES)
        connection.exec_driver_sql("ANALYZE admin_activity")
        asked = "SELECT actor FROM admin_activity WHERE kind = 'transit' AND record_id = 7 ORDER BY id DESC LIMIT 1"
        lines = connection.exec_driver_sql(f"EXPLAIN {asked}").scalars().all()
        connection.rollback()
    assert "ix_admin_activity_kind_record_id_id" in " ".join(lines)
    assert not any("Sort" in line for line in lines)
