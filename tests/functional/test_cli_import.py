"""The command line: records out of a file, the good rows and the bad, and samples."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from groundtransport import kinds
from groundtransport.audit.models import AdminActivity
from tests.serving import ROOT
from tests.shell import SOME, Shell
from tests.site import ENVIRON, HEATHROW, JFK, Site


@pytest.fixture
def shell(site: Site, tmp_path: Path) -> Iterator[Shell]:
    """The command on the database of the whole site."""
    shell = Shell(tmp_path, site.url)
    yield shell
    shell.engine.dispose()


@pytest.fixture
def small(small_database_url: str, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, small_database_url)
    yield shell
    shell.engine.dispose()


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


def test_a_bare_code_names_the_airport(shell: Shell, site: Site) -> None:
    codes = ["JFK", " lhr ", "EGLL", "kjfk", "QQQ", "Lima"]
    said = shell("import", "transit", shell.write("\n".join(["airport_name", *codes])))
    assert "4 created, 2 refused" in said
    found = [row["airport_name"] for row in site.client().rows("transit", sort="id")]
    assert found == [JFK, HEATHROW, HEATHROW, JFK]
    assert [row["airport_name"] for row in shell.refused()] == ["QQQ", "Lima"]  # as they were in the file


def test_an_import_that_creates_nothing_fails(shell: Shell, site: Site) -> None:
    file = shell.write("airport_name\nNowhere (QQQ)\nx\n")
    said = shell("import", "transit", file, fails=True)
    assert "0 created, 2 refused" in said
    assert "records.errors.csv" in said
    assert len(shell.refused()) == 2
    assert site.count(site.kinds["transit"].model) == 0


def test_a_file_without_rows_is_no_failure(shell: Shell) -> None:
    assert "0 created, 0 refused" in shell("import", "transit", shell.write("airport_name\n"))


@pytest.mark.parametrize("ini", ["development.ini", "production.ini"])
@pytest.mark.parametrize("command", [("sample", "transit", "--records", "3"), ("import", "transit", "records.csv")])
def test_a_checkpoint_is_for_the_journal_and_not_for_the_terminal(
    small: Shell, ini: str, command: tuple[str, ...]
) -> None:
    small.write("airport_name\nJFK\n")
    words = [sys.executable, "-W", "ignore", "-c", "from groundtransport.cli import main; main()", "-c", ROOT / ini]
    environ = {**os.environ, **ENVIRON, "DATABASE_URL": small.engine.url.render_as_string(hide_password=False)}
    for is_journal in (False, True):
        with (small.folder / "stderr").open("w+b") as stderr:
            status = os.fstat(stderr.fileno())
            stream = f"{status.st_dev}:{status.st_ino}" if is_journal else "1:1"
            environ["JOURNAL_STREAM"] = stream
            subprocess.run([*words, *command], cwd=small.folder, env=environ, stderr=stderr, check=True)
        assert ("audit-checkpoint" in (small.folder / "stderr").read_text()) is is_journal


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


def test_a_sample_is_realistic_audited_and_the_same_for_the_same_seed(small: Shell) -> None:
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
