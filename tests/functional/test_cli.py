"""The command line, run as an operator does: an ini of its own, its words and its exit code."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, func, select

from groundtransport import db, migration, settings
from groundtransport.accounts import passwords, users
from groundtransport.accounts.models import AdminUser
from groundtransport.airports import loading, lookup
from groundtransport.airports.models import Airport, City
from groundtransport.cli import main
from groundtransport.security import Role
from tests.site import ENVIRON, HEATHROW, JFK, PASSWORD, Site, app_settings

SOME = ("JFK", "LHR", "YUL", "SJU", "ANR")


def run(*words: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
    """Run the command in this process, and close its connections as the end of a process does."""
    engines: list[Engine] = []
    make = db.make_engine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "make_engine", lambda found: engines.append(make(found)) or engines[-1])
        result = CliRunner().invoke(main, words, input=stdin, env=env)
    for engine in engines:
        engine.dispose()
    return result


class Shell:
    """``groundtransport -c FILE.ini`` on one database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.ini = folder, folder / "test.ini"
        lines = ["[app:main]", "use = egg:groundtransport", "groundtransport.hosts = localhost"]
        self.ini.write_text("\n".join([*lines, f"sqlalchemy.url = {url.replace('%', '%%')}", ""]))
        self.engine = db.make_engine(settings.read(app_settings(url), ENVIRON))

    def __call__(self, *words: str, stdin: str = "", fails: bool = False, **environ: str) -> str:
        result = run("-c", str(self.ini), *words, stdin=stdin, env=environ)
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    def all(self, *columns: Any) -> list[Any]:
        with self.engine.connect() as connection:
            rows = connection.execute(select(*columns).order_by(columns[0])).all()
        return [row[0] for row in rows] if len(columns) == 1 else [tuple(row) for row in rows]

    def user(self, name: str) -> Any:
        with self.engine.connect() as connection:
            return connection.execute(select(AdminUser.__table__).where(AdminUser.name == name)).one()

    def write(self, text: str | bytes, name: str = "records.csv") -> str:
        file = self.folder / name
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(file)

    def refused(self, name: str = "records.errors.csv") -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", errors="surrogateescape", newline="") as lines:
            return list(csv.DictReader(lines))


@pytest.fixture
def shell(site: Site, tmp_path: Path) -> Iterator[Shell]:
    """The command on the database of the whole site."""
    shell = Shell(tmp_path, site.url)
    yield shell
    shell.engine.dispose()


@pytest.fixture
def empty(empty_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, empty_database_url)
    yield shell
    shell.engine.dispose()


@pytest.fixture
def small(empty: Shell) -> Shell:
    """The command on a migrated database with five airports, two cities and nobody."""
    migration.upgrade(empty.engine)
    airports = [row for row in loading.packaged_airports() if row["code"] in SOME]
    with db.transaction(empty.engine) as dbsession:
        loading.refresh_airports(dbsession, airports)
        for number, name in enumerate(("Queens", "Newark")):
            dbsession.add(City(id=number, name=name, country="US", latitude=40.7, longitude=-73.8, population=9000))
    return empty


# init


def test_init_sets_everything_up_and_the_second_time_does_nothing(empty: Shell) -> None:
    said = empty("init")
    assert migration.current(empty.engine) == migration.head()
    assert len(empty.all(Airport.code)) == 7884
    assert "7,884" in said
    assert len(empty.all(City.id)) > 60_000

    (password,) = re.findall(r"One-time password: (\S+)", said)
    admin = empty.user("admin")
    assert passwords.is_right(password, admin.password_hash)
    assert (admin.role, admin.must_change_password) == ("administrator", True)

    assert empty("init") == ""
    assert empty.user("admin") == admin


def test_init_takes_the_operators_own_password_and_does_not_print_it(small: Shell) -> None:
    said = small("init", GROUNDTRANSPORT_ADMIN_PASSWORD=PASSWORD)
    admin = small.user("admin")
    assert passwords.is_right(PASSWORD, admin.password_hash)
    assert admin.must_change_password is False
    assert PASSWORD not in said
    assert "GROUNDTRANSPORT_ADMIN_PASSWORD" in said
    small("init", GROUNDTRANSPORT_ADMIN_PASSWORD="another long walk entirely")
    assert small.user("admin") == admin


