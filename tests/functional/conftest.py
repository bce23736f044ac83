"""Fixtures of the tests of accounts: the user Pat, and a cheap password hash."""

from collections.abc import Iterator

import pytest

from groundtransport.accounts.models import AdminUser
from tests.functional.people import add_pat, cheap_hashes
from tests.site import Site


@pytest.fixture
def cheaply() -> Iterator[None]:
    """Passwords are hashed with the least effort, for tests that are not about it."""
    with cheap_hashes():
        yield


@pytest.fixture
def pat(site: Site) -> AdminUser:
    """A person of the test's own."""
    return add_pat(site)
