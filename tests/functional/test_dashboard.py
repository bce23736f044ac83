"""The overview: what there is, what is missing and what was done; and the search over both kinds."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from groundtransport import db
from groundtransport.audit.models import AdminActivity, AuditHead
from groundtransport.dashboard import latest, status_numbers
from groundtransport.dashboard.weekly_changes import DAYS, WEEKS, Day, Weeks, last_weeks
from groundtransport.events import Actor
from groundtransport.security import Role
from groundtransport.transfer.importer import Importer
from tests.site import HEATHROW, JFK, Client, Site

TODAY = date(2026, 11, 20)  # a Friday


def facts(client: Client, kind: str) -> dict[str, str]:
    """Return the figures of a kind's card, by their badge."""
    card = client.get("/admin").html.find("section", {"aria-labelledby": f"kind-{kind}"})
    return {fact.find(class_="badge").text: fact.find(class_="number").text for fact in card.select("li:has(.badge)")}


def total(client: Client, kind: str) -> str:
    return client.get("/admin").html.select_one(f"#kind-{kind} .card-total").text


def test_an_empty_office_says_so(client: Client, kind: str) -> None:
    page = client.get("/admin").html

    assert total(client, kind) == "0"
    assert "Nothing was changed yet." in page.text
    assert "There is no record yet." in page.text


def test_records_are_counted_and_a_deleted_one_is_not(client: Client, kind: str) -> None:
    client.create(kind)
    deleted_id = client.create(kind)
    assert total(client, kind) == "2"

    client.delete(f"/admin/{kind}/{deleted_id}")

    assert total(client, kind) == "1"


def test_transit_services_are_counted_by_status(client: Client) -> None:
    for status in ("active", "active", "inactive"):
        client.create("transit", status=status)

    result = facts(client, "transit")

    assert (result["Active"], result["Inactive"]) == ("2", "1")
    assert client.get("/admin").html.find("a", href="/admin/transit?status=inactive")


def test_a_gap_is_counted_and_leads_to_the_list_that_shows_it(client: Client, kind: str) -> None:
    client.create(kind, company_name="Complete", company_phone1="+1 212 555 0100", company_address="1 Main Street")
    client.create(kind, company_name="No Phone", company_address="1 Main Street")
    client.create(kind, company_name="No Address", company_phone1="+1 212 555 0100")

    assert facts(client, kind)["No phone"] == "1"
    assert facts(client, kind)["No address"] == "1"
    page = client.get("/admin").html
    for missing, name in (("company_phone", "No Phone"), ("company_address", "No Address")):
        assert page.find("a", href=f"/admin/{kind}?missing={missing}")
        assert [row["company_name"] for row in client.rows(kind, missing=missing)] == [name]


def test_any_phone_of_a_transit_service_fills_the_gap(client: Client) -> None:
    client.create("transit", company_phone3="+1 212 555 0100")

    assert facts(client, "transit")["No phone"] == "0"


@pytest.mark.parametrize("value", ["", "nothing", "id", "company_phone1"])
def test_missing_means_a_known_filter_or_nothing(client: Client, kind: str, value: str) -> None:
    client.create(kind)

    assert len(client.rows(kind, missing=value)) == 1


def test_missing_stays_in_the_state_of_the_list(client: Client, kind: str) -> None:
    client.create(kind)

    link = client.edit_link(kind, client.rows(kind)[0]["id"], missing="company_phone")

    assert "missing=company_phone" in link


def test_the_busiest_airports_come_first_over_both_kinds(client: Client) -> None:
    for _ in range(2):
        client.create("transit", airport_name=HEATHROW)
        client.create("scheduledbus", airport_name=HEATHROW)
    client.create("transit", airport_name=JFK)

    rows = client.get("/admin").html.select(".figures-airports tbody tr")

    assert [[cell.text.split()[0] for cell in row.find_all(["th", "td"])] for row in rows] == [
        ["LHR", "2", "2", "4"],
        ["JFK", "0", "1", "1"],
    ]
    assert rows[0].find("a", href="/admin/transit?airport_code=LHR")
    names = [row.th.a for row in rows]
    assert [name.text.split()[0] for name in names] == ["LHR", "JFK"]
    assert names[1]["href"] == "/admin/transit?airport_code=JFK"  # all of its records


