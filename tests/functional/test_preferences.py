"""A user's preferences: stored, applied on the next page, and limited to the offered choices."""

import pytest

from groundtransport.security import Role
from tests.site import Client, Site


def choose(client: Client, **values: str) -> int:
    return int(client.post("/admin/profile/preferences", values).status_int)


@pytest.fixture
def viewer(site: Site) -> Client:
    return site.client(Role.VIEWER)


def test_a_choice_is_kept_and_can_be_taken_back(viewer: Client) -> None:
    assert choose(viewer, language="es", theme="dark") == 303
    page = viewer.get("/admin/profile").html
    assert page.html["lang"] == "es"
    assert page.html["data-theme"] == "dark"
    assert choose(viewer, language="") == 303
    page = viewer.get("/admin/profile").html
    assert page.html["lang"] == "en"
    assert page.html["data-theme"] == "dark", "what was not sent stays"
    choose(viewer, theme="")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("language", "xx"),
        ("theme", "<script>"),
        ("page_size", "7"),
        ("shortcuts", "on"),
        ("columns.transit", "password"),
        ("columns.transit", "company_name;"),
    ],
)
def test_there_is_no_other_choice(viewer: Client, name: str, value: str) -> None:
    assert choose(viewer, **{name: value}) == 422


def test_one_column_stays(site: Site, viewer: Client) -> None:
    columns = site.kinds["transit"].columns
    assert choose(viewer, **{"columns.transit": ",".join(columns[1:])}) == 303
    assert choose(viewer, **{"columns.transit": "city,city"}) == 422
    assert choose(viewer, columns="transit") == 422
    choose(viewer, **{"columns.transit": ""})


def test_the_browser_decides_where_nothing_was_chosen(site: Site) -> None:
    client = site.anonymous()
    page = client.get("/login", Accept_Language="es-MX, en;q=0.5").html
    assert page.html["lang"] == "es"
    assert client.get("/login", Accept_Language="tlh, xx").html.html["lang"] == "en"
