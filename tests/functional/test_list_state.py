"""The list's state survives every write, error and sign-in, and the saved record is shown in it."""

from typing import Any

from groundtransport.security import Role
from tests.functional.filling import fill
from tests.functional.people import sign_in
from tests.site import JFK, PASSWORD, Client, Site, query_of

STATE = "q=0&airport_code=jfk&sort=company_name&page_no=2&page_size=10"


def arrive(answer: Any) -> Any:
    """Return the list that a write leads to, having made sure that it is in the state it was left in."""
    assert answer.status_int == 303
    assert query_of(answer.location) == query_of(f"?{STATE}")
    return answer.follow()


def marked(page: Any) -> list[str]:
    return [row["id"] for row in page.html.select("tbody tr[aria-current=true]")]


def notice_text(page: Any) -> str:
    return " ".join(page.html.find("main").find(role="status").find_next_sibling(role="status").get_text(" ").split())


def form_of(client: Client, kind: str, record_id: int) -> Any:
    """Return the edit form, opened from the list in its state."""
    links = client.get(f"/admin/{kind}?{STATE}").html.select(f"#record-{record_id} [data-action=edit]")
    return client.get(links[0]["href"]).forms["record"]


# There and back


def test_over_an_edit_and_its_row_is_marked(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)
    form = form_of(client, kind, ids[14])
    form["company_address"] = "1 Main Street"

    page = arrive(form.submit())

    assert marked(page) == [f"record-{ids[14]}"]
    assert "just saved" in page.html.select_one(f"#record-{ids[14]}").get_text()
    assert marked(client.get(f"/admin/{kind}?{STATE}")) == [], "once"


def test_over_a_cancel_and_a_refused_form(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)
    form = form_of(client, kind, ids[14])
    form["airport_name"] = "Nowhere"

    refused = form.submit(expect_errors=True)

    assert refused.status_int == 422
    cancel = refused.html.find("a", string="Cancel")["href"]
    assert query_of(cancel) == query_of(f"?{STATE}")
    again = refused.forms["record"]
    again["airport_name"] = JFK
    again["zip_code"] = "11430"
    assert marked(arrive(again.submit())) == [f"record-{ids[14]}"]


def test_over_a_conflict(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)
    form = form_of(client, kind, ids[14])
    form["company_address"] = "mine"
    site.client(Role.EDITOR).put(f"/admin/{kind}/{ids[14]}", {"airport_name": JFK, "company_address": "theirs"})

    confirmation = form.submit(expect_errors=True)

    assert confirmation.status_int == 409
    assert query_of(confirmation.html.find("a", string="Cancel")["href"]) == query_of(f"?{STATE}")
    assert marked(arrive(confirmation.forms["record"].submit())) == [f"record-{ids[14]}"]


def test_over_a_deletion_and_its_undo(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)
    link = client.get(f"/admin/{kind}?{STATE}").html.select_one(f"#record-{ids[14]} [data-action=delete]")["href"]
    question = client.get(link)
    assert query_of(question.html.find("a", string="Cancel")["href"]) == query_of(f"?{STATE}")
    form = next(form for form in question.forms.values() if form.fields.get("_method"))

    page = arrive(form.submit())

    undo = next(form for form in page.forms.values() if form.action.endswith("/restore"))
    assert marked(arrive(undo.submit())) == [f"record-{ids[14]}"]


def test_over_the_undo_of_an_edit(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)
    form = form_of(client, kind, ids[14])
    form["company_address"] = "1 Main Street"
    page = arrive(form.submit())

    undo = next(form for form in page.forms.values() if form.action.endswith("/restore"))

    assert marked(arrive(undo.submit())) == [f"record-{ids[14]}"]


def test_over_a_sign_in(site: Site, kind: str) -> None:
    ids = fill(site, kind, 30)
    client = site.anonymous()
    for address in (f"/admin/{kind}?{STATE}", f"/admin/{kind}?{STATE}&view={ids[14]}"):
        redirect = client.get(address)
        (target,) = query_of(redirect.location)["next"]

        answer = sign_in(client, f"the-{Role.EDITOR}", PASSWORD, target)

        assert answer.location == f"http://localhost{address}"
        client = site.anonymous()


def test_over_the_details(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 30)

    page = client.get(f"/admin/{kind}?{STATE}&view={ids[14]}")

    dialog = page.html.select_one("dialog#detail[open]")
    assert query_of(dialog.select_one("[data-close]")["href"]) == query_of(f"?{STATE}")
    edit = query_of(dialog.select_one("[data-edit]")["href"])
    edit.pop("key")
    assert edit == query_of(f"?{STATE}")