def test_the_latest_activity_leads_to_the_record(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha Coaches")

    latest = client.get("/admin").html.select_one(".latest li")

    assert "Alpha Coaches" in latest.text
    assert latest.a["href"] == f"/admin/{kind}/{record_id}/history"


def test_a_batch_is_one_row_of_the_latest_activity(client: Client, site: Site) -> None:
    client.create("transit", company_name="Before")
    actor = Actor("importer", batch="import-1")
    rows = [{"airport_name": JFK, "company_name": f"Imported {number}"} for number in range(12)]
    results = list(Importer(site.registry, site.kinds["transit"], actor).run(rows))
    assert not [error for _row, error in results if error]
    client.create("scheduledbus", company_name="After")

    rows_shown = client.get("/admin").html.select(".latest li")

    assert [row.a.text for row in rows_shown] == ["After", "12 records", "Before"]
    assert rows_shown[1].a["href"] == "/admin/activity?batch=import-1"
    assert len(client.get("/admin/activity?batch=import-1").html.select(".activity > li")) == 12


def test_a_batch_beyond_what_is_grouped_is_told_so(client: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest, "WINDOW", 5)
    actor = Actor("importer", batch="import-1")
    rows = [{"airport_name": JFK, "company_name": f"Imported {number}"} for number in range(12)]
    assert not [error for _row, error in Importer(site.registry, site.kinds["transit"], actor).run(rows) if error]
    client.create("scheduledbus", company_name="After")

    assert [row.a.text for row in client.get("/admin").html.select(".latest li")] == ["After", "over 4 records"]


def test_a_viewer_is_offered_nothing_to_write(site: Site, kind: str) -> None:
    page = site.client(Role.VIEWER).get("/admin")

    assert page.status_int == 200
    assert "/create" not in page.text


# The weeks


def test_changes_of_today_are_counted(client: Client, kind: str) -> None:
    for _ in range(3):
        client.create(kind)

    today = datetime.now(UTC).date()
    with db.transaction(client.site.engine) as dbsession:
        weeks = last_weeks(dbsession, today)

    assert (weeks.total, weeks.most) == (3, 3)
    assert Day(today, 3) in weeks.days
    assert client.get("/admin").html.find("a", href=f"/admin/activity?from={today}&to={today}").text == "3"


def add_entries(site: Site, *moments: datetime, first: int = 1) -> None:
    """Add entries at these times, as commits would have, in order."""
    facts = {
        "actor": "x",
        "request_id": "",
        "address": "",
        "batch": "",
        "action": "create",
        "kind": "transit",
        "record_id": 1,
        "version": 1,
        "airport_code": "JFK",
        "label": "x",
        "changes": {},
        "key_id": "",
        "mac": "",
        "search_text": "",
    }
    with db.transaction(site.engine) as dbsession:
        for number, at in enumerate(moments, first):
            dbsession.execute(insert(AdminActivity).values(id=number, at=at, **facts))
        dbsession.execute(update(AuditHead).values(number=first + len(moments) - 1))


def at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


def test_days_begin_at_midnight_in_utc_and_weeks_on_monday(site: Site) -> None:
    monday, sunday = date(2026, 11, 16), date(2026, 11, 15)
    add_entries(site, at(sunday, 23, 59), at(monday, 0), at(monday, 0), at(TODAY, 12))

    with db.transaction(site.engine) as dbsession:
        weeks = last_weeks(dbsession, TODAY)

    numbers = {day.date: day.number for day in weeks.days if day.number}
    assert numbers == {sunday: 1, monday: 2, TODAY: 1}
    assert len(weeks.days) == WEEKS * DAYS
    assert weeks.days[0].date == monday - timedelta(weeks=WEEKS - 1)
    assert weeks.days[-1] == Day(date(2026, 11, 22), None)  # it has not come


def test_what_came_before_the_weeks_is_not_counted(site: Site) -> None:
    add_entries(site, at(date(2026, 1, 1), 0), at(date(2026, 9, 27), 23, 59), at(date(2026, 9, 28), 0))

    with db.transaction(site.engine) as dbsession:
        weeks = last_weeks(dbsession, TODAY)

    assert weeks.total == 1
    assert weeks.days[0].number == 1


def test_an_archive_that_took_the_oldest_entries_leaves_the_rest_counted(site: Site) -> None:
    add_entries(site, at(TODAY - timedelta(days=1), 9), at(TODAY, 9), at(TODAY, 10), first=5)

    with db.transaction(site.engine) as dbsession:
        weeks = last_weeks(dbsession, TODAY)

    assert [day.number for day in weeks.days[-4:-2]] == [1, 2]


@pytest.mark.parametrize(("most", "top"), [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (3000, 5000)])
def test_the_scale_of_the_chart_is_round(most: int, top: int) -> None:
    assert Weeks((Day(TODAY, most),), TODAY).top == top


def of_days(*numbers: int) -> Weeks:
    return Weeks(tuple(Day(TODAY - timedelta(days=ago), number) for ago, number in enumerate(numbers)), TODAY)


def test_a_usual_chart_is_linear() -> None:
    weeks = of_days(4, 8, 10, 0, 2)
    assert (weeks.lines, weeks.height(10), weeks.height(5)) == ([5, 10], 100, 50)


@pytest.mark.parametrize(("most", "lines"), [(3000, [10, 100, 1000, 5000]), (100, [10, 100]), (120, [10, 100, 200])])
def test_a_day_of_an_import_leaves_the_others_legible(most: int, lines: list[int]) -> None:
    weeks = of_days(1, 3, most, 0, 2)
    assert weeks.lines == lines
    assert weeks.height(1) >= 8
    assert weeks.height(1) < weeks.height(3) < weeks.height(most) <= 100


def test_weeks_without_any_change_have_a_scale() -> None:
    assert of_days(0, 0).lines == [1]


def test_the_chart_and_its_table_hold_the_same_numbers(client: Client, site: Site) -> None:
    client.create("transit")

    page = client.get("/admin").html

    bars = [bar.title.text.split(": ")[1] for bar in page.select(".chart rect")]
    cells = [link.text for link in page.select("details .figures td a")]
    assert bars == cells == ["1"]
    assert "1 changes in eight weeks" in page.select_one(".chart svg")["aria-label"]


# The search over both kinds


def result(client: Client, q: str) -> dict[str, list[str]]:
    page = client.get("/admin/search", {"q": q}).html
    return {
        part["aria-labelledby"].removeprefix("found-"): [name.text for name in part.select(".result-name")]
        for part in page.select(".found")
    }


def test_one_search_looks_into_both_kinds(client: Client) -> None:
    client.create("scheduledbus", company_name="Álpha Coaches")
    client.create("transit", company_name="Alpha Line", company_phone1="+1 212-555-0100")
    client.create("transit", company_name="Beta Line")

    assert result(client, "alpha") == {"scheduledbus": ["Álpha Coaches"], "transit": ["Alpha Line"]}
    assert result(client, "2125550100") == {"scheduledbus": [], "transit": ["Alpha Line"]}
    assert result(client, "jfk")["transit"] == ["Beta Line", "Alpha Line"]


def test_no_words_find_nothing_and_say_what_to_type(client: Client, kind: str) -> None:
    client.create(kind)

    assert result(client, "  ") == {}
    assert "Enter a company" in client.get("/admin/search").text


def test_a_result_leads_to_the_record_and_the_whole_to_the_list(client: Client, kind: str) -> None:
    for _ in range(11):
        record_id = client.create(kind, company_name="Alpha & Sons")

    page = client.get("/admin/search", {"q": "alpha &"}).html.find("section", {"aria-labelledby": f"found-{kind}"})

    assert len(page.select(".result-name")) == 10
    opened = client.get(page.select_one(".result-name")["href"])
    assert f'id="record-{record_id}"' in opened.text
    everything = client.get(page.find("a", string=lambda text: text and text.startswith("All 11"))["href"])
    assert len(everything.html.select("#records tbody tr")) == 11
    edit = client.get(page.find("a", string="Edit")["href"])
    assert edit.forms["record"]["company_name"].value == "Alpha & Sons"


def test_a_viewer_finds_and_cannot_edit(site: Site, client: Client, kind: str) -> None:
    client.create(kind, company_name="Alpha")

    page = site.client(Role.VIEWER).get("/admin/search", {"q": "alpha"})

    assert "Alpha" in page.text
    assert "/edit" not in page.text


@pytest.mark.parametrize("q", ["%", "_", "\0", "x" * 2000, "'\"><script>alert(1)</script>", "%FF"])
def test_odd_words_are_words(client: Client, kind: str, q: str) -> None:
    client.create(kind, company_name="Alpha")

    page = client.get("/admin/search", {"q": q})

    assert page.status_int == (200 if len(q) <= 1_000 else 422)
    assert "<script>alert" not in page.text


def counted(client: Client, kind: str) -> dict[str, tuple[str, int]]:
    """Return the numbers of the statuses on a kind's card, each with the number of records in the list it links to."""
    card = client.get("/admin").html.find("section", {"aria-labelledby": f"kind-{kind}"})
    facts = [badge.parent for badge in card.select("a > .badge[class*=status-]")]
    lists = {fact.find(class_="badge").text: fact["href"] for fact in facts}
    numbers = {fact.find(class_="badge").text: fact.find(class_="number").text for fact in facts}
    totals = {title: client.get(f"{url}&ajax=1").json["recordsFiltered"] for title, url in lists.items()}
    return {title: (numbers[title], totals[title]) for title in numbers}


def test_what_is_not_valid_today_does_not_count_as_active(client: Client) -> None:
    yesterday, tomorrow = (str(datetime.now(UTC).date() + timedelta(days=days)) for days in (-1, 1))
    client.create("transit")
    assert counted(client, "transit") == {"Active": ("1", 1), "Inactive": ("0", 0)}
    assert client.get("/admin").html.find("a", href="/admin/transit?status=active")  # the quicker list
    client.create("transit", valid_from=yesterday, valid_until=tomorrow)
    for _ in range(2):
        client.create("transit", valid_until=yesterday)
    client.create("transit", valid_until=yesterday, status="inactive")
    client.create("transit", valid_from=tomorrow)
    deleted_id = client.create("transit", valid_until=yesterday)
    client.delete(f"/admin/transit/{deleted_id}")
    expected = {"Active": ("2", 2), "Not yet valid": ("1", 1), "Ended": ("2", 2), "Inactive": ("1", 1)}
    assert counted(client, "transit") == expected
    assert sum(number for _text, number in expected.values()) == int(total(client, "transit"))


def test_a_kind_without_a_status_counts_what_is_not_valid_today(client: Client) -> None:
    client.create("scheduledbus")
    assert counted(client, "scheduledbus") == {}
    client.create("scheduledbus", valid_until="2020-01-01")
    assert counted(client, "scheduledbus") == {"Ended": ("1", 1)}


def test_beyond_the_bound_the_numbers_say_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_numbers, "EXACT", 1)
    for day in ("2020-01-01", "2020-01-01", "2020-01-01", ""):
        client.create("transit", valid_until=day)
    assert {title: text for title, (text, _number) in counted(client, "transit").items()} == {
        "Active": "under 3",
        "Ended": "over 1",
        "Inactive": "0",
    }
