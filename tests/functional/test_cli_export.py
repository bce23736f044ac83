"""``groundtransport export``: a kind's records or the activity log as a file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from groundtransport.transfer.export import activity, formats
from tests.shell import Shell
from tests.site import HEATHROW, Client, Site

FILE = "records.csv"


@pytest.fixture
def shell(site: Site, client: Client, tmp_path: Path) -> Shell:
    """Three records, and the command on their database."""
    for name in ("Beta", "Alpha"):
        client.create("transit", company_name=name)
    client.create("transit", company_name="=Gamma", airport_name=HEATHROW)
    return Shell(tmp_path, site.url)


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def saved(shell: Shell, *words: str) -> bytes:
    file = shell.folder / FILE
    assert shell("export", *words, "--output", str(file)) == ""
    assert [path.name for path in shell.folder.iterdir() if "records" in path.name] == [FILE]
    return file.read_bytes()


def test_a_file_holds_what_the_filters_choose(shell: Shell, site: Site) -> None:
    words = ("transit", "--filter", "airport_code=jfk", "--sort", "company_name", "--columns", "id,company_name")

    result = lines(saved(shell, *words).decode())

    assert [line["company_name"] for line in result] == ["Alpha", "Beta"]
    assert list(result[0]) == ["id", "company_name"]
    (event,) = site.events("export")
    assert event["address"] == "command line"
    assert event["details"]["rows"] == "2"
    assert event["details"]["filter"] == "airport_code=jfk&sort=company_name"


def test_the_formats_and_their_options(shell: Shell) -> None:
    columns = ("--columns", "company_name")
    assert saved(shell, "transit", *columns, "--bom", "--labels").startswith(b"\xef\xbb\xbfCompany Name\r\n'=Gamma\r\n")
    assert b"\r\n=Gamma\r\n" in saved(shell, "transit", *columns, "--no-guard")
    assert json.loads(saved(shell, "transit", *columns, "--format", "jsonl").splitlines()[0]) == {
        "company_name": "=Gamma"
    }
    book = CalamineWorkbook.from_filelike(io.BytesIO(saved(shell, "transit", *columns, "--format", "xlsx")))
    assert book.get_sheet_by_index(0).to_python() == [["company_name"], ["=Gamma"], ["Alpha"], ["Beta"]]
    features = json.loads(saved(shell, "transit", "--format", "geojson"))["features"]
    assert [feature["properties"]["records"] for feature in features] == [2, 1]


def test_without_a_file_it_writes_to_standard_output(shell: Shell) -> None:
    assert [line["company_name"] for line in lines(shell("export", "transit", "--filter", "q=alpha"))] == ["Alpha"]


def test_the_activity_log_has_no_end(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "CHUNK", 1)

    result = lines(shell("export", "activity", "--filter", "action=create"))

    assert [line["new"] for line in result if line["field"] == "Company Name"] == ["'=Gamma", "Alpha", "Beta"]
    entries = [json.loads(line) for line in saved(shell, "activity", "--format", "jsonl").splitlines()]
    assert {entry["number"] for entry in entries} == {1, 2, 3}
    assert saved(shell, "activity", "--format", "xlsx").startswith(b"PK")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "none of"),
        (("transit", "--filter", "color=red"), "airport_code"),
        (("transit", "--filter", "q"), "NAME=VALUE"),
        (("transit", "--filter", "q=a", "--filter", "q=b"), "once"),
        (("transit", "--columns", "color"), "no column color"),
        (("transit", "--sort", "color"), "no column color"),
        (("transit", "--format", "pdf"), "geojson"),
        (("activity", "--filter", "from=yesterday"), "from"),
        (("activity", "--format", "geojson"), "GeoJSON"),
        (("transit", "--output", "missing/folder/x.csv"), "not complete"),
    ],
)
def test_a_mistake_is_named(shell: Shell, site: Site, words: tuple[str, ...], message: str) -> None:
    assert message in shell("export", *words, fails=True)


def test_a_log_too_long_for_xlsx_leaves_the_old_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved(shell, "transit")
    monkeypatch.setattr(formats, "XLSX_ROWS", 3)

    output: Any = shell("export", "activity", "--format", "xlsx", "--output", str(shell.folder / FILE), fails=True)

    assert "at most" in output
    assert (shell.folder / FILE).read_bytes() == before
