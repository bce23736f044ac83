"""docs/permissions.md: that it is current, and that each of its cells is true over HTTP."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from groundtransport.cli.permissions import as_markdown, doors
from groundtransport.security import Role
from tests.doors import METHODS, Examples, ask, facts
from tests.site import Client, Site

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"


pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]


def refusal(answer: Any) -> dict[str, list[str]] | None:
    """Return the query of a redirect to the sign-in page; None for another answer."""
    parts = urlsplit(answer.location or "")
    return parse_qs(parts.query) if answer.status_int == 303 and parts.path == "/login" and parts.query else None


def test_the_page_is_what_the_application_says(whole_site: Site) -> None:
    assert PAGE.read_text() == as_markdown(doors(whole_site.registry)), "run: make docs"


def test_each_cell_is_true(site: Site) -> None:
    people: dict[Role | None, Client] = {role: site.client(role) for role in Role}
    people[None] = site.anonymous()
    examples, asked = Examples(site), 0
    for door in doors(site.registry):
        for role, client in people.items():
            address = examples.fill(door.address)
            before = facts(site)

            answer = ask(client, door.method, address, b"to_version=1" if door.method != "GET" else b"")

            where = (door.method, address, role, answer.status)
            may = role in door.roles if role else not door.permission
            if may:
                assert refusal(answer) is None, where
                assert answer.status_int not in (404, 405, 500, 503), where
            else:
                query = refusal(answer)
                assert query is not None, where
                assert query.get("missing", []) == ([door.permission] if role else []), where
                assert facts(site) == before, where
            asked += 1
            if role and may and door.method != "GET":  # it may have ended the session
                people[role] = site.client(role)
    assert asked > 150


def test_no_other_method_is_answered(site: Site, client: Client) -> None:
    known = doors(site.registry)
    examples = Examples(site)
    for place in sorted({door.address for door in known}):
        address = examples.fill(place)
        mine = {door.method for door in known if door.address == place}
        for method in (*METHODS, "OPTIONS"):
            if method not in mine:
                before = facts(site)
                answer = ask(client, method, address)
                assert answer.status_int == 405, (method, address)
                assert set(answer.headers["Allow"].split(", ")) - {"HEAD"} == mine, address
                assert facts(site) == before
