"""The sign-in throttle: the number of attempts, by which keys they are counted, and which users stay unaffected."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError

from groundtransport import db
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser, SignInTry
from groundtransport.accounts.sign_in import throttle
from groundtransport.security import Role
from tests.functional.people import is_signed_in, sign_in
from tests.site import PASSWORD, PATIENT, Client, Site

HERE, THERE = "192.0.2.1", "198.51.100.7"
BROWSER = "groundtransport-browser"


pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts how often the hasher runs."""
    calls: list[str] = []
    verify = PasswordHasher.verify
    monkeypatch.setattr(PasswordHasher, "verify", lambda self, *args: calls.append("verify") or verify(self, *args))
    return calls


def fail(site: Site, times: int, name: str = "pat", address: str = HERE) -> list[int]:
    """Guess wrongly, with a new browser each time; return the answers."""
    return [sign_in(site.anonymous(address), name, f"wrong {i}").status_int for i in range(times)]


def spread(site: Site, times: int, name: str = "pat", network: str = "203.0.113") -> list[int]:
    """Guess wrongly from that many addresses."""
    return [fail(site, 1, name, f"{network}.{i}")[0] for i in range(times)]


def let_pass(site: Site, seconds: float) -> None:
    """Let all tries be older by so much."""
    with db.transaction(site.engine) as dbsession:
        for number, at in dbsession.execute(select(SignInTry.id, SignInTry.at)).all():
            dbsession.execute(
                update(SignInTry).where(SignInTry.id == number).values(at=at - timedelta(seconds=seconds))
            )


# The limits


def test_after_ten_failures_the_right_password_has_to_wait_too(site: Site, pat: AdminUser, hashed: list[str]) -> None:
    assert fail(site, 10) == [422] * 10
    hashed.clear()
    client = site.anonymous(HERE)

    answer = sign_in(client)

    assert answer.status_int == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 300
    assert not is_signed_in(client)
    assert hashed == []
    form = next(form for form in answer.forms.values() if "password" in form.fields)
    assert (form["username"].value, form["password"].value) == ("pat", "")
    assert "UTC" in answer.html.find(role="alert").get_text()


def test_a_program_gets_problem_details(site: Site, pat: AdminUser) -> None:
    fail(site, 10)

    answer = sign_in(site.anonymous(HERE), Accept="application/json")

    assert (answer.status_int, answer.content_type, answer.json["status"]) == (429, "application/problem+json", 429)
    assert int(answer.headers["Retry-After"]) > 0


def test_a_pair_is_a_person_and_an_address(site: Site, pat: AdminUser) -> None:
    fail(site, 10)

    assert fail(site, 1, "nobody") == [422]
    assert sign_in(site.anonymous(HERE), "the-editor").status_int == 303
    assert sign_in(site.anonymous(THERE)).status_int == 303


@pytest.mark.parametrize("name", ["PAT", " pat ", "ｐａｔ", "p\0at"])
def test_other_spellings_of_a_name_are_the_same_person(site: Site, pat: AdminUser, name: str) -> None:
    fail(site, 10)

    assert fail(site, 1, name) == [429]


@pytest.mark.parametrize("name", ["", "nobody", "x" * 5000, "<script>", "no body\n", "Ünïcode"])
def test_a_name_that_nobody_has_counts_the_same(site: Site, name: str) -> None:
    assert fail(site, 11, name) == [422] * 10 + [429]


def test_a_disabled_person_counts_the_same(site: Site, pat: AdminUser) -> None:
    with db.transaction(site.engine) as dbsession:
        users.disable(dbsession, users.find(dbsession, "pat"))

    answers = [sign_in(site.anonymous(HERE)).status_int for _ in range(11)]

    assert answers == [422] * 10 + [429]


def test_an_address_has_fifty_failures_for_all_names_together(site: Site, pat: AdminUser) -> None:
    assert [fail(site, 1, f"guess-{i}")[0] for i in range(50)] == [422] * 50

    assert sign_in(site.anonymous(HERE)).status_int == 429
    assert sign_in(site.anonymous(THERE)).status_int == 303


