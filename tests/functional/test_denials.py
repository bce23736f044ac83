"""A user without a permission sees which one is missing, and a link to the sign-in."""

import pytest

from groundtransport.security import Permission, Role
from groundtransport.web.layout import DENIALS
from tests.site import Client, Site


@pytest.mark.parametrize("permission", Permission)
def test_every_permission_is_said_in_words(site: Site, permission: Permission) -> None:
    page = site.client(Role.VIEWER).get("/login", {"next": "/admin", "missing": permission})

    assert DENIALS[permission] in page.html.main.get_text()
    assert f"“{permission}”" not in page.text
    assert page.html.find("input", {"name": "password"}) is None


def test_a_viewer_who_asks_for_the_users(site: Site) -> None:
    client = site.client(Role.VIEWER)

    page = client.get(client.get("/admin/users").location)

    words = " ".join(page.html.main.get_text().split())
    assert "Your role does not allow you to see the users and their sessions." in words
    assert "with the role viewer" in words
    assert "users:read" not in words
    form = client.get(page.html.main.find("a", string="Sign in as a different user")["href"])
    assert form.html.find("input", {"name": "password"})
    assert form.html.find("input", {"name": "next"})["value"] == "/admin/users"


@pytest.mark.parametrize("missing", ["nothing", "<b>x</b>", "\0"])
def test_an_unknown_permission_is_a_denial_without_its_name(site: Site, missing: str) -> None:
    page = site.client(Role.VIEWER).get("/login", {"missing": missing})

    assert "Your role does not allow you to see this page." in page.text
    assert missing not in page.html.main.get_text()


def test_who_is_not_signed_in_gets_the_form(site: Site) -> None:
    page = Client(site).get("/login", {"missing": "users:read"})

    assert page.html.find("input", {"name": "password"})
    assert "does not allow" not in page.text
