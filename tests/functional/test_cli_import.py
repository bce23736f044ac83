"""The command line: records out of a file, the good rows and the bad, and samples."""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from groundtransport import kinds
from groundtransport.audit.models import AdminActivity
from groundtransport.cli import import_records
from groundtransport.cli.import_batches import BatchWriter
from tests.functional.importing import Importing, rows_of
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
    output = shell("import", "transit", shell.write(table(*rows, more=("source_id", "licence"))))

    assert "4 created" in output
    assert "5 refused" in output
    result = site.client().rows("transit", sort="id")
    assert [row["company_name"] for row in result] == [
        "Kenneallyʼs Coaches",
        "Autocars",
        "BWI Airport (BWI) Shuttle",
        None,
    ]
    assert [row["airport_code"] for row in result] == ["JFK", "YUL", "LHR", "JFK"]
    assert (result[0]["city"], result[0]["state"], result[1]["state"]) == ("Queens", "US-NY", "CA-QC")
    assert [row["status"] for row in result] == ["active", "active", "inactive", "active"]
    assert result[3]["description"] == "two\nlines, 10 am; daily"

    bad = shell.refused()
    assert [row["company_name"] for row in bad] == [
        "Lost",
        "[Long Island Rail Road]",
        "x" * 2098,
        "Call Us",
        "two\nlines",
    ]
    assert all(row["reason"] for row in bad)
    assert "QQQ" in bad[0]["reason"]
    assert "200" in bad[2]["reason"]


def test_a_bare_code_names_the_airport(shell: Shell, site: Site) -> None:
    codes = ["JFK", " lhr ", "EGLL", "kjfk", "QQQ", "Lima"]
    output = shell("import", "transit", shell.write("\n".join(["airport_name", *codes])))
    assert "4 created, 2 refused" in output
    result = [row["airport_name"] for row in site.client().rows("transit", sort="id")]
    assert result == [JFK, HEATHROW, HEATHROW, JFK]
    assert [row["airport_name"] for row in shell.refused()] == ["QQQ", "Lima"]  # as they were in the file


def test_an_import_that_creates_nothing_fails(shell: Shell, site: Site) -> None:
    file = shell.write("airport_name\nNowhere (QQQ)\nx\n")
    output = shell("import", "transit", file, fails=True)
    assert "0 created, 2 refused" in output
    assert "records.errors.csv" in output
    assert len(shell.refused()) == 2
    assert site.count(site.kinds["transit"].model) == 0


def test_a_file_without_rows_is_no_failure(shell: Shell) -> None:
    assert "0 created, 0 refused" in shell("import", "transit", shell.write("airport_name\n"))


@pytest.mark.parametrize(
    ("ini", "command"),
    [
        ("development.ini", ("sample", "transit", "--records", "3")),
        ("production.ini", ("import", "transit", "records.csv")),
    ],
)
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
    output = shell("import", "scheduledbus", shell.write(table(*rows, {"airport_name": "x"})))
    entries = site.entries()
    assert [(entry["action"], entry["label"]) for entry in entries] == [("create", f"Line {n}") for n in range(230)]
    ((batch, actor, actor_id),) = {(entry["batch"], entry["actor"], entry["actor_id"]) for entry in entries}
    assert batch
    assert batch in output
    assert "command line" in actor
    assert actor_id is None