def test_a_person_has_fifty_failures_from_all_addresses_together(site: Site, pat: AdminUser) -> None:
    assert spread(site, 50) == [422] * 50

    assert sign_in(site.anonymous(THERE)).status_int == 429
    assert sign_in(site.anonymous(THERE), "the-editor").status_int == 303


def test_an_ipv6_address_counts_as_its_site(site: Site, pat: AdminUser) -> None:
    assert [fail(site, 1, address=f"2001:db8:1:2::{i:x}")[0] for i in range(10)] == [422] * 10

    assert fail(site, 1, address="2001:db8:1:2:ffff::1") == [429]
    assert fail(site, 1, address="2001:db8:1:3::1") == [422]


def test_a_header_does_not_make_another_address(site: Site, pat: AdminUser) -> None:
    for i in range(10):
        sign_in(site.anonymous(HERE), "pat", "wrong", X_Forwarded_For=f"203.0.113.{i}")

    assert sign_in(site.anonymous(HERE), X_Forwarded_For=THERE).status_int == 429


# Time


def test_it_opens_again_when_it_said(site: Site, pat: AdminUser) -> None:
    fail(site, 10)
    wait = int(sign_in(site.anonymous(HERE)).headers["Retry-After"])

    let_pass(site, wait - 30)
    assert sign_in(site.anonymous(HERE)).status_int == 429
    let_pass(site, 30)
    assert sign_in(site.anonymous(HERE)).status_int == 303


def test_a_refused_try_does_not_make_the_wait_longer(site: Site, pat: AdminUser) -> None:
    fail(site, 10)
    before = site.count(SignInTry)

    assert fail(site, 5) == [429] * 5
    assert site.count(SignInTry) == before


def test_old_tries_are_removed_on_the_way(site: Site, pat: AdminUser) -> None:
    fail(site, 3)
    let_pass(site, 301)

    fail(site, 1)

    assert site.count(SignInTry) == 1


# Success


def test_success_forgets_the_failures_of_the_pair(site: Site, pat: AdminUser) -> None:
    fail(site, 9)
    assert sign_in(site.anonymous(HERE)).status_int == 303
    assert fail(site, 10) == [422] * 10
    assert fail(site, 1) == [429]


def test_success_does_not_forget_the_failures_of_the_address(site: Site, pat: AdminUser) -> None:
    """Else a guesser with an account of their own would start anew with each sign-in."""
    for i in range(49):
        fail(site, 1, f"guess-{i}")
    assert [sign_in(site.anonymous(HERE)).status_int for _ in range(3)] == [303] * 3
    fail(site, 1)
    assert sign_in(site.anonymous(HERE)).status_int == 429


def test_a_success_is_no_failure(site: Site, pat: AdminUser) -> None:
    assert [sign_in(site.anonymous(HERE)).status_int for _ in range(12)] == [303] * 12
    assert site.count(SignInTry) == 0


# A browser that is known


def known(site: Site, name: str = "pat", address: str = HERE) -> Client:
    """Return a browser in which that person has signed in, and out again."""
    client = site.anonymous(address)
    assert sign_in(client, name).status_int == 303
    client.post("/logout")
    return client


def test_nobody_locks_out_a_colleague_whose_browser_is_known(site: Site, pat: AdminUser) -> None:
    client = known(site)
    fail(site, 10)
    spread(site, 40)
    assert sign_in(site.anonymous(THERE)).status_int == 429

    assert sign_in(client).status_int == 303


def test_a_known_browser_has_ten_failures_of_its_own(site: Site, pat: AdminUser) -> None:
    client = known(site)

    answers = [sign_in(client, "pat", "wrong").status_int for _ in range(11)]

    assert answers == [422] * 10 + [429]
    assert sign_in(client).status_int == 429
    assert sign_in(site.anonymous(HERE)).status_int == 303