def test_init_holds_that_password_to_the_same_rules(small: Shell) -> None:
    assert "GROUNDTRANSPORT_ADMIN_PASSWORD" in small("init", fails=True, GROUNDTRANSPORT_ADMIN_PASSWORD="short")
    assert small.all(AdminUser.name) == []


def test_nothing_but_init_works_before_init(empty: Shell) -> None:
    file = empty.write("airport_name\nKennedy (JFK)\n")
    for words in (["user", "list"], ["import", "transit", file], ["sample", "transit"], ["airports", "refresh"]):
        assert "init" in empty(*words, fails=True)


@pytest.mark.parametrize("url", ["sqlite:////dev/null/x/y.sqlite", "sqlite:////tmp", "postgresql://127.0.0.1:9/none"])
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
    assert passwords.is_right(PASSWORD, anna.password_hash)


def test_a_person_without_a_password_gets_one_that_is_printed_once(small: Shell) -> None:
    said = small("user", "add", "bob", "--role", "viewer")
    bob = small.user("bob")
    assert passwords.is_right(said.split()[-1], bob.password_hash)
    assert bob.must_change_password is True
    assert said.split()[-1] not in small("user", "list")


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
    said = small("user", "password", "bob")
    assert passwords.is_right(said.split()[-1], small.user("bob").password_hash)
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


# import

COLUMNS = [
    "airport_name",
    "company_name",
    "company_address",
    "company_phone1",
    "city",
    "state",
    "description",
    "status",
]


def table(*rows: dict[str, str], delimiter: str = ",", more: tuple[str, ...] = ()) -> str:
    lines: list[str] = []
    cells = [COLUMNS + list(more), *([row.get(name, "") for name in COLUMNS + list(more)] for row in rows)]
    for row in cells:
        quoted = ['"' + cell.replace('"', '""') + '"' if set(cell) & set(',;"\r\n') else cell for cell in row]
        lines.append(delimiter.join(quoted))
    return "\r\n".join(lines) + "\r\n"


def test_good_rows_become_records_and_bad_rows_wait_in_a_file(shell: Shell, site: Site) -> None:
    rows = [
        {"airport_name": JFK, "company_name": "Kenneallyʼs Coaches", "city": " Queens ", "state": "New York"},
        {
            "airport_name": "Trudeau (YUL)",
            "company_name": "Autocars",
            "state": "Québec",
            "company_phone1": "514 555 0123",
        },
        {"airport_name": "Nowhere (QQQ)", "company_name": "Lost"},
        {"airport_name": "", "company_name": "[Long Island Rail Road]"},
        {"airport_name": JFK, "company_name": "x" * 2098},
        {"airport_name": JFK, "company_name": "Call Us", "company_phone1": "cliff1stbusstop@aol.com"},
        {
            "airport_name": HEATHROW,
            "company_name": "BWI Airport (BWI) Shuttle",
            "source_id": "mdb-1",
            "status": "Inactive",
        },
        {"airport_name": JFK, "company_name": "two\nlines"},
        {"airport_name": JFK, "description": "two\r\nlines, 10 am; daily"},
    ]
    said = shell("import", "transit", shell.write(table(*rows, more=("source_id", "licence"))))

    assert "4 created" in said
    assert "5 refused" in said
    found = site.client().rows("transit", sort="id")
    assert [row["company_name"] for row in found] == [
        "Kenneallyʼs Coaches",
        "Autocars",
        "BWI Airport (BWI) Shuttle",
        None,
    ]
    assert [row["airport_code"] for row in found] == ["JFK", "YUL", "LHR", "JFK"]
    assert (found[0]["city"], found[0]["state"], found[1]["state"]) == ("Queens", "US-NY", "CA-QC")
    assert [row["status"] for row in found] == ["active", "active", "inactive", "active"]
    assert found[3]["description"] == "two\nlines, 10 am; daily"

    bad = shell.refused()
    assert [row["company_name"] for row in bad] == [
        "Lost",
        "[Long Island Rail Road]",
        "x" * 2098,
        "Call Us",
        "two\nlines",
    ]
    assert all(row["error"] for row in bad)
    assert "QQQ" in bad[0]["error"]
    assert "200" in bad[2]["error"]


