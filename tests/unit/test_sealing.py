"""Sealed secrets: which keys open them."""

import pytest

from groundtransport.accounts.secondfactor.sealing import is_newest, seal, unseal

OLD, NEW, FOREIGN = (letter * 48 for letter in (b"o", b"n", b"f"))


def test_the_service_opens_what_it_sealed_and_nothing_shows() -> None:
    sealed = seal((NEW,), 7, "JBSWY3DPEHPK3PXP")
    assert "JBSWY3DP" not in sealed
    assert unseal((NEW,), 7, sealed) == "JBSWY3DPEHPK3PXP"
    assert seal((NEW,), 7, "JBSWY3DPEHPK3PXP") != sealed, "the same secret never looks the same"


def test_an_old_secret_opens_and_the_newest_seals() -> None:
    sealed = seal((OLD,), 7, "text")
    assert unseal((NEW, OLD), 7, sealed) == "text"
    assert not is_newest((NEW, OLD), 7, sealed)
    assert is_newest((NEW, OLD), 7, seal((NEW, OLD), 7, "text"))
    assert unseal((NEW,), 7, sealed) is None


def test_it_opens_for_that_person_alone_and_not_when_touched() -> None:
    sealed = seal((NEW,), 7, "text")
    assert unseal((NEW,), 8, sealed) is None
    assert unseal((FOREIGN,), 7, sealed) is None
    for touched in ("", "x", "%", sealed[:-4], sealed[:10] + ("A" if sealed[10] != "A" else "B") + sealed[11:]):
        assert unseal((NEW,), 7, touched) is None


@pytest.mark.parametrize("text", ["", "a" * 32])
def test_it_fits_the_column(text: str) -> None:
    from groundtransport.accounts.secondfactor.models import SEALED_MAX

    assert len(seal((NEW,), 10**18, text)) <= SEALED_MAX
