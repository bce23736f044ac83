"""The second step of signing in: which codes open, how often, and what a password alone opens: nothing."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from groundtransport import db
from groundtransport.accounts import secondfactor, users
from groundtransport.accounts.models import AdminSession, AdminUser, SignInTry
from groundtransport.accounts.secondfactor.models import FAILURES_MAX, PendingSignIn, SecondFactor
from groundtransport.security_log.models import SecurityEvent
from tests.functional.factors import Clock, factor_of, give_factor, sign_in_wholly, type_code
from tests.functional.people import COOKIE, add_pat, is_signed_in, sign_in, with_cookie
from tests.site import PASSWORD, Client, Site

pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def events(site: Site) -> list[tuple[str, dict[str, str]]]:
    with site.engine.connect() as connection:
        query = select(SecurityEvent.event, SecurityEvent.details).order_by(SecurityEvent.id)
        return [(row.event, row.details) for row in connection.execute(query)]


def test_the_password_alone_opens_nothing_and_the_code_leads_on(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    answer = sign_in(client, target="/admin/transit?q=alpha")
    assert (answer.status_int, answer.location) == (
        303,
        "http://localhost/login?step=code&next=/admin/transit%3Fq%3Dalpha",
    )
    for address in ("/admin", "/admin/profile", "/admin/profile/second-factor", "/admin/transit?ajax=1"):
        refused = client.get(address)
        assert (refused.status_int, refused.location.split("?")[0]) == (303, "http://localhost/login")
    assert client.post("/admin/profile/preferences", {"theme": "dark"}).location.startswith("http://localhost/login")
    assert site.count(AdminSession) == 0

    form = next(form for form in client.get(answer.location).forms.values() if "code" in form.fields)
    assert form["next"].value == "/admin/transit?q=alpha"
    form["code"] = f"{app.code()[:3]} {app.code()[3:]}"
    opened = form.submit()
    assert (opened.status_int, opened.location) == (303, "http://localhost/admin/transit?q=alpha")
    assert is_signed_in(client)
    assert events(site)[-1] == ("sign-in", {"second_factor": "app"})
    assert site.count(PendingSignIn) == 0
    assert site.count(SignInTry) == 0, "neither step was a failure"


def test_each_step_gives_the_browser_a_new_id(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    client.get("/login")
    planted = client.app.cookies[COOKIE]
    sign_in(client)
    owing = client.app.cookies[COOKIE]
    type_code(client, app.code())

    assert len({planted, owing, client.app.cookies[COOKIE]}) == 3
    assert not is_signed_in(with_cookie(site, planted))
    assert not is_signed_in(with_cookie(site, owing))


def test_who_signs_in_anew_is_signed_out_until_the_code_is_right(site: Site, pat: AdminUser, clock: Clock) -> None:
    client = site.anonymous()
    sign_in(client)
    before = client.app.cookies[COOKIE]
    give_factor(site, clock)
    sign_in(client)
    assert not is_signed_in(client)
    assert not is_signed_in(with_cookie(site, before))


def test_what_a_browser_owes_is_bound_to_it(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    sign_in(site.anonymous())
    other = site.anonymous()
    answer = type_code(other, app.code(), "/admin/transit")
    assert (answer.status_int, answer.location) == (303, "http://localhost/login?late=1&next=/admin/transit")
    assert "began" not in other.get(answer.location).text
    assert "took too long" in other.get(answer.location).html.find(role="alert").get_text()
    assert other.get("/login?step=code").status_int == 303
    assert not is_signed_in(other)


@pytest.mark.parametrize(("skew", "status"), [(0, 303), (-30, 303), (30, 303), (-60, 422), (60, 422), (3600, 422)])
def test_a_clock_may_be_wrong_by_one_step(site: Site, pat: AdminUser, clock: Clock, skew: int, status: int) -> None:
    app, _ = give_factor(site, clock)
    clock.tick(90)  # the first code was used to set it up
    client = site.anonymous()
    assert sign_in_wholly(client, app.code(skew)).status_int == status
    assert is_signed_in(client) == (status == 303)


def test_a_used_code_is_not_taken_again_nor_an_older_one(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    assert sign_in_wholly(site.anonymous(), app.code(skew=-30)).status_int == 422, "it was used to set it up"
    code = app.code()
    assert sign_in_wholly(site.anonymous(), code).status_int == 303
    assert sign_in_wholly(site.anonymous(), code).status_int == 422
    clock.tick()
    assert sign_in_wholly(site.anonymous(), code).status_int == 422
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 303


@pytest.mark.parametrize("which", ["of the app", "for recovery"])
def test_of_two_who_type_the_same_code_at_once_one_gets_in(
    site: Site, pat: AdminUser, clock: Clock, which: str
) -> None:
    app, codes = give_factor(site, clock)
    code = app.code() if which == "of the app" else codes[0]
    clients = [site.anonymous() for _ in range(4)]
    for client in clients:
        sign_in(client)
    tokens = [client.csrf for client in clients]
    answers: list[int] = []
    barrier = threading.Barrier(len(clients))

    def go(client: Client, token: str) -> None:
        barrier.wait()
        answers.append(type_code(client, code, X_CSRF_Token=token).status_int)

    threads = [threading.Thread(target=go, args=pair) for pair in zip(clients, tokens, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 422, 422, 422]
    assert sum(is_signed_in(client) for client in clients) == 1


def test_a_pending_sign_in_is_used_up_by_its_success(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    owing = with_cookie(site, client.app.cookies[COOKIE])
    type_code(client, app.code())
    clock.tick()
    assert type_code(owing, app.code()).location == "http://localhost/login?late=1"


def test_it_lasts_five_minutes(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    with db.transaction(site.engine) as dbsession:
        waiting = dbsession.scalar(select(PendingSignIn))
        dbsession.execute(update(PendingSignIn).values(at=waiting.at - timedelta(minutes=5)))
    assert type_code(client, app.code()).location == "http://localhost/login?late=1"
    sign_in(site.anonymous())
    assert site.count(PendingSignIn) == 1, "what is over is removed by the next"


def test_an_account_that_changed_meanwhile_lets_nobody_in(site: Site, pat: AdminUser, clock: Clock) -> None:
    for change in (users.disable, secondfactor.reset, lambda _, user: users.end_sessions(user)):
        site.clean()
        add_pat(site)
        app, _ = give_factor(site, clock)
        client = site.anonymous()
        sign_in(client)
        with db.transaction(site.engine) as dbsession:
            change(dbsession, users.find(dbsession, "pat"))
        assert type_code(client, app.code()).location == "http://localhost/login?late=1"
        assert not is_signed_in(client)


# Recovery codes


def test_a_recovery_code_opens_once_and_they_are_counted_down(site: Site, pat: AdminUser, clock: Clock) -> None:
    _, codes = give_factor(site, clock)
    assert len(set(codes)) == 10
    levels = []
    for left, code in zip(range(9, -1, -1), codes, strict=True):
        client = site.anonymous()
        typed = code.upper() if left % 2 else f" {code.replace('-', ' ')} "
        assert sign_in_wholly(client, typed).status_int == 303
        message = client.get("/admin").html.find(id="messages").find(class_="message")
        assert f"; {left} " in message.get_text()
        levels.append("warning" in message["class"])
        assert sign_in_wholly(site.anonymous(), code).status_int == 422
    assert levels == [False] * 6 + [True] * 4


def test_recovery_codes_are_not_stored(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, codes = give_factor(site, clock)
    with site.engine.connect() as connection:
        stored = " ".join(
            str(row)
            for table in ("admin_second_factor", "admin_recovery_code")
            for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        )
    for secret in [app.generator.secret, *codes, *(code.replace("-", "") for code in codes)]:
        assert secret not in stored


# Guessing


def test_wrong_codes_count_as_failed_sign_ins(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    answers = [type_code(client, "000000").status_int for _ in range(10)]
    assert answers == [422] * 9 + [429], "the password's try is the first of ten"
    response = type_code(client, app.code())
    assert (response.status_int, int(response.headers["Retry-After"]) > 0) == (429, True)
    assert response.html.find(id="code") is not None
    assert not is_signed_in(client)
    assert sign_in(client).status_int == 429
    assert {event for event, _ in events(site)} == {"sign-in failed", "sign-in throttled"}


def test_a_right_password_does_not_take_back_the_guesses_of_the_code(site: Site, pat: AdminUser, clock: Clock) -> None:
    give_factor(site, clock)
    answers = []
    for _ in range(6):
        client = site.anonymous()
        answers.append(sign_in(client).status_int)
        answers.append(type_code(client, "000000").status_int)
    assert answers[:10] == [303, 422] * 5
    assert answers[10] == 429


def test_after_a_hundred_wrong_codes_only_a_recovery_code_or_a_reset_helps(
    site: Site, pat: AdminUser, clock: Clock
) -> None:
    app, codes = give_factor(site, clock)
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(SecondFactor).values(failures=FAILURES_MAX - 1))
    assert "is wrong" in sign_in_wholly(site.anonymous(), "000000").text
    client = site.anonymous()
    answer = sign_in_wholly(client, app.code())
    assert answer.status_int == 422
    assert "ask an administrator" in answer.text
    assert sign_in_wholly(site.anonymous(), codes[0]).status_int == 303
    assert factor_of(site).failures == 0
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 303


def test_wrong_codes_are_forgotten_by_a_right_one(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    type_code(client, "000000")
    type_code(client, "000000")
    assert factor_of(site).failures == 2
    assert type_code(client, app.code()).status_int == 303
    assert factor_of(site).failures == 0


@pytest.mark.parametrize(
    "code", ["", " ", "٣٣٣٣٣٣", "1" * 5000, "123456\0", "-1", "1e5", "' OR 1=1 --", "abcde-fghjk", "😀" * 6]
)
def test_whatever_is_typed_is_answered_alike(site: Site, pat: AdminUser, clock: Clock, code: str) -> None:
    give_factor(site, clock)
    answer = sign_in_wholly(site.anonymous(), code)
    assert answer.status_int == 422
    assert "is wrong" in answer.html.find(role="alert").get_text()


def test_a_program_is_told_as_a_program(site: Site, pat: AdminUser, clock: Clock) -> None:
    give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    answer = type_code(client, "000000", Accept="application/json")
    assert (answer.status_int, answer.content_type) == (422, "application/problem+json")


def test_a_forged_or_doubled_form_is_a_400(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    sign_in(client)
    assert type_code(client, app.code(), X_CSRF_Token="").status_int == 400
    assert type_code(client, app.code(), Origin="https://evil.example").status_int == 400
    assert client.post("/login?step=code", [("code", app.code()), ("code", "1")]).status_int == 400
    assert type_code(client, app.code()).status_int == 303


def test_the_second_step_leads_nowhere_else(site: Site, pat: AdminUser, clock: Clock) -> None:
    app, _ = give_factor(site, clock)
    client = site.anonymous()
    assert sign_in(client, target="//evil.example").location == "http://localhost/login?step=code"
    assert "evil" not in client.get("/login?step=code&next=//evil.example").text
    assert type_code(client, app.code(), "//evil.example").location == "http://localhost/admin"


def test_an_unknown_password_is_not_asked_for_a_code(site: Site, pat: AdminUser, clock: Clock) -> None:
    give_factor(site, clock)
    client = site.anonymous()
    assert sign_in(client, password="wrong").status_int == 422
    assert sign_in(client, "nobody", PASSWORD).status_int == 422
    assert site.count(PendingSignIn) == 0