def test_an_import_is_audited_as_one_batch(shell: Shell, site: Site) -> None:
    rows = [{"airport_name": JFK, "company_name": f"Line {number}"} for number in range(230)]
    said = shell("import", "scheduledbus", shell.write(table(*rows, {"airport_name": "x"})))
    entries = site.entries()
    assert [(entry["action"], entry["label"]) for entry in entries] == [("create", f"Line {n}") for n in range(230)]
    ((batch, actor, actor_id),) = {(entry["batch"], entry["actor"], entry["actor_id"]) for entry in entries}
    assert batch
    assert batch in said
    assert "command line" in actor
    assert actor_id is None


def test_bad_rows_can_be_put_right_and_imported_again(shell: Shell, site: Site) -> None:
    rows = [{"airport_name": "Nowhere (QQQ)", "company_name": "Zürich; Bus, „Ltd“"}, {"airport_name": JFK}]
    shell("import", "transit", shell.write(table(*rows)))
    errors = shell.folder / "records.errors.csv"
    errors.write_text(errors.read_text().replace("Nowhere (QQQ)", "Nowhere (ZRH)"))
    said = shell("import", "transit", str(errors))
    assert "1 created, 0 refused" in said
    (row,) = site.client().rows("transit", airport_code="ZRH")
    assert row["company_name"] == "Zürich; Bus, „Ltd“"
    assert not (shell.folder / "records.errors.errors.csv").exists()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_file_from_a_spreadsheet_is_understood(shell: Shell, site: Site, delimiter: str, start: str) -> None:
    row = {"airport_name": JFK, "company_name": "秋葉バス; a, b", "state": "US-NY"}
    shell("import", "transit", shell.write(start + table(row, {}, row, delimiter=delimiter)))
    assert [row["company_name"] for row in site.client().rows("transit")] == ["秋葉バス; a, b"] * 2


def test_bad_bytes_spoil_their_row_alone_and_are_kept(shell: Shell, site: Site) -> None:
    lines = ["airport_name,company_name", "(JFK),Alpha", "(JFK),M\xfcnchen", "(JFK),Beta"]
    said = shell("import", "transit", shell.write("\n".join(lines).encode("latin-1")))
    assert "2 created, 1 refused" in said
    assert "UTF-8" in shell.refused()[0]["error"]
    assert b"M\xfcnchen" in (shell.folder / "records.errors.csv").read_bytes()
    assert [row["company_name"] for row in site.client().rows("transit", sort="id")] == ["Alpha", "Beta"]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"company_name\nAlpha\n", b"PK\x03\x04\x00\x00", "airport_name".encode("utf-16")]
)
def test_a_file_without_the_airport_is_refused_as_a_whole(shell: Shell, site: Site, content: bytes) -> None:
    assert "airport_name" in shell("import", "transit", shell.write(content), fails=True)
    assert site.count(site.kinds["transit"].model) == 0


def test_what_a_file_says_of_the_systems_own_columns_is_ignored(shell: Shell, site: Site) -> None:
    shell(
        "import", "transit", shell.write("id,version,deleted_at,airport_code,airport_name\n77,9,2020-01-01,LHR,(JFK)\n")
    )
    (row,) = site.client().rows("transit")
    assert (row["id"] != 77, row["version"], row["airport_code"]) == (True, 1, "JFK")


def test_an_unknown_kind_and_a_missing_file_are_refused(shell: Shell) -> None:
    assert "transit" in shell("import", "trains", shell.write("airport_name\n"), fails=True)
    assert "nowhere.csv" in shell("import", "transit", "nowhere.csv", fails=True)


# sample


def test_a_sample_is_realistic_audited_and_the_same_for_the_same_seed(small: Shell) -> None:
    from groundtransport import kinds
    from groundtransport.audit.models import AdminActivity

    table = kinds.kinds()["transit"].model.__table__
    facts = [column for column in table.c if column.name not in ("id", "created_at", "updated_at")]
    samples = []
    for seed in ("5", "5", "6"):
        small("sample", "transit", "--records", "25", "--seed", seed)
        with small.engine.connect() as connection:
            found = connection.execute(select(*facts).order_by(table.c.id.desc()).limit(25)).all()
        samples.append([tuple(row) for row in found])
    assert samples[0] == samples[1] != samples[2]
    batches = small.all(AdminActivity.batch, func.count().over(partition_by=AdminActivity.batch))
    assert sorted(number for _, number in set(batches)) == [25, 25, 25]
    assert set(small.all(table.c.airport_code)) <= set(SOME)


# airports

