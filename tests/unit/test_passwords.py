"""Which passwords are taken, and what they are compared by."""

from collections.abc import Iterator
from typing import Any

import pytest

from groundtransport.accounts import password_strength, passwords
from groundtransport.accounts.passwords import MAX_LENGTH, MIN_LENGTH, PasswordRefused
from tests.functional.people import cheap_hashes

OWN = {"pat", "Pat", "Fernandez"}


@pytest.fixture(autouse=True)
def cheaply() -> Iterator[None]:
    with cheap_hashes():
        yield


def why(password: str) -> str:
    """Return the reason of the refusal; "" for a password that is taken."""
    try:
        passwords.hash_new(password, OWN)
    except PasswordRefused as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(
    "password",
    [
        "a long walk to the terminal",
        "correct horse battery staple",
        "correcthorsebatterystaple",
        "my dog is brown",  # 15 characters, lower case alone: no rules of composition
        "x7km-9fq2c-kkw3p",
        "]#(&^}{!~@%$*)+=",
        "7302915846027315",
        "ünïcödé påsswörd lång",
        "пароль на каждый день",
        "正しい馬の電池とホチキスの針を持つ人",
        "🐎🔋📎 and a long walk 🚶",
        "tab\tand\x01control characters",
        "w7" + "q9 zx " * 10 + "kv",  # 64 characters
    ],
)
def test_taken(password: str) -> None:
    assert why(password) == ""
    assert len(password) >= MIN_LENGTH


@pytest.mark.parametrize(
    "password",
    [
        "passwordpassword",
        "PasswordPassword",
        "passwordpassword123",
        "P@ssw0rdP@ssw0rd!",
        "qwertyuiopasdfgh",
        "qwertyuiopasdfghjklzxcvbnm",
        "1234567890123456",
        "111111111111111111",
        "abcdefghijklmnop",
        "iloveyouiloveyou1",
        "Welcome123456789",
        "letmeinletmein123!",
        "monkeydragonbaseball",
        "summer2026summer2026",
        "1qaz2wsx3edc4rfv",
        "mailcreated5240",
        "michaeljackson1985",
        "密码密码密码密码密码密码密码密码",
        "a" * MAX_LENGTH,
    ],
)
def test_refused_as_common(password: str) -> None:
    assert "easy to guess" in why(password)


@pytest.mark.parametrize(
    "password",
    [
        "patpatpatpatpatpat2026",
        "PatFernandez2026",
        "p4tf3rnandez2026!",
        "fernandezfernandez1",
        "groundtransport2026!",
        "GroundTransport12345",
        "airportshuttlebus",
        "administrator123",
        "scheduledscheduledbus",
    ],
)
def test_refused_as_ones_own_words(password: str) -> None:
    assert why(password) != ""
    assert "many people" in why(password) or "your own name" in why(password)


def test_what_the_service_makes_is_taken() -> None:
    assert why(passwords.generate()) == ""


def test_ones_own_words_say_so() -> None:
    assert "your own name" in why("PatFernandez2026")
    assert passwords.hash_new("PatFernandez2026", {"somebody"})


def test_a_name_in_a_long_password_is_no_harm() -> None:
    assert why("pat takes a long walk") == ""


@pytest.mark.parametrize(("password", "word"), [("x7km-9fq2c-kkw", "at least 15"), ("", "at least 15")])
def test_too_short(password: str, word: str) -> None:
    assert word in why(password)


def test_too_long_is_refused_before_anything_is_done_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_strength, "is_common", lambda _: pytest.fail("looked at"))
    monkeypatch.setattr(passwords, "_normal", lambda _: pytest.fail("looked at"))
    assert "at most 256" in why("ab" * 5_000_000)


def test_what_is_no_character_is_refused_not_an_error() -> None:
    assert "invalid character" in why("a long walk to the \ud800 terminal")
    assert not passwords.verify("a long walk \ud800", passwords.hash_new("a long walk to the terminal", ()))


def test_the_same_letters_written_in_two_ways_are_one_password() -> None:
    composed, decomposed = "une tr\u00e8s longue marche", "une tre\u0300s longue marche"
    assert passwords.verify(decomposed, passwords.hash_new(composed, ()))
    assert passwords.verify(composed, passwords.rehash(decomposed))
    assert not passwords.verify("une tres longue marche", passwords.hash_new(composed, ()))


def test_nothing_is_cut_and_case_matters() -> None:
    password = "w7q9zx " * 30
    hashed = passwords.hash_new(password, ())
    assert passwords.verify(password, hashed)
    assert not passwords.verify(password[:-1], hashed)
    assert not passwords.verify(password.upper(), hashed)


def test_the_list_is_there_and_is_long() -> None:
    common = list(password_strength._common_passwords())
    assert len(common) >= 10_000
    long = [word for word in common if len(word) >= MIN_LENGTH]
    assert long
    assert [word for word in long if not why(word)] == []


def test_a_stranger_cannot_make_the_check_costly() -> None:
    """It grows with the length, not by itself: each character is asked for a bounded number of pieces."""
    for password in ("4@8({[<369!1|$5+" * 16, "ab" * 128, "a1!" * 85):
        calls: list[int] = []
        real = password_strength._is_piece

        def counting(*args: Any, calls: list[int] = calls, real: Any = real) -> Any:
            calls.append(1)
            return real(*args)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(password_strength, "_is_piece", counting)
            password_strength.is_common(password)
        assert len(calls) <= 2 * len(password) * password_strength.PIECE_MAX


def test_a_password_that_folds_into_a_long_one_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    is_piece = password_strength._is_piece
    monkeypatch.setattr(password_strength, "_is_piece", lambda *where: asked.append(0) or is_piece(*where))

    assert not password_strength.is_common("\ufdfa" * MAX_LENGTH)
    assert len(asked) <= 2 * MAX_LENGTH * password_strength.PIECE_MAX