def test_of_a_client_that_sends_no_list_state(client: Client, kind: str) -> None:
    """It knows the names of the list's state, and sends them as fields or in the query of the write."""
    record_url, airport = f"/admin/{kind}/{client.create(kind, company_name='Alpha')}", {"airport_name": JFK}

    def list_query(answer: Any) -> dict[str, list[str]]:
        assert answer.status_int == 303
        return query_of(answer.location)

    whole = {"page_no": "3", "page_size": "10", "sort": "-company_name", "q": "alpha"}
    assert list_query(client.put(record_url, airport | whole)) == {name: [value] for name, value in whole.items()}
    in_query = f"{record_url}?page_no=3&airport_code=JFK&company_name=al&company_phone=7&sort=id"
    as_sent = {
        "page_no": ["3"],
        "airport_code": ["JFK"],
        "company_name": ["al"],
        "company_phone": ["7"],
        "sort": ["id"],
    }
    assert list_query(client.put(in_query, airport)) == as_sent
    assert list_query(client.post(f"/admin/{kind}?page_no=2&q=a", airport)) == {"page_no": ["2"], "q": ["a"]}
    # A field of the record is no filter, and what is sent twice is wrong.
    assert list_query(
        client.put(record_url, airport | {"company_name": "Beta", "airport_code": "JFK", "page_no": "2"})
    ) == {"page_no": ["2"]}
    assert list_query(client.put(f"{record_url}?page_no=1&page_no=2", [*airport.items(), ("q", "a"), ("q", "b")])) == {}
    assert list_query(client.put(f"{record_url}?page_no=1&q=a", airport | {"page_no": "4"})) == {
        "page_no": ["4"],
        "q": ["a"],
    }
    # The list's state as our forms send it goes before all, also when it is empty.
    assert list_query(client.put(f"{record_url}?page_no=1", airport | {"page_no": "4", "list_state": "sort=id"})) == {
        "sort": ["id"]
    }
    assert list_query(client.put(f"{record_url}?page_no=1", airport | {"page_no": "4", "list_state": ""})) == {}
    # A refused form goes on with it.
    refused = client.put(f"{record_url}?page_no=3", {"airport_name": "Nowhere", "sort": "id"})
    assert query_of(refused.html.find("a", string="Cancel")["href"]) == {"page_no": ["3"], "sort": ["id"]}
    assert list_query(client.delete(f"{record_url}?page_no=3&airport_code=JFK")) == {
        "page_no": ["3"],
        "airport_code": ["JFK"],
    }


# The saved record is somewhere else


def test_a_record_that_the_filter_no_longer_lets_through_is_told_and_linked(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.create(kind, company_name="Alpine")
    client.get(f"/admin/{kind}")

    page = client.put(
        f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "Beta", "list_state": "q=alp"}
    ).follow()

    assert marked(page) == []
    assert "Beta: the search and the filters no longer let it through." in notice_text(page)
    links = {link.get_text(): link["href"] for link in page.html.select("main > [role=status] a")}
    assert marked(client.get(links["Show it in the list"])) == [f"record-{record_id}"]
    shown = client.get(links["Show its details"]).html.select_one("dialog#detail[open]")
    assert "Beta" in shown.select_one(".detail").get_text()
    assert query_of(shown.select_one("[data-close]")["href"]) == {"q": ["alp"]}


def test_a_record_on_another_page_is_told_and_linked(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 30)

    page = client.post(
        f"/admin/{kind}",
        {"airport_name": JFK, "company_name": "0135", "list_state": "q=0&sort=company_name&page_size=10"},
    ).follow()

    assert "0135: it stands on another page of this list." in notice_text(page)
    link = page.html.find("a", string="Show it in the list")["href"]
    assert query_of(link)["q"] == ["0"], "the search still lets it through"
    result = client.get(link)
    assert len(marked(result)) == 1
    assert [mark.get_text() for mark in result.html.select("tr[aria-current] .col-company_name mark")] == ["0"]
    assert result.html.select_one("nav.pager [aria-current]").get_text(strip=True) == "2 of 4"


def test_a_restored_record_is_found_from_the_list_of_the_deleted(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.delete(f"/admin/{kind}/{record_id}")
    client.get("/admin")

    page = client.post(f"/admin/{kind}/{record_id}/restore", {"list_state": "deleted=1"}).follow()

    assert "Alpha: it is among the live records again." in notice_text(page)
    assert marked(client.get(page.html.find("a", string="Show it in the list")["href"])) == [f"record-{record_id}"]


def test_a_record_that_is_gone_again_is_not_searched_for(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    site.client(Role.EDITOR).delete(f"/admin/{kind}/{record_id}")

    page = client.get(f"/admin/{kind}?q=beta")

    assert page.html.find("a", string="Show it in the list") is None
    assert client.get(f"/admin/{kind}?find={record_id}").status_int == 200


def test_finding_what_is_not_there_shows_the_list(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 3)

    for text in ("999999", "x", "", "9" * 30, "1&find=2"):
        page = client.get(f"/admin/{kind}?find={text}")
        assert (len(page.html.select("tbody tr")), marked(page)) == (3, [])


def test_after_the_last_row_of_the_last_page_the_new_last_page_is_shown(site: Site, client: Client, kind: str) -> None:
    ids = fill(site, kind, 11)
    state = "sort=company_name&page_size=10&page_no=2"

    page = client.delete(f"/admin/{kind}/{ids[-1]}", {"list_state": state}).follow()

    assert len(page.html.select("tbody tr")) == 10