HEADER = "iata,icao,name,city,subd,country,lat,lon\n"
KENNEDY = "JFK,KJFK,John F Kennedy International Airport,New York,New York,US,40.639,-73.779\n"


def test_a_refresh_reports_what_it_did_and_who_stands_at_what_vanished(small: Shell) -> None:
    small("import", "transit", small.write("airport_name\n(LHR)\n(LHR)\n(JFK)\n"))
    file = small.write(HEADER + KENNEDY + "AAA,,New Field,Town,Ohio,US,40,-80\n", "airports.csv")
    said = small("airports", "refresh", "--file", file)
    assert "1 added, 1 changed, 4 vanished." in said or "1 added, 0 changed, 4 vanished." in said
    assert re.search(r"LHR.*\b2 transit", said)
    assert "SJU" not in said  # nobody stands there
    said = small("import", "transit", small.write("airport_name\n(LHR)\n(AAA)\n", "late.csv"))
    assert "1 created, 1 refused" in said


BAD_LISTS = {
    "empty": "",
    "other columns": "code,name\nJFK,Kennedy\n",
    "no number": f"{HEADER}AAA,,Field,Town,Ohio,US,north,-80\n",
    "no place": f"{HEADER}AAA,,Field,Town,Ohio,US\n",
    "bad bytes": HEADER.encode() + b"AAA,,Fi\xffeld,Town,Ohio,US,1,2\n",
    "long code": f"{HEADER}ABCDE,,Field,Town,Ohio,US,1,2\n",
    "long name": f"{HEADER}AAA,,{'x' * 300},Town,Ohio,US,1,2\n",
    "no airport at all": HEADER,
}


@pytest.mark.parametrize("content", BAD_LISTS.values(), ids=BAD_LISTS)
def test_a_bad_list_is_refused_in_words_and_changes_nothing(small: Shell, content: str | bytes) -> None:
    before = small.all(Airport.code, Airport.name, Airport.withdrawn_at)
    assert small("airports", "refresh", "--file", small.write(content, "airports.csv"), fails=True)
    assert small.all(Airport.code, Airport.name, Airport.withdrawn_at) == before


PLACE = ("--country", "us", "--latitude", "40.5", "--longitude", "-80")


def test_an_airport_of_ones_own_takes_records_and_survives_a_refresh(small: Shell) -> None:
    assert "Quiet Field (QFX)" in small("airports", "add", "qfx", "--name", " Quiet Field ", "--city", "Newark", *PLACE)
    small("airports", "refresh", "--file", small.write(HEADER + KENNEDY, "airports.csv"))
    said = small("import", "scheduledbus", small.write("airport_name,city\n(QFX),Newark\n"))
    assert "1 created, 0 refused" in said
    with db.transaction(small.engine) as dbsession:
        assert [airport.code for airport in lookup.search(dbsession, "quiet")] == ["QFX"]


@pytest.mark.parametrize(
    "cases",
    [
        [("JFK", "--name", "Another Kennedy", *PLACE)],
        [(code, "--name", "Field", *PLACE) for code in ("", "AB", "ABCD", "A1B", "ÅÄÖ")],
        [("QFX", "--name", name, *PLACE) for name in ("", "  ", "a\nb", "x" * 195)],
        [("QFX", "--name", "Field", *PLACE[2:], "--country", country) for country in ("", "ZZ", "USA", "U")],
        [("QFX", "--name", "Field", *PLACE[:-1], longitude) for longitude in ("181", "west", "nan")],
        [("QFX", "--name", "Field", "--icao", icao, *PLACE) for icao in ("TOOLONG", "KJ", "ÅÄÖÜ")],
        [
            ("QFX", "--name", "Field", "--city", "c" * 121, *PLACE),
            ("QFX", "--name", "Field", "--state", "s" * 121, *PLACE),
        ],
        [("QFX", *PLACE), ("QFX", "--name", "Field")],
    ],
    ids=["taken", "code", "name", "country", "longitude", "icao", "long", "missing"],
)
def test_an_airport_that_cannot_be_is_refused(small: Shell, cases: list[tuple[str, ...]]) -> None:
    for words in cases:
        assert small("airports", "add", *words, fails=True)
        assert small.all(Airport.code) == sorted(SOME)


def test_roles_are_those_of_the_contract() -> None:
    words = run("user", "add", "--help").output
    assert all(role.value in words for role in Role)
    assert users.normal_name(" ANNA ") == "anna"
