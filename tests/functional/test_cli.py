"""The command line: setting a deployment up, and its people."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyotp
import pytest
from sqlalchemy import text

from groundtransport import db
from groundtransport.accounts import passwords, secondfactor, users
from groundtransport.accounts.models import AdminUser
from groundtransport.accounts.secondfactor.models import RecoveryCode, SecondFactor
from groundtransport.accounts.secondfactor.sealing import unseal
from groundtransport.airports import tables
from groundtransport.airports.models import Airport, City
from groundtransport.audit.models import AdminActivity
from groundtransport.db import migrations
from groundtransport.db.setup_lock import setup_lock
from groundtransport.security import Role
from groundtransport.security_log.models import SecurityEvent
from tests.shell import Shell, run
from tests.site import ENVIRON, PASSWORD

pytestmark = pytest.mark.slow

AIRPORTS = 7884 + len(tables.additions())


@pytest.fixture
def empty(empty_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, empty_database_url)
    yield shell
    shell.engine.dispose()


@pytest.fixture
def small(small_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, small_database_url)
    yield shell
    shell.engine.dispose()


# init


def test_init_sets_everything_up_and_the_second_time_does_nothing(empty: Shell) -> None:
    printed = empty("init")
    assert migrations.current(empty.engine) == migrations.heads()
    assert len(empty.all(Airport.code)) == AIRPORTS
    assert f"{AIRPORTS:,} airports" in printed
    assert len(empty.all(City.id)) > 60_000

    (password,) = re.findall(r"One-time password: (\S+)", printed)
    admin = empty.user("admin")
    assert passwords.verify(password, admin.password_hash)
    assert (admin.role, admin.must_change_password) == ("administrator", True)

    assert empty("init") == ""
    assert empty.user("admin") == admin


def test_two_inits_at_once_set_up_one_after_the_other(empty: Shell) -> None:
    """As of two containers that start together."""
    words = [sys.executable, "-W", "ignore", "-c", "from groundtransport.cli import main; main()"]
    both = [
        subprocess.Popen(
            [*words, "-c", str(empty.ini), "init"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(2)
    ]
    printed = [process.communicate()[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], printed
    assert sorted("One-time password" in text for text in printed) == [False, True]
    assert empty.all(AdminUser.name) == ["admin"]
    assert len(empty.all(Airport.code)) == AIRPORTS


def test_an_init_waits_for_another_and_says_so(small: Shell) -> None:
    with setup_lock(small.engine, pytest.fail):
        printed: list[str] = []
        holder = threading.Thread(target=lambda: printed.append(small("init")))
        holder.start()
        holder.join(timeout=1)
        assert holder.is_alive()
    holder.join()

    assert printed[0].startswith("Another init of this database is at work")
    assert small.user("admin")


def test_init_takes_the_operators_own_password_and_does_not_print_it(small: Shell) -> None:
    printed = small("init", GROUNDTRANSPORT_ADMIN_PASSWORD=PASSWORD)
    admin = small.user("admin")
    assert passwords.verify(PASSWORD, admin.password_hash)
    assert admin.must_change_password is False
    assert PASSWORD not in printed
    assert "GROUNDTRANSPORT_ADMIN_PASSWORD" in printed
    small("init", GROUNDTRANSPORT_ADMIN_PASSWORD="another long walk entirely")
    assert small.user("admin") == admin


def test_init_holds_that_password_to_the_same_rules(small: Shell) -> None:
    assert "GROUNDTRANSPORT_ADMIN_PASSWORD" in small("init", fails=True, GROUNDTRANSPORT_ADMIN_PASSWORD="short")
    assert small.all(AdminUser.name) == []


def test_nothing_but_init_works_before_init(empty: Shell) -> None:
    file = empty.write("airport_name\nKennedy (JFK)\n")
    for words in (["user", "list"], ["import", "transit", file], ["sample", "transit"], ["airports", "refresh"]):
        assert "init" in empty(*words, fails=True)


@pytest.mark.parametrize("url", ["sqlite:////dev/null/x/y.sqlite", "sqlite:////dev", "postgresql://127.0.0.1:9/none"])
def test_a_database_that_is_away_is_said_in_words(tmp_path: Path, url: str) -> None:
    ini = tmp_path / "away.ini"
    ini.write_text(f"[app:main]\nuse = egg:groundtransport\ngroundtransport.hosts = x\nsqlalchemy.url = {url}\n")
    result = run("-c", str(ini), "user", "list")
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code != 0
    assert result.output


def test_a_bad_ini_is_said_in_words(tmp_path: Path) -> None:
    ini = tmp_path / "bad.ini"
    ini.write_text("[app:main]\nuse = egg:groundtransport\nsqlalchemy.url = sqlite:///x\ngroundtransport.host = x\n")
    result = run("-c", str(ini), "user", "list")
    assert isinstance(result.exception, SystemExit)
    assert "groundtransport.host" in str(result.exception) + result.output


# user


def test_a_person_is_added_with_a_password_from_standard_input(small: Shell) -> None:
    small("user", "add", "Anna", "--role", "editor", stdin=f"{PASSWORD}\n")
    anna = small.user("anna")
    assert (anna.role, anna.must_change_password, anna.disabled_at) == ("editor", False, None)
    assert passwords.verify(PASSWORD, anna.password_hash)


def test_a_person_without_a_password_gets_one_that_is_printed_once(small: Shell) -> None:
    printed = small("user", "add", "bob", "--role", "viewer")
    bob = small.user("bob")
    assert passwords.verify(printed.split()[-1], bob.password_hash)
    assert bob.must_change_password is True
    assert printed.split()[-1] not in small("user", "list")


REFUSED = [
    (["add", "anna", "--role", "viewer"], PASSWORD),  # taken
    (["add", "ANNA", "--role", "viewer"], PASSWORD),  # the same name
    *[(["add", name, "--role", "viewer"], PASSWORD) for name in ("", "a b", "x" * 65, "a\tb")],
    *[(["add", "new", "--role", "viewer"], password) for password in ("short", "a" * 40, "x" * 300, "new" * 5)],
    (["add", "new", "--role", "king"], PASSWORD),
    (["add", "new"], PASSWORD),
    (["password", "nobody"], PASSWORD),
    (["password", "anna"], "short"),
    (["role", "nobody", "viewer"], ""),
    (["role", "anna", "viewer"], ""),  # the last administrator
    (["disable", "anna"], ""),
    (["disable", "nobody"], ""),
]


def test_what_cannot_be_done_to_a_person_is_refused_and_changes_nothing(small: Shell) -> None:
    small("user", "add", "anna", "--role", "administrator", stdin=PASSWORD)
    before = small.user("anna")
    for words, stdin in REFUSED:
        assert small("user", *words, stdin=stdin, fails=True)
        assert small.user("anna") == before
        assert small.all(AdminUser.name) == ["anna"]


def test_a_new_password_a_new_role_and_a_lock_end_all_sessions(small: Shell) -> None:
    small("user", "add", "anna", "--role", "administrator", stdin=PASSWORD)
    small("user", "add", "bob", "--role", "editor", stdin=PASSWORD)
    epochs = [small.user("bob").session_epoch]
    printed = small("user", "password", "bob")
    assert passwords.verify(printed.split()[-1], small.user("bob").password_hash)
    epochs.append(small.user("bob").session_epoch)
    small("user", "role", "bob", "administrator")
    epochs.append(small.user("bob").session_epoch)
    small("user", "disable", "anna")  # no longer the last
    small("user", "disable", "bob", fails=True)
    assert small.user("anna").disabled_at is not None
    assert epochs == sorted(set(epochs))
    listed = small("user", "list").splitlines()
    assert [line.split("\t") for line in listed] == [
        ["anna", "administrator", "disabled"],
        ["bob", "administrator", "active"],
    ]


def test_what_is_done_to_people_is_in_the_security_log(small: Shell) -> None:
    small("user", "add", "Anna", "--role", "administrator", stdin=PASSWORD)
    small("user", "add", "bob", "--role", "editor", stdin=PASSWORD)
    small("user", "role", "bob", "viewer")
    small("user", "disable", "bob")
    small("user", "enable", "bob")
    small("user", "password", "bob", stdin=f"{PASSWORD} too\n")
    printed = small("user", "reset-password", "bob", stdin=f"{PASSWORD}\n")
    small("user", "end-sessions", "bob")
    small("user", "role", "anna", "viewer", fails=True)
    small("user", "disable", "nobody", fails=True)

    event = SecurityEvent
    assert small.all(event.id, event.event, event.about, event.details)[0][1:] == (
        "user added",
        "anna",
        {"role": "administrator"},
    )
    assert [row[1:] for row in small.all(event.id, event.event, event.about)[1:]] == [
        ("user added", "bob"),
        ("role changed", "bob"),
        ("user disabled", "bob"),
        ("user enabled", "bob"),
        ("password reset", "bob"),
        ("password reset", "bob"),
        ("session ended", "bob"),
    ]
    assert {row[1] for row in small.all(event.id, event.address)} == {"command line"}
    assert all("(command line)" in row[1] for row in small.all(event.id, event.name))
    new_password = printed.split()[-1]
    assert PASSWORD not in printed
    assert passwords.verify(new_password, small.user("bob").password_hash)
    assert small.user("bob").must_change_password is True
    assert new_password not in str(small.all(*SecurityEvent.__table__.columns))


def test_enabling_and_ending_sessions(small: Shell) -> None:
    small("user", "add", "bob", "--role", "editor", stdin=PASSWORD)
    small("user", "add", "anna", "--role", "administrator", stdin=PASSWORD)
    small("user", "disable", "bob")
    epoch = small.user("bob").session_epoch
    small("user", "enable", "bob")
    assert small.user("bob").disabled_at is None
    small("user", "end-sessions", "bob")
    assert small.user("bob").session_epoch > epoch
    for words in (["enable", "nobody"], ["end-sessions", "nobody"], ["reset-password", "nobody"]):
        assert "nobody" in small("user", *words, fails=True)


def test_roles_are_those_of_the_contract() -> None:
    words = run("user", "add", "--help").output
    assert all(role.value in words for role in Role)
    assert users.normal_name(" ANNA ") == "anna"


def test_a_lost_second_factor_is_reset(small: Shell) -> None:
    small("user", "add", "anna", "--role", "administrator", stdin=PASSWORD)
    give_second_factor(small, ENVIRON["GROUNDTRANSPORT_SECRET"])
    epoch = small.user("anna").session_epoch
    assert "no second factor" in small("user", "reset-second-factor", "Anna")
    assert small.all(SecondFactor.user_id) == []
    assert small.all(RecoveryCode.id) == []
    assert small.user("anna").session_epoch > epoch
    small("user", "reset-second-factor", "nobody", fails=True)


def test_init_seals_second_factors_under_the_newest_secret(small: Shell) -> None:
    small("user", "add", "anna", "--role", "administrator", stdin=PASSWORD)
    old, new = ENVIRON["GROUNDTRANSPORT_SECRET"], "n" * 48
    secret = give_second_factor(small, old)
    environ = {"GROUNDTRANSPORT_SECRET": new, "GROUNDTRANSPORT_SECRET_OLD": old}
    assert "under the newest secret: 1" in small("init", **environ)
    assert "newest secret" not in small("init", **environ)
    [(user_id, sealed)] = small.all(SecondFactor.user_id, SecondFactor.sealed)
    assert unseal((new.encode(),), user_id, sealed) == secret


def test_init_gives_records_without_a_status_the_default(small: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save could empty it once. Each transaction changes a few records."""
    monkeypatch.setattr("groundtransport.cli.init_choices.AT_ONCE", 1)
    small("sample", "transit", "--records", "4", "--seed", "1")
    with small.engine.begin() as connection:
        connection.execute(text("UPDATE transit SET status = NULL WHERE id <= 2"))
        connection.execute(text("UPDATE transit SET status = 'inactive' WHERE id > 2"))

    assert "transit: 2 records without status were given the default" in small("init")

    with small.engine.connect() as connection:
        statuses = connection.scalars(text("SELECT status FROM transit ORDER BY id")).all()
    assert statuses == ["active", "active", "inactive", "inactive"]
    entries = small.all(AdminActivity.id, AdminActivity.action, AdminActivity.record_id, AdminActivity.changes)
    assert [entry[1:] for entry in entries[-2:]] == [
        ("update", record_id, {"status": {"old": None, "new": "active"}}) for record_id in (1, 2)
    ]
    assert "status" not in small("init")


def give_second_factor(shell: Shell, secret: str) -> str:
    """Give anna a second factor, sealed under that secret of the service; return the app's."""
    secrets = (secret.encode(),)
    with db.transaction(shell.engine) as dbsession:
        anna = users.find(dbsession, "anna")
        secondfactor.begin(dbsession, secrets, anna.id)
        new_password = secondfactor.pending_secret(dbsession, secrets, anna.id)
        secondfactor.confirm(dbsession, secrets, anna, pyotp.TOTP(new_password).now())
    return new_password