def test_a_browser_is_known_for_its_person_alone(site: Site, pat: AdminUser) -> None:
    client = known(site, "the-editor")

    assert [sign_in(client, "pat", "wrong").status_int for _ in range(10)] == [422] * 10
    assert sign_in(site.anonymous(HERE)).status_int == 429


@pytest.mark.parametrize("change", [lambda v: v[:-1] + ("0" if v[-1] != "0" else "1"), lambda v: "A" + v[1:] + "x"])
def test_a_cookie_that_we_did_not_make_counts_for_nothing(site: Site, pat: AdminUser, change: Any) -> None:
    cookie = known(site).app.cookies[BROWSER].strip('"')
    fail(site, 10)
    client = site.anonymous(HERE)
    client.app.set_cookie(BROWSER, change(cookie))

    assert sign_in(client).status_int == 429


def test_the_cookie_that_makes_a_browser_known(site: Site, pat: AdminUser) -> None:
    answer = sign_in(site.anonymous())
    (cookie,) = [text for text in answer.headers.getall("Set-Cookie") if text.startswith(BROWSER)]
    assert {"HttpOnly", "Path=/", "SameSite=Strict", f"Max-Age={365 * 86400}"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert "pat" not in cookie

    secure = site.anonymous()
    secure.app.extra_environ["wsgi.url_scheme"] = "https"
    token = secure.get("/login").html.find("input", {"name": "csrf_token"})["value"]
    answer = secure.post("/login", {"username": "pat", "password": PASSWORD}, X_CSRF_Token=token)
    (cookie,) = [text for text in answer.headers.getall("Set-Cookie") if BROWSER in text]
    assert cookie.startswith(f"__Host-{BROWSER}=")
    assert {"secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))


def test_a_failure_makes_no_browser_known(site: Site, pat: AdminUser) -> None:
    client = site.anonymous()
    sign_in(client, "pat", "wrong")
    assert BROWSER not in client.app.cookies


# Where it is counted


def test_it_holds_over_a_restart(site: Site, pat: AdminUser) -> None:
    fail(site, 10)
    site.engine.dispose()
    site.start()

    assert fail(site, 1) == [429]


def test_parallel_guesses_cannot_race_past(site: Site, pat: AdminUser, hashed: list[str]) -> None:
    clients = [site.anonymous(HERE) for _ in range(16)]
    tokens = [client.csrf for client in clients]
    barrier, answers = threading.Barrier(len(clients)), []

    def guess(client: Client, token: str) -> None:
        barrier.wait()
        answers.append(sign_in(client, "pat", "wrong", X_CSRF_Token=token).status_int)

    threads = [threading.Thread(target=guess, args=pair) for pair in zip(clients, tokens, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [422] * 10 + [429] * 6
    assert len(hashed) == 10


def at_once(site: Site, jobs: list[tuple[str, str]]) -> list[int]:
    """Let those people sign in from those addresses at the same time; return the answers."""
    clients = [site.anonymous(address) for _name, address in jobs]
    tokens = [client.csrf for client in clients]
    barrier, answers = threading.Barrier(len(clients)), []

    def enter(client: Client, token: str, name: str) -> None:
        barrier.wait()
        answers.append(sign_in(client, name, X_CSRF_Token=token).status_int)

    threads = [
        threading.Thread(target=enter, args=(client, token, name))
        for client, token, (name, _address) in zip(clients, tokens, jobs, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_right_passwords_at_once_wait_for_each_other_and_are_all_let_in(
    site: Site, cheaply: None, pat: AdminUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than the limit lets be checked at a time: who is one too many has done nothing wrong."""
    monkeypatch.setitem(throttle.LIMITS, "pair", 3)
    monkeypatch.setattr(throttle, "TIMEOUT", 60)

    with site.again(**PATIENT) as patient:
        assert at_once(patient, [("pat", HERE)] * 12) == [303] * 12
    assert site.count(SignInTry) == 0


def test_who_waits_too_long_is_told_to_come_again(site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "TIMEOUT", 0)
    fail(site, 10)
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(SignInTry).values(is_decided=False))

    answer = sign_in(site.anonymous(HERE))

    assert (answer.status_int, answer.headers["Retry-After"]) == (429, "1")


def test_a_try_whose_process_died_counts_as_a_failure(site: Site, pat: AdminUser) -> None:
    fail(site, 10)
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(SignInTry).values(is_decided=False))
    let_pass(site, throttle.CHECKED_WITHIN.total_seconds())

    answer = sign_in(site.anonymous(HERE))

    assert answer.status_int == 429
    assert int(answer.headers["Retry-After"]) > 60


def test_a_sign_in_waits_for_nobody_elses(site: Site, pat: AdminUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's try is in the middle of being counted; SQLite has one lock for all writers."""
    if site.engine.dialect.name == "sqlite":
        return
    is_inside, may_go_on = threading.Event(), threading.Event()
    wait_for_turn = throttle._wait_for_turn

    def stop_pat(connection: Any, keys: dict[str, str]) -> None:
        wait_for_turn(connection, keys)
        if keys["network"] == HERE:
            is_inside.set()
            may_go_on.wait()

    monkeypatch.setattr(throttle, "_wait_for_turn", stop_pat)
    answers: list[int] = []
    first = threading.Thread(target=lambda: answers.append(sign_in(site.anonymous(HERE)).status_int))
    first.start()
    assert is_inside.wait(60)

    assert sign_in(site.anonymous(THERE), "the-editor").status_int == 303

    may_go_on.set()
    first.join()
    assert answers == [303]


def test_without_the_database_there_is_no_guess(
    site: Site, pat: AdminUser, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = site.anonymous(HERE)
    token = client.csrf
    with site.engine.connect() as connection:
        error = connection.dialect.loaded_dbapi.OperationalError

    def refuse(*words: object) -> None:
        raise db_error

    db_error = OperationalError("", {}, error("gone"))
    monkeypatch.setattr(throttle, "_wait_for_turn", refuse)
    answer = sign_in(client, X_CSRF_Token=token)

    assert answer.status_int == 503
    assert hashed == []
    assert not is_signed_in(client)


def test_the_database_holds_no_name_that_was_typed(site: Site, pat: AdminUser) -> None:
    fail(site, 1, "my-password-in-the-wrong-field")

    with site.engine.connect() as connection:
        rows = connection.execute(select(SignInTry.__table__)).all()
    assert len(rows) == 1
    assert "my-password" not in str(rows)


# The hasher


@pytest.mark.parametrize("known_browser", [False, True])
def test_it_hashes_once_for_whoever_it_is(site: Site, pat: AdminUser, hashed: list[str], known_browser: bool) -> None:
    with db.transaction(site.engine) as dbsession:
        users.disable(dbsession, users.add(dbsession, "gone", Role.EDITOR, PASSWORD, one_time=False))
    sign_in(site.anonymous(), "warm", "up")
    result = []
    cases = [
        ("pat", PASSWORD),
        ("pat", "wrong"),
        ("nobody", PASSWORD),
        ("gone", PASSWORD),
        ("pat", "x" * 50_000),
        ("", ""),
    ]
    for name, password in cases:
        client = known(site) if known_browser else site.anonymous()
        hashed.clear()
        sign_in(client, name, password)
        result.append(len(hashed))

    assert result == [1] * len(cases)


def test_an_outdated_hash_is_renewed_by_a_sign_in(site: Site, pat: AdminUser) -> None:
    before = site.scalar(select(AdminUser.password_hash).where(AdminUser.name == "pat"))
    passwords._hasher = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    assert sign_in(site.anonymous(), "pat", "wrong").status_int == 422
    assert site.scalar(select(AdminUser.password_hash).where(AdminUser.name == "pat")) == before

    assert sign_in(site.anonymous()).status_int == 303

    after = site.scalar(select(AdminUser.password_hash).where(AdminUser.name == "pat"))
    assert after != before
    assert "t=2" in after
    assert sign_in(site.anonymous()).status_int == 303
    assert site.scalar(select(func.max(AdminUser.session_epoch)).where(AdminUser.name == "pat")) == 0