def test_bad_rows_can_be_put_right_and_imported_again(shell: Shell, site: Site) -> None:
    rows = [{"airport_name": "Nowhere (QQQ)", "company_name": "Zürich; Bus, „Ltd“"}, {"airport_name": JFK}]
    shell("import", "transit", shell.write(table(*rows)))
    errors = shell.folder / "records.errors.csv"
    errors.write_text(errors.read_text().replace("Nowhere (QQQ)", "Nowhere (ZRH)"))
    output = shell("import", "transit", str(errors))
    assert "1 created, 0 refused" in output
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
    output = shell("import", "transit", shell.write("\n".join(lines).encode("latin-1")))
    assert "2 created, 1 refused" in output
    assert "UTF-8" in shell.refused()[0]["reason"]
    assert b"M\xfcnchen" in (shell.folder / "records.errors.csv").read_bytes()
    assert [row["company_name"] for row in site.client().rows("transit", sort="id")] == ["Alpha", "Beta"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n", "has no row"),
        (b"company_name\nAlpha\n", "records.csv has no column airport_name. Known columns: airport_name"),
        (b"PK\x03\x04\x00\x00", "is damaged"),
        (b'airport_name\nJFK\nLHR\n"JFK\n', "Line 4: a quotation mark"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(
    shell: Shell, site: Site, content: bytes, reason: str
) -> None:
    assert reason in shell("import", "transit", shell.write(content), fails=True)
    assert site.count(site.kinds["transit"].model) == 0


def test_what_a_file_says_of_the_systems_own_columns_is_ignored(shell: Shell, site: Site) -> None:
    shell(
        "import", "transit", shell.write("id,version,deleted_at,airport_code,airport_name\n77,9,2020-01-01,LHR,(JFK)\n")
    )
    (row,) = site.client().rows("transit")
    assert (row["id"] != 77, row["version"], row["airport_code"]) == (True, 1, "JFK")


def test_a_file_brings_records_up_to_date_and_a_dry_run_says_so_before(shell: Shell, site: Site) -> None:
    header, first = "IATA;Operator;Tel;Feed;source id", "JFK;Alpha;718 555 0199;metro;1"
    file = shell.write("\n".join([header, first, "LHR;Beta;;metro;2", ""]))
    shell("import", "transit", file)
    changed = ["JFK;Alpha Ltd;;metro;1", "LHR;Beta;;metro;2", "ZRH;New;;metro;3", "QQQ;Lost;;metro;4", ""]
    file = shell.write("\n".join([header, *changed]))
    options = ("--match", "source", "--update")
    counts = "1 created, 1 refused, 1 updated, 1 unchanged"
    output = shell("import", "transit", file, *options, "--dry-run", fails=True)
    assert f"Dry run: {counts}." in output
    assert len(site.client().rows("transit")) == 2
    assert counts in shell("import", "transit", file, *options)
    result = site.client().rows("transit", sort="id")
    assert [(row["company_name"], row["company_phone1"]) for row in result] == [
        ("Alpha Ltd", "718 555 0199"),
        ("Beta", None),
        ("New", None),
    ]
    text = (shell.folder / "records.errors.csv").read_text(encoding="utf-8-sig")
    (bad,) = csv.DictReader(text.splitlines(), delimiter=";")
    assert (bad["IATA"], bad["line"], bad["field"], bad["value"]) == ("QQQ", "5", "airport_code", "QQQ")
    assert "No airport has the code QQQ" in bad["reason"]
    assert "0 created, 0 refused, 3 unchanged" in shell(
        "import", "transit", shell.write("\n".join([header, *changed[:3], ""])), *options, "--dry-run"
    )


def test_an_import_is_listed_and_can_be_taken_back(shell: Shell, site: Site) -> None:
    output = shell("import", "transit", shell.write("airport_name,company_name\nJFK,Alpha\nLHR,Beta\n"))
    number = output.split("imports undo ")[1].split()[0]
    assert "records.csv" in shell("imports", "list")
    assert site.client().get(f"/admin/imports/{number}").status_int == 200
    shell("imports", "undo", number)
    assert site.client().rows("transit") == []


def test_an_interrupted_import_goes_on_after_its_last_chunk(
    shell: Shell, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("Alpha", "Beta", "Bad", "Gamma", "Delta", "Epsilon")
    rows = [f"JFK;{name};feed;{number}{';none' if name == 'Bad' else ''}" for number, name in enumerate(names)]
    file = shell.write("\n".join(["Airport;Who;source;source_id;phone", *rows]))
    options = ("--map", "Who=company_name", "--delimiter", ";")
    monkeypatch.setattr(import_records, "CHUNK", 2)
    write, chunks = BatchWriter.write, iter((True, True, False))

    def fail_at_the_third(writer: BatchWriter, *given: Any) -> Any:
        if not next(chunks):
            raise OperationalError("INSERT", {}, Exception("the disk is full"))
        return write(writer, *given)

    with monkeypatch.context() as patch:
        patch.setattr(BatchWriter, "write", fail_at_the_third)
        output = shell("import", "transit", file, *options, fails=True)
    assert "the disk is full" in output
    assert "--resume" in output
    number = output.split("imports undo ")[1].split()[0]
    page = site.client().get(f"/admin/imports/{number}")
    assert "--resume" in page.text
    assert "continue" not in [form.action.rpartition("/")[2] for form in page.forms.values()]
    assert "import transit FILE --resume" in shell("imports", "resume", number, fails=True)
    assert "dry run" in shell("import", "transit", file, "--resume", "--dry-run", fails=True)

    assert "5 created, 1 refused" in shell("import", "transit", file, "--resume")
    assert sorted(row["company_name"] for row in site.client().rows("transit")) == sorted({*names} - {"Bad"})
    with (shell.folder / "records.errors.csv").open(encoding="utf-8-sig") as lines:
        assert [row["Who"] for row in csv.DictReader(lines, delimiter=";")] == ["Bad"]
    assert len({entry["batch"] for entry in site.entries()}) == 1
    assert "was interrupted" in shell("import", "transit", file, "--resume", fails=True)


def test_an_import_that_was_ended_in_the_browser_ends(
    shell: Shell, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = BatchWriter.write

    def close_first(writer: BatchWriter, *given: Any) -> Any:
        assert site.client().post(f"/admin/imports/{writer.import_id}/close").status_int == 303
        return write(writer, *given)

    monkeypatch.setattr(BatchWriter, "write", close_first)
    file = shell.write("airport_name,company_name\nJFK,Alpha\n")
    assert "Somebody has ended import" in shell("import", "transit", file, fails=True)
    assert site.client().rows("transit") == []


def test_an_import_of_the_browser_is_resumed_with_its_file(shell: Shell, site: Site) -> None:
    importing = Importing(site.client())
    path = importing.start(content := rows_of("Alpha", "Beta"))
    importing.preview(path)
    importing.client.post(f"{path}/commit")
    importing.client.post(f"{path}/stop")

    assert "done: 2 created" in shell("import", "transit", shell.write(content), "--resume")
    assert importing.names() == ["Alpha", "Beta"]


def test_columns_and_defaults_can_be_given(shell: Shell, site: Site) -> None:
    file = shell.write("Where,Who,Airport\nJFK,Alpha,ignored\n")
    shell(
        "import",
        "transit",
        file,
        "--map",
        "Where=airport_name",
        "--map",
        "Who=company_name",
        "--default",
        "source=feed",
    )
    (row,) = site.client().rows("transit")
    assert (row["airport_code"], row["company_name"], row["source"]) == ("JFK", "Alpha", "feed")
    assert "is none of" in shell("import", "transit", file, "--map", "Nothing=city", fails=True)
    assert "is none of" in shell("import", "transit", file, "--default", "colour=red", fails=True)
    assert "no column id" in shell("import", "transit", file, "--match", "id", fails=True)


def test_a_header_in_another_encoding_gives_one_error_that_names_the_encoding(shell: Shell) -> None:
    file = shell.write("A\u00e9roport;Soci\u00e9t\u00e9\nJFK;M\u00fcller\n".encode("cp1252"))
    output = shell("import", "transit", file, fails=True)
    assert "Error: The header is not valid UTF-8. If it is Windows-1252: --encoding cp1252" in output
    assert "no column" not in output


def test_an_encoding_is_not_guessed_but_named(shell: Shell, site: Site) -> None:
    file = shell.write("airport_name,company_name\n(JFK),M\u00fcller\n".encode("cp1252"))
    assert "--encoding cp1252" in shell("import", "transit", file, fails=True)
    shell("import", "transit", file, "--encoding", "cp1252")
    assert [row["company_name"] for row in site.client().rows("transit")] == ["M\u00fcller"]


def test_the_refused_rows_of_a_workbook_are_a_workbook(shell: Shell, site: Site) -> None:
    with xlsxwriter.Workbook(shell.folder / "lines.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Airport", "Company", "Phone"])
        sheet.write_row(1, 0, ["JFK", "Alpha", 7185550199.0])
        sheet.write_row(2, 0, ["JFK", "Beta", "2.12556E+09"])
    assert "1 created, 1 refused" in shell("import", "transit", str(shell.folder / "lines.xlsx"))
    assert [row["company_phone1"] for row in site.client().rows("transit")] == ["7185550199"]
    cells = CalamineWorkbook.from_path(str(shell.folder / "lines.errors.xlsx")).get_sheet_by_index(0).to_python()
    assert cells[0] == ["Airport", "Company", "Phone", "line", "field", "value", "reason"]
    assert cells[1][:6] == ["JFK", "Beta", "2.12556E+09", "3", "company_phone1", "2.12556E+09"]


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
            result = connection.execute(select(*facts).order_by(table.c.id.desc()).limit(25)).all()
        samples.append([tuple(row) for row in result])
    assert samples[0] == samples[1] != samples[2]
    batches = small.all(AdminActivity.batch, func.count().over(partition_by=AdminActivity.batch))
    assert sorted(number for _, number in set(batches)) == [25, 25, 25]
    assert set(small.all(table.c.airport_code)) <= set(SOME)
