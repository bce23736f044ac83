"""What the list's page shows around its rows, without any script: chips, marks, columns, the person's page size."""

from typing import Any

import pytest
from sqlalchemy import update

from groundtransport import db
from groundtransport.accounts.models import AdminUser
from groundtransport.security import Role
from tests.functional.filling import fill
from tests.site import Client, Site, query_of


def choose(client: Client, **values: Any) -> Any:
    pairs = [(name, one) for name, value in values.items() for one in ([value] if isinstance(value, str) else value)]
    return client.post("/admin/profile/preferences", pairs)


@pytest.fixture
def fresh(site: Site) -> Any:
    """A client whose preferences are as they were afterwards."""
    client = site.client(Role.EDITOR)
    yield client
    choose(client, page_size="", **{f"columns.{kind}": "" for kind in site.kinds})


# Chips


def test_each_filter_is_a_chip_that_takes_only_itself_away(site: Site, client: Client, kind: str) -> None:
    fill(site, kind, 3)

    page = client.get(f"/admin/{kind}?q=00&company_name=1&airport_code=jfk&sort=-company_name&page_no=2").html

    chips = {chip["data-chip"]: chip for chip in page.select("[data-chip]")}
    assert list(chips) == ["q", "company_name", "airport_code"]
    assert "Company Name: 1" in chips["company_name"].get_text(" ", strip=True)
    rest = query_of(chips["company_name"]["href"])
    assert rest == {"q": ["00"], "airport_code": ["jfk"], "sort": ["-company_name"]}
    assert page.select_one("[data-clear]")["href"] == f"/admin/{kind}"
    assert "hidden" not in page.select_one("[data-chips]").attrs


def test_without_filters_there_is_no_chip(client: Client, kind: str) -> None:
    page = client.get(f"/admin/{kind}").html

    assert page.select("[data-chip]") == []
    assert "hidden" in page.select_one("[data-chips]").attrs


def test_a_chip_shows_the_label_of_a_choice(client: Client) -> None:
    chip = client.get("/admin/transit?status=INACTIVE").html.select_one("[data-chip=status]")

    assert "Status: Inactive" in chip.get_text(" ", strip=True)


# Columns


def test_the_titles_of_columns_are_translated(site: Site) -> None:
    fill(site, "scheduledbus", 1)

    page = site.client().get("/admin/scheduledbus", Accept_Language="es").html

    titles = [link.get_text(strip=True) for link in page.select("thead a")]
    assert [titles[0], titles[1], *titles[3:]] == ["Empresa", "Aeropuerto", "Dirección", "Ciudad"]


# Marks


def test_what_was_searched_is_marked_and_stays_text(client: Client, kind: str) -> None:
    client.create(kind, company_name="Città <b>Bus</b>", company_phone1="(718) 217-5477")

    page = client.get(f"/admin/{kind}?q=citta+%3Cb+7182175477+jfk").html

    assert [mark.get_text() for mark in page.select("tbody mark")] == ["Città", "<b", "JFK", "718) 217-5477"]
    assert page.select("tbody b") == []
    assert client.get(f"/admin/{kind}").html.select("tbody mark") == []


# Telephones


def test_a_telephone_number_can_be_called(client: Client, kind: str) -> None:
    client.create(kind, company_phone1="+1 (718) 217-5477 ext. 12")

    link = client.get(f"/admin/{kind}").html.select_one("tbody td.col-company_phone1 a")

    assert link["href"] == "tel:+17182175477;ext=12"
    assert link.get_text() == "+1 (718) 217-5477 ext. 12"


def test_a_site_opens_apart_and_says_so(client: Client) -> None:
    record_id = client.create("transit", company_link="https://alpha.example/")

    link = client.get(f"/admin/transit/{record_id}").html.select_one("a[target]")

    assert (link["target"], link["href"]) == ("_blank", "https://alpha.example/")
    assert {"noopener", "noreferrer"} <= set(link["rel"])
    assert "new tab" in link["aria-label"]


# The page size


