"""Two users change different fields of one record: both changes are merged, and the message says so."""

from tests.functional.editors import messages, opened, they_save
from tests.site import HEATHROW, Client, Site


def test_changes_of_different_fields_are_merged_and_told(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", company_address="1 Main St")
    form = opened(client, kind, record_id)
    they_save(site, kind, record_id, company_address="2 Main St", zip_code="11435")
    client.get("/admin")

    form["company_name"] = "Mine"
    assert form.submit().status_int == 303

    row = site.row(kind, record_id)
    assert (row["company_name"], row["company_address"], row["zip_code"]) == ("Mine", "2 Main St", "11435")
    assert row["version"] == 3
    texts = messages(client, kind)
    assert texts.startswith("Mine was saved.")
    assert "somebody else" in texts
    assert "Company Address" in texts
    assert "Zip Code" in texts
    assert "Company Name" not in texts
    mine = site.entries()[-1]
    assert mine["changes"] == {"company_name": {"old": "Alpha", "new": "Mine"}}
    assert mine["actor"] == "the-administrator"


def test_the_same_change_by_both_is_no_conflict(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha")
    form = opened(client, kind, record_id)
    they_save(site, kind, record_id, company_name="Beta")
    form["company_name"] = "Beta"

    assert form.submit().status_int == 303
    assert site.row(kind, record_id)["version"] == 2
    assert len(site.entries()) == 2


def test_a_merge_reaches_back_over_several_versions(site: Site, client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="Alpha", zip_code="1")
    form = opened(client, kind, record_id)
    for zip_code in ("2", "3", "1"):
        they_save(site, kind, record_id, zip_code=zip_code, company_address=f"{zip_code} Main St")
    form["company_name"], form["zip_code"] = "Mine", "4"  # they went away and came back: only I changed it

    assert form.submit().status_int == 303
    row = site.row(kind, record_id)
    assert (row["company_name"], row["zip_code"], row["company_address"]) == ("Mine", "4", "1 Main St")


def test_what_was_merged_is_validated_once_more(site: Site, client: Client) -> None:
    record_id = client.create("scheduledbus", company_name="Alpha")
    form = opened(client, "scheduledbus", record_id)
    they_save(site, "scheduledbus", record_id, airport_name=HEATHROW, zip_code="TW6")
    form["city"].force_value("Queens")  # a city of JFK, and not of the airport that they moved it to

    answer = form.submit(expect_errors=True)

    assert answer.status_int == 422
    assert "Queens" in answer.html.find(id="errors").get_text() + answer.text
    assert site.row("scheduledbus", record_id)["city"] is None
    again = answer.forms["record"]
    assert (again["airport_name"].value, again["zip_code"].value) == (HEATHROW, "TW6")
    again["city"].force_value("London")
    assert again.submit().status_int == 303
    row = site.row("scheduledbus", record_id)
    assert (row["airport_code"], row["city"], row["zip_code"]) == ("LHR", "London", "TW6")


def test_a_merged_value_that_is_changed_back_in_the_form_that_came_back_is_my_choice(
    site: Site, client: Client
) -> None:
    record_id = client.create("scheduledbus", company_name="Alpha")
    form = opened(client, "scheduledbus", record_id)
    they_save(site, "scheduledbus", record_id, airport_name=HEATHROW, company_name="Theirs")
    form["city"].force_value("Queens")
    again = form.submit(expect_errors=True).forms["record"]
    assert again["company_name"].value == "Theirs"

    again["company_name"] = "Alpha"  # I have seen theirs, and do not want it
    again["city"].force_value("London")
    assert again.submit(expect_errors=True).status_int == 303
    assert site.row("scheduledbus", record_id)["company_name"] == "Alpha"
