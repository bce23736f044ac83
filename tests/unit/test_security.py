"""Keys derived from the secret; the edit key is exactly what decision 7 (docs/decisions/security.md) defines."""

import dataclasses
import hashlib
import hmac
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundtransport.security import Identity, Permission, Role, derive, edit_key, edit_key_is_right

SECRET, OLD = b"n" * 48, b"o" * 48
ANNA = Identity(7, "anna", Role.EDITOR, 3)


def hkdf(secret: bytes, info: bytes, length: int, salt: bytes = b"") -> bytes:
    """RFC 5869 with SHA-256, from its text: extract, then expand block by block."""
    extracted = hmac.new(salt or b"\0" * 32, secret, hashlib.sha256).digest()
    block = result = b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.new(extracted, block + info + bytes([number]), hashlib.sha256).digest()
        result += block
    return result[:length]


def is_right(given: list[str], identity: Identity = ANNA, kind: str = "transit", record_id: int = 12) -> bool:
    return edit_key_is_right((SECRET, OLD), given, identity, kind, record_id)


def test_the_own_computation_gives_the_test_vectors_of_rfc_5869() -> None:
    salt, info = bytes(range(13)), bytes(range(0xF0, 0xFA))
    first = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    third = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    assert hkdf(b"\x0b" * 22, info, 42, salt).hex() == first
    assert hkdf(b"\x0b" * 22, b"", 42).hex() == third


def test_a_derived_key_is_that_of_rfc_5869() -> None:
    assert derive(b"\x0b" * 22, "").hex() == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"


@given(st.binary(min_size=32, max_size=100), st.text(max_size=20))
def test_any_derived_key_is_that_of_rfc_5869(secret: bytes, info: str) -> None:
    assert derive(secret, info) == hkdf(secret, info.encode(), 32)


def test_each_use_has_a_key_of_its_own() -> None:
    assert derive(SECRET, "edit-link/v1") != derive(SECRET, "csrf/v1")


@given(
    st.integers(0, 10**18), st.integers(0, 10**6), st.sampled_from(["transit", "scheduledbus"]), st.integers(1, 10**18)
)
def test_the_edit_key_is_the_md5_of_an_hmac_as_it_is_written_down(
    user: int, epoch: int, kind: str, number: int
) -> None:
    message = json.dumps([1, user, epoch, kind, number], separators=(",", ":")).encode()
    digest = hmac.digest(hkdf(SECRET, b"edit-link/v1", 32), message, "sha256")
    key = edit_key(SECRET, Identity(user, "x", Role.EDITOR, epoch), kind, number)
    assert key == hashlib.md5(digest).hexdigest()
    assert re.fullmatch(r"[0-9a-f]{32}", key)


def test_a_key_serves_one_person_one_kind_and_one_record_until_the_epoch_changes() -> None:
    key = edit_key(SECRET, ANNA, "transit", 12)
    assert is_right([key])
    assert not is_right([key], dataclasses.replace(ANNA, user_id=8))
    assert not is_right([key], dataclasses.replace(ANNA, epoch=4))
    assert not is_right([key], kind="scheduledbus")
    assert not is_right([key], record_id=121)
    assert not is_right([edit_key(b"x" * 48, ANNA, "transit", 12)])


def test_a_key_does_not_depend_on_the_name() -> None:
    assert edit_key(SECRET, dataclasses.replace(ANNA, name="Anna B."), "transit", 12) == edit_key(
        SECRET, ANNA, "transit", 12
    )


def test_the_keys_of_the_old_secret_are_taken_while_it_is_rotated() -> None:
    key = edit_key(OLD, ANNA, "transit", 12)
    assert is_right([key])
    assert not edit_key_is_right((SECRET,), [key], ANNA, "transit", 12)


def test_a_key_that_is_missing_or_sent_twice_is_wrong() -> None:
    key = edit_key(SECRET, ANNA, "transit", 12)
    assert not is_right([])
    assert not is_right([key, key])
    assert not is_right([key, "x"])


def test_a_key_in_another_shape_is_wrong() -> None:
    key = edit_key(SECRET, ANNA, "transit", 12)
    for shape in (key.upper(), f"{key}\n", f" {key}", key[:-1], f"{key}0", key.replace(key[0], "\uff10"), ""):
        assert not is_right([shape])


@given(st.lists(st.one_of(st.text(), st.text("0123456789abcdef", min_size=32, max_size=32)), max_size=3))
@example(["é" * 32])
@example(["٣" * 32])
@example(["\ud800" * 32])
def test_any_other_text_is_wrong_and_raises_nothing(given: list[str]) -> None:
    if given != [edit_key(SECRET, ANNA, "transit", 12)]:
        assert is_right(given) is False


def test_the_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def watch(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr("groundtransport.security.hmac.compare_digest", watch)
    assert not is_right(["0" * 32])
    assert [(type(one), type(other)) for one, other in compared] == [(bytes, bytes)] * 2


def test_permissions_and_roles_are_plain_words() -> None:
    assert {str(role) for role in Role} == {"viewer", "editor", "administrator"}
    assert {"view", "create", "edit", "delete"} <= {str(permission) for permission in Permission}
