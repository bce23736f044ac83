"""Setting a second factor up, its recovery codes, switching it off, and who must have one."""

import dataclasses
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from groundtransport import db, settings
from groundtransport.accounts import secondfactor, users
from groundtransport.accounts.secondfactor import totp
from groundtransport.accounts.secondfactor.models import RecoveryCode, SecondFactor
from groundtransport.security import Role
from groundtransport.security_log.models import SecurityEvent
from tests.functional.factors import App, Clock, factor_of, give_factor, sign_in_wholly
from tests.functional.people import COOKIE, add_pat, is_signed_in, sign_in, with_cookie
from tests.site import JFK, PASSWORD, Client, Site

PAGE = "/admin/profile/second-factor"
OTHER_PASSWORD = "a short ride to the harbor"


pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def pat(site: Site) -> Client:
    add_pat(site)
    client = site.anonymous()
    sign_in(client)
    return client


@pytest.fixture
def for_editors(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Editors must have a second factor."""
    required = dataclasses.replace(site.registry["settings"], second_factor_roles=("editor",))
    monkeypatch.setitem(site.registry, "settings", required)


def begin(client: Client, clock: Clock) -> App:
    """Go through the page up to the secret."""
    answer = client.post(f"{PAGE}/set-up", {"current": PASSWORD})
    assert (answer.status_int, answer.location) == (303, f"http://localhost{PAGE}/set-up")
    return App(clock, client.get(answer.location).html.find(class_="secret").get_text().replace(" ", ""))


def codes_of(answer: Any) -> list[str]:
    return [code.get_text() for code in answer.html.find(id="codes").find_all("code")]


def events(site: Site) -> list[str]:
    with site.engine.connect() as connection:
        query = select(SecurityEvent.details).where(SecurityEvent.event == "second factor changed")
        return [details["what"] for details in connection.scalars(query.order_by(SecurityEvent.id))]


def test_setting_it_up(site: Site, pat: Client, clock: Clock) -> None:
    page = pat.get(PAGE)
    form = next(form for form in page.forms.values() if "current" in form.fields)
    form["current"] = PASSWORD
    shown = form.submit().follow()
    secret = shown.html.find(class_="secret").get_text()
    assert re.fullmatch(r"([A-Z2-7]{4} ){7}[A-Z2-7]{4}", secret)
    assert not is_asked(site), "nothing asks for a code yet"

    app = App(clock, secret.replace(" ", ""))
    form = next(form for form in shown.forms.values() if "code" in form.fields)
    form["code"] = app.code()
    answer = form.submit()
    assert answer.status_int == 200
    assert answer.headers["Cache-Control"] == "no-store"
    codes = codes_of(answer)
    assert len(codes) == 10
    assert all(re.fullmatch(r"[a-z2-9]{5}-[a-z2-9]{5}", code) for code in codes)
    assert is_signed_in(pat)
    assert "On" in pat.get("/admin/profile").html.find("section", {"aria-labelledby": "part-factor"}).get_text()
    assert not any(code in pat.get(address).text for code in codes for address in ("/admin/profile", PAGE))
    assert is_asked(site)
    assert events(site) == ["set up"]


def is_asked(site: Site) -> bool:
    return "step=code" in sign_in(site.anonymous()).location


def test_the_picture_is_ours_and_needs_no_style(pat: Client, clock: Clock) -> None:
    app = begin(pat, clock)
    page = pat.get(f"{PAGE}/set-up")
    picture = page.html.select_one("[role=img] svg")
    assert picture.find_parent(attrs={"role": "img"})["aria-label"]
    assert not re.search(r"style=|<style|<script|data:", str(picture))
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    address = totp.provisioning_uri(app.generator.secret, "pat")
    assert address == f"otpauth://totp/Ground%20transport:pat?secret={app.generator.secret}&issuer=Ground%20transport"
    assert str(totp.qr_code(app.generator.secret, "pat")).count("<path") == 2, "the ground and the code"


def test_it_asks_for_the_current_password(site: Site, pat: Client) -> None:
    answer = pat.post(f"{PAGE}/set-up", {"current": "wrong"})
    assert answer.status_int == 422
    assert "not your current" in answer.html.find(id="current-error").get_text()
    assert pat.get(f"{PAGE}/set-up").location == f"http://localhost{PAGE}"
    assert site.count(SecondFactor) == 0


def test_a_wrong_first_code_switches_nothing_on(site: Site, pat: Client, clock: Clock) -> None:
    app = begin(pat, clock)
    for code in ("", "000000", app.code(skew=-90), "1" * 5000, "٣٣٣٣٣٣"):
        answer = pat.post(f"{PAGE}/confirm", {"code": code})
        assert answer.status_int == 422
        assert answer.html.find(id="code-error") is not None
        assert app.generator.secret in answer.html.find(class_="secret").get_text().replace(" ", "")
    assert not is_asked(site)
    assert pat.post(f"{PAGE}/confirm", {"code": app.code()}).status_int == 200


def test_a_secret_waits_for_fifteen_minutes_and_a_new_one_takes_its_place(
    site: Site, pat: Client, clock: Clock
) -> None:
    first = begin(pat, clock)
    second = begin(pat, clock)
    assert first.generator.secret != second.generator.secret
    assert pat.post(f"{PAGE}/confirm", {"code": first.code()}).status_int == 422
    with db.transaction(site.engine) as dbsession:
        dbsession.execute(update(SecondFactor).values(pending_at=db.now() - timedelta(minutes=15)))
    assert pat.post(f"{PAGE}/confirm", {"code": second.code()}).location == f"http://localhost{PAGE}"
    assert not is_asked(site)


def test_setting_it_up_ends_the_other_sessions(site: Site, pat: Client, clock: Clock) -> None:
    other = site.anonymous()
    sign_in(other)
    before = with_cookie(site, pat.app.cookies[COOKIE])
    app = begin(pat, clock)
    pat.post(f"{PAGE}/confirm", {"code": app.code()})
    assert [is_signed_in(client) for client in (pat, other, before)] == [True, False, False]


def with_factor(site: Site, clock: Clock) -> tuple[Client, App, list[str]]:
    app, codes = give_factor(site, clock)
    client = site.anonymous()
    sign_in_wholly(client, app.code())
    clock.tick()
    return client, app, codes


@pytest.mark.parametrize("action", ["set-up", "codes", "off"])
@pytest.mark.parametrize(
    ("password", "code", "field"),
    [("wrong", "right", "current"), (PASSWORD, "000000", "code"), (PASSWORD, "used", "code"), (PASSWORD, None, "code")],
)
def test_every_change_asks_for_password_and_code(
    site: Site, clock: Clock, action: str, password: str, code: str | None, field: str
) -> None:
    add_pat(site)
    client, app, _ = with_factor(site, clock)
    stored = factor_of(site)
    form = {"current": password}
    if code:
        form["code"] = {"right": app.code(), "used": app.code(skew=-30)}.get(code, code)
    answer = client.post(f"{PAGE}/{action}", form)
    assert answer.status_int == 422
    assert answer.html.find(id=f"{field}-error") is not None
    assert (factor_of(site).sealed, factor_of(site).pending) == (stored.sealed, None)
    assert site.count(RecoveryCode) == 10
    if field == "current":
        assert client.post(f"{PAGE}/{action}", {"current": PASSWORD, "code": app.code()}).status_int in (200, 303), (
            "a wrong password uses no code up"
        )


def test_new_recovery_codes_take_the_place_of_the_old(site: Site, clock: Clock) -> None:
    add_pat(site)
    client, app, old = with_factor(site, clock)
    answer = client.post(f"{PAGE}/codes", {"current": PASSWORD, "code": app.code()})
    new = codes_of(answer)
    assert len(set(new) | set(old)) == 20
    assert sign_in_wholly(site.anonymous(), old[0]).status_int == 422
    assert sign_in_wholly(site.anonymous(), new[0]).status_int == 303
    assert events(site) == ["new recovery codes"]


def test_another_app_takes_over_when_it_has_shown_a_code(site: Site, clock: Clock) -> None:
    add_pat(site)
    client, old, codes = with_factor(site, clock)
    answer = client.post(f"{PAGE}/set-up", {"current": PASSWORD, "code": codes[0]})
    new = App(clock, client.get(answer.location).html.find(class_="secret").get_text().replace(" ", ""))
    assert sign_in_wholly(site.anonymous(), old.code()).status_int == 303
    clock.tick()
    assert len(codes_of(client.post(f"{PAGE}/confirm", {"code": new.code()}))) == 10
    clock.tick()
    assert sign_in_wholly(site.anonymous(), old.code()).status_int == 422
    assert sign_in_wholly(site.anonymous(), codes[1]).status_int == 422
    assert sign_in_wholly(site.anonymous(), new.code()).status_int == 303


def test_switching_it_off(site: Site, clock: Clock) -> None:
    add_pat(site)
    client, app, _ = with_factor(site, clock)
    answer = client.post(f"{PAGE}/off", {"current": PASSWORD, "code": app.code()})
    assert answer.location == "http://localhost/admin/profile"
    assert "switched off" in client.get(answer.location).html.find(id="messages").get_text()
    assert (site.count(SecondFactor), site.count(RecoveryCode)) == (0, 0)
    assert not is_asked(site)
    assert events(site) == ["switched off"]


def test_codes_are_not_guessed_on_the_profile(site: Site, clock: Clock) -> None:
    add_pat(site)
    client, _, _ = with_factor(site, clock)
    answers = [client.post(f"{PAGE}/off", {"current": PASSWORD, "code": "000000"}).status_int for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert factor_of(site).failures == 10


# Roles that must have one


def test_who_must_have_one_sets_it_up_before_anything_else_opens(
    site: Site, for_editors: None, clock: Clock, kind: str
) -> None:
    add_pat(site)
    client = site.anonymous()
    sign_in(client, target=f"/admin/{kind}")
    for answer in (
        client.get("/admin"),
        client.get("/admin/profile"),
        client.get("/admin/profile/sessions"),
        client.get(f"/admin/{kind}?ajax=1"),
        client.get("/admin/nope"),
        client.post(f"/admin/{kind}", {"airport_name": JFK}),
        client.post("/admin/profile", {"current": PASSWORD}),
    ):
        assert (answer.status_int, answer.location) == (303, f"http://localhost{PAGE}")
    assert site.count(site.kinds[kind].model) == 0
    assert "role requires a second factor" in client.get(PAGE).text

    app = begin(client, clock)
    client.post(f"{PAGE}/confirm", {"code": app.code()})
    assert client.get(f"/admin/{kind}").status_int == 200
    assert site.client(Role.VIEWER).get("/admin").status_int == 200, "viewers need none"


def test_who_must_have_one_cannot_switch_it_off(site: Site, for_editors: None, clock: Clock) -> None:
    add_pat(site)
    client, app, _ = with_factor(site, clock)
    assert not any(form.action.endswith("/off") for form in client.get(PAGE).forms.values())
    answer = client.post(f"{PAGE}/off", {"current": PASSWORD, "code": app.code()})
    assert answer.status_int == 422
    assert "You cannot switch it off" in answer.text
    assert site.count(SecondFactor) == 1


def test_a_one_time_password_comes_first_and_the_second_factor_then(
    site: Site, for_editors: None, clock: Clock
) -> None:
    with db.transaction(site.engine) as dbsession:
        users.add(dbsession, "pat", Role.EDITOR, PASSWORD, one_time=True)
    client = site.anonymous()
    sign_in(client)
    assert client.get(PAGE).location == "http://localhost/admin/profile"
    new = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    client.post("/admin/profile", new)
    assert client.get("/admin").location == f"http://localhost{PAGE}"


def test_a_new_one_time_password_does_not_put_the_second_factor_aside(site: Site, clock: Clock) -> None:
    add_pat(site)
    app, _ = give_factor(site, clock)
    with db.transaction(site.engine) as dbsession:
        users.set_password(users.find(dbsession, "pat"), OTHER_PASSWORD, one_time=True)
    client = site.anonymous()
    assert "step=code" in sign_in(client, password=OTHER_PASSWORD).location
    assert client.get("/admin/profile").location.startswith("http://localhost/login")
    sign_in_wholly(client, app.code(), password=OTHER_PASSWORD)
    assert client.get("/admin").location == "http://localhost/admin/profile"
    assert client.get("/admin/profile").status_int == 200


@pytest.mark.parametrize("roles", ["pilot", "administrator, editor"])
def test_a_role_that_there_is_not_stops_the_start(site: Site, roles: str) -> None:
    import groundtransport

    with pytest.raises(settings.SettingsError, match="second_factor_roles"):
        groundtransport.main({}, **{**site.app_settings, "groundtransport.second_factor_roles": roles})


def test_the_setting_names_roles(site: Site) -> None:
    read = settings.read({**site.app_settings, "groundtransport.second_factor_roles": "administrator  editor"})
    assert read.second_factor_roles == ("administrator", "editor")
    assert settings.read(site.app_settings).second_factor_roles == ()


# Secrets that are rotated, and resets


def rotate(site: Site, monkeypatch: pytest.MonkeyPatch, *secrets: bytes) -> None:
    now = site.registry["settings"]
    monkeypatch.setitem(site.registry, "settings", dataclasses.replace(now, secrets=secrets))


def test_it_outlives_a_rotation_of_the_services_secret(
    site: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = site.registry["settings"].secrets[0], b"n" * 48
    add_pat(site)
    app, codes = give_factor(site, clock)
    rotate(site, monkeypatch, new, old)
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 303
    clock.tick()

    with db.transaction(site.engine) as dbsession:
        assert secondfactor.reseal(dbsession, (new, old)) == 1
    with db.transaction(site.engine) as dbsession:
        assert secondfactor.reseal(dbsession, (new, old)) == 0
    rotate(site, monkeypatch, new)
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 303
    clock.tick()

    rotate(site, monkeypatch, b"t" * 48)  # the old one was thrown away too early
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 422
    assert sign_in_wholly(site.anonymous(), codes[0]).status_int == 303, "recovery codes need no secret"


def test_a_reset_ends_sessions_and_asks_no_more(site: Site, clock: Clock) -> None:
    add_pat(site)
    client, _, _ = with_factor(site, clock)
    with db.transaction(site.engine) as dbsession:
        secondfactor.reset(dbsession, users.find(dbsession, "pat"))
    assert not is_signed_in(client)
    assert not is_asked(site)
    assert site.count(RecoveryCode) == 0


def test_a_sealed_secret_of_somebody_else_opens_nothing(site: Site, clock: Clock) -> None:
    add_pat(site)
    give_factor(site, clock)
    app, _ = give_factor(site, clock, "the-viewer")
    stolen = factor_of(site, "the-viewer").sealed
    with db.transaction(site.engine) as dbsession:
        pat = users.find(dbsession, "pat")
        dbsession.execute(update(SecondFactor).where(SecondFactor.user_id == pat.id).values(sealed=stolen))
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 422


# The password


@pytest.mark.parametrize("code", [None, "", "000000", "used"])
def test_the_password_is_not_changed_without_a_code(site: Site, pat: Client, clock: Clock, code: str | None) -> None:
    """A stolen session and a stolen password are not the person."""
    app, _codes = give_factor(site, clock)
    client = site.anonymous()
    used = app.code()
    sign_in_wholly(client, used)
    form = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD}
    form |= {} if code is None else {"code": used if code == "used" else code}

    answer = client.post("/admin/profile", form)

    assert answer.status_int == 422
    assert "code is wrong" in answer.html.find(id="code-error").get_text()
    assert factor_of(site).failures == 1
    clock.tick()
    assert sign_in_wholly(site.anonymous(), app.code()).status_int == 303, "with the old password"


def test_the_password_is_changed_with_a_code_or_a_recovery_code(site: Site, pat: Client, clock: Clock) -> None:
    app, codes = give_factor(site, clock)
    client = site.anonymous()
    sign_in_wholly(client, app.code())
    clock.tick()
    form = next(form for form in client.get("/admin/profile").forms.values() if "repeated" in form.fields)
    form["current"], form["code"], form["password"], form["repeated"] = PASSWORD, app.code(), "short", "short"
    assert "at least 15" in form.submit(expect_errors=True).html.find(id="password-error").get_text()

    form["password"] = form["repeated"] = OTHER_PASSWORD
    assert form.submit().status_int == 303, "the code was not used up by the refusal"

    back = {"current": OTHER_PASSWORD, "password": PASSWORD, "repeated": PASSWORD, "code": codes[0]}
    assert client.post("/admin/profile", back).status_int == 303
    back = {"current": PASSWORD, "password": OTHER_PASSWORD, "repeated": OTHER_PASSWORD, "code": codes[0]}
    assert client.post("/admin/profile", back).status_int == 422, "it was used"


def test_who_has_no_second_factor_is_asked_for_no_code(pat: Client) -> None:
    form = next(form for form in pat.get("/admin/profile").forms.values() if "repeated" in form.fields)
    assert "code" not in form.fields
