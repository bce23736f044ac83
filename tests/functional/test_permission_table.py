"""docs/permissions.md: that it is current, and that each of its cells is true over HTTP."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from groundtransport.cli.permissions import api_endpoints, as_markdown, endpoints
from groundtransport.security import Role
from tests.endpoints import METHODS, Examples, ask, facts
from tests.site import Client, Site

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"


pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]


def refusal(answer: Any) -> dict[str, list[str]] | None:
    """Return the query of a redirect to the sign-in page; None for another answer."""
    parts = urlsplit(answer.location or "")
    return parse_qs(parts.query) if answer.status_int == 303 and parts.path == "/login" and parts.query else None


def test_the_page_is_what_the_application_says(whole_site: Site) -> None:
    table = [*endpoints(whole_site.registry), *api_endpoints(whole_site.registry)]
    assert PAGE.read_text() == as_markdown(table), "run: make docs"


def test_each_cell_is_true(site: Site) -> None:
    people: dict[Role | None, Client] = {role: site.client(role) for role in Role}
    people[None] = site.anonymous()
    examples, requests = Examples(site), 0
    for endpoint in endpoints(site.registry):
        for role, client in people.items():
            address = examples.fill(endpoint.url)
            before = facts(site)

            answer = ask(client, endpoint.method, address, b"to_version=1" if endpoint.method != "GET" else b"")

            where = (endpoint.method, address, role, answer.status)
            may = role in endpoint.roles if role else not endpoint.permission
            if may:
                assert refusal(answer) is None, where
                assert answer.status_int not in (404, 405, 500, 503), where
            else:
                query = refusal(answer)
                assert query is not None, where
                assert query.get("missing", []) == ([endpoint.permission] if role else []), where
                assert facts(site) == before, where
            requests += 1
            if role and may and endpoint.method != "GET":  # it may have ended the session
                people[role] = site.client(role)
    assert requests > 150


def test_no_other_method_is_answered(site: Site, client: Client) -> None:
    known = endpoints(site.registry)
    examples = Examples(site)
    for place in sorted({endpoint.url for endpoint in known}):
        address = examples.fill(place)
        mine = {endpoint.method for endpoint in known if endpoint.url == place}
        for method in (*METHODS, "OPTIONS"):
            if method not in mine:
                before = facts(site)
                answer = ask(client, method, address)
                # Only pages of a merged record lead on; to any other method it is a deleted record.
                is_deleted = "{merged}" in place and not place.endswith(("/history", "/restore"))
                assert answer.status_int == (404 if is_deleted else 405), (method, address)
                if not is_deleted:
                    assert set(answer.headers["Allow"].split(", ")) - {"HEAD"} == mine, address
                assert facts(site) == before