def test_a_person_s_page_size_holds_where_the_address_names_none(site: Site, fresh: Client, kind: str) -> None:
    fill(site, kind, 30)
    assert choose(fresh, page_size="10").status_int == 303

    def shown(query: str) -> int:
        return len(fresh.get(f"/admin/{kind}?{query}").html.select("tbody tr"))

    assert (shown(""), shown("page_size=25"), shown("page_size=7")) == (10, 25, 10)
    assert len(fresh.rows(kind)) == 10
    assert fresh.get(f"/admin/{kind}").html.select_one("#page_size option[selected]").get_text() == "10"
    assert len(site.client(Role.ADMINISTRATOR).rows(kind)) == 25, "it is one person's choice"


# Columns


def heads(client: Client, kind: str) -> list[str]:
    return [head["data-name"] for head in client.get(f"/admin/{kind}").html.select("thead th[data-shown-as]")]


def test_columns_are_hidden_by_a_form_and_come_back(site: Site, fresh: Client, kind: str) -> None:
    fresh.create(kind, company_name="Alpha", city="Queens")
    page = fresh.get(f"/admin/{kind}?q=alpha")
    form = next(form for form in page.forms.values() if "columns" in form.fields)
    for box in form.fields["shown"]:
        box.checked = box._value in site.kinds[kind].columns and box._value != "city"

    answer = form.submit()

    assert answer.location == f"http://localhost/admin/{kind}?q=alpha", "back to where one was"
    columns = [name for name in site.kinds[kind].columns if name != "city"]
    assert heads(fresh, kind) == columns
    assert "Queens" not in fresh.get(f"/admin/{kind}").html.find("tbody").get_text()
    assert fresh.rows(kind)[0]["city"] == "Queens", "the data is whole"
    choose(fresh, columns=kind, shown=list(site.kinds[kind].columns))
    assert heads(fresh, kind) == list(site.kinds[kind].columns)


def test_every_field_and_time_can_be_a_column_in_any_order(site: Site, fresh: Client, kind: str) -> None:
    fresh.create(kind, company_name="Alpha", zip_code="11430", state="US-NY", source="feed", valid_until="2099-12-31")
    names = [*site.kinds[kind].fields, "verified_at", "created_at", "updated_at"][::-1]
    choose(fresh, columns=kind, shown=names)
    assert heads(fresh, kind) == names
    row = fresh.get(f"/admin/{kind}").html.select_one("tbody tr")
    assert row.select_one("td.col-zip_code").get_text(strip=True) == "11430"
    assert row.select_one("td.col-state").get_text(strip=True) == "New York"
    assert row.select_one("td.col-created_at time")
    assert fresh.rows(kind)[0]["display"]["state"] == "New York"
    page = fresh.get(f"/admin/{kind}").html
    assert page.select_one("th.col-source").find("a") is None, "no index sorts it"
    assert [box["value"] for box in page.select("[data-columns] input")] == names
    choose(fresh, columns=kind, shown=["city", "company_name", "zip_code"], earlier="zip_code")
    assert heads(fresh, kind) == ["city", "zip_code", "company_name"]
    choose(fresh, columns=kind, shown=heads(fresh, kind), earlier="city")
    assert heads(fresh, kind) == ["city", "zip_code", "company_name"], "it is the first"


def test_hidden_columns_of_an_earlier_release_stay_hidden(site: Site, fresh: Client, kind: str) -> None:
    fresh.create(kind)
    hidden = {"preferences": {f"hidden.{kind}": "city,+verified_at"}}
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(AdminUser).where(AdminUser.name == "the-editor").values(hidden))
    later = site.client(Role.EDITOR)
    columns = [name for name in site.kinds[kind].columns if name != "city"]
    assert heads(later, kind) == [*columns, "verified_at"]
    choose(later, columns=kind, shown=["city"])
    choose(later, **{f"columns.{kind}": ""})
    assert heads(later, kind) == list(site.kinds[kind].columns)


def test_one_column_stays(site: Site, fresh: Client, kind: str) -> None:
    fresh.create(kind, city="Queens")
    assert choose(fresh, columns=kind).status_int == 422
    assert choose(fresh, columns=kind, shown="city").status_int == 303
    assert heads(fresh, kind) == ["city"]
    assert fresh.get(f"/admin/{kind}").html.select_one("tbody td.col-city a")["data-view"]


def test_a_column_of_nowhere_hides_nothing(site: Site, fresh: Client, kind: str) -> None:
    fresh.create(kind)
    assert choose(fresh, columns="nope", shown="city").status_int == 303
    assert heads(fresh, kind) == list(site.kinds[kind].columns)
