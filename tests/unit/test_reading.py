"""Files of every format and every fault: what is recognised, which rows come out, and the sentence that refuses."""

import datetime
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from groundtransport.i18n import translated
from groundtransport.transfer.reading import workbook
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.gtfs import AirportPosition
from groundtransport.transfer.reading.limits import Limits
from groundtransport.transfer.reading.source_file import BadFile, Format, ReadOptions, SourceFile

MEGA = 1 << 20
LIMITS = Limits(rows=5_000, size=20 * MEGA, columns=200, cell=32_767, unpacked=30 * MEGA)
JFK = AirportPosition("John F Kennedy International Airport (JFK)", 40.6398, -73.7789)
EWR = AirportPosition("Newark Liberty International Airport (EWR)", 40.6925, -74.1687)
AGENCIES = "agency_id,agency_name,agency_url,agency_phone\nMTA,Metro,https://metro.example,718-330-1234\n"
ROUTES = "route_id,agency_id,route_short_name,route_long_name\nQ10,MTA,Q10,Kew Gardens\nQ1,MTA,Q1,Elsewhere\n"
STOPS = "stop_id,stop_name,stop_lat,stop_lon\ns1,JFK Terminal 5,40.645,-73.777\ns2,Far away,41,-73\ns3,Broken,x,\n"
TRIPS = "route_id,trip_id\nQ10,t1\nQ1,t2\n"
TIMES = "trip_id,stop_id\nt1,s1\nt1,s2\nt2,s2\n"


def compound_file(*names: str) -> bytes:
    """Return a file as Excel writes old and encrypted workbooks, with its directory behind 2 MB of content.

    It is as [MS-CFB] says: a header, sectors of 512 bytes, and a directory with an entry of 128 bytes for each stream.
    """
    sectors = 4096
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x3I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, sectors)
    )
    entries = [name.encode("utf-16-le").ljust(64, b"\0") + bytes(64) for name in ("Root Entry", *names)]
    return header.ljust(512, b"\0") + b"x" * 512 * sectors + b"".join(entries)


class Files:
    """Writes and reads files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.reader = folder, FileReader(LIMITS, lambda: [EWR, JFK])

    def sniff(self, content: bytes | Path, **options: str) -> SourceFile:
        path = content if isinstance(content, Path) else self.folder / "file"
        if isinstance(content, bytes):
            path.write_bytes(content)
        return self.reader.sniff(path, "Feed 2026.csv", ReadOptions(**options))

    def rows(self, content: bytes | Path, **options: str) -> list[tuple[int, tuple[str, ...]]]:
        return [(row.line, row.cells) for row in self.reader.rows(self.sniff(content, **options))]

    def refusal(self, content: bytes | Path, **options: str) -> str:
        with pytest.raises(BadFile) as refused:
            self.rows(content, **options)
        return translated(refused.value.reason)

    def workbook(self, fill: Any) -> Path:
        path = self.folder / "book.xlsx"
        with xlsxwriter.Workbook(path) as book:
            fill(book, book.add_worksheet("Lines"))
        return path

    def archive(self, **members: str | bytes) -> Path:
        path = self.folder / "archive.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name.replace("__", "/").replace("_txt", ".txt").replace("_xml", ".xml"), content)
        return path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_rows_have_the_number_of_their_first_line(files: Files) -> None:
    content = b'airport_name,company\n(JFK),Alpha\n\n(JFK),"two\r\nlines"\n(LHR),Beta'
    assert files.rows(content) == [(2, ("(JFK)", "Alpha")), (4, ("(JFK)", "two\r\nlines")), (6, ("(LHR)", "Beta"))]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_delimiter_and_the_encoding_are_recognised(files: Files, delimiter: str, encoding: str) -> None:
    lines = [("Airport", "Company; or, name"), ("JFK", "M\u00fcller | S\u00f6hne, Co; KG")]
    text = "\r\n".join(delimiter.join(f'"{cell}"' for cell in cells) for cells in lines)
    file = files.sniff(text.encode(encoding))
    assert (file.delimiter, file.is_guessed, file.header) == (delimiter, False, lines[0])
    assert [row.cells for row in file.sample] == [lines[1]]


def test_names_with_commas_are_no_columns(files: Files) -> None:
    assert files.sniff(b"airport_name\nTrudeau, Montreal (YUL)\nJFK\nLHR\n").header == ("airport_name",)


def test_windows_1252_is_a_guess_that_can_be_changed(files: Files) -> None:
    content = "Firma;Ort\nM\u00fcller;K\u00f6ln\n".encode("cp1252")
    file = files.sniff(content)
    assert (file.encoding, file.is_guessed) == ("cp1252", True)
    assert files.rows(content) == [(2, ("M\u00fcller", "K\u00f6ln"))]
    chosen = files.sniff(content, encoding="mac_roman")
    assert (chosen.encoding, chosen.is_guessed) == ("mac_roman", False)
    assert "klingon" in files.refusal(content, encoding="klingon")


def test_cyrillic_is_guessed(files: Files) -> None:
    words = "\u0421\u043b\u0443\u0436\u0431\u0430 \u0430\u0432\u0442\u043e\u0431\u0443\u0441\u043e\u0432"
    text = f"{words};\u041c\u043e\u0441\u043a\u0432\u0430\n" * 60
    assert files.sniff(text.encode("cp1251")).encoding == "cp1251"


@pytest.mark.parametrize(
    "name",
    [
        "Soci\u00e9t\u00e9 g\u00e9n\u00e9rale, Gen\u00e8ve",
        "A\u00f1o, se\u00f1or, Espa\u00f1a, direcci\u00f3n",
        "Stra\u00dfe, K\u00f6ln, M\u00fcnchen",
    ],
)
def test_western_languages_are_not_taken_for_central_european(files: Files, name: str) -> None:
    assert files.sniff((f"{name}\n" * 120).encode("cp1252")).encoding == "cp1252"


def test_a_row_in_another_encoding_leaves_the_others_as_they_are(files: Files) -> None:
    rows = files.rows("a,b\nZ\u00fcrich,\u00fc\n".encode() + b"M\xfcnchen,x\n")
    assert rows == [(2, ("Z\u00fcrich", "\u00fc")), (3, ("M\udcfcnchen", "x"))]


def test_titles_over_the_header_are_left_out(files: Files) -> None:
    file = files.sniff(b"Our shuttles 2026,,\n\nAirport,Company,Phone\nJFK,A,1\n")
    assert (file.header, file.header_line) == (("Airport", "Company", "Phone"), 3)
    assert files.rows(b"Our shuttles 2026,,\n\nAirport,Company,Phone\nJFK,A,1\n") == [(4, ("JFK", "A", "1"))]


def test_the_formula_guard_is_taken_off(files: Files) -> None:
    assert files.rows(b"a,b\n'=1+1,'quoted'\n") == [(2, ("=1+1", "'quoted'"))]


def test_a_header_alone_has_no_rows(files: Files) -> None:
    assert files.rows(b"airport_name\n") == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty."),
        (b"\n\n", "The file has no row."),
        (b"\x7fELF\0\0\0", "The file holds NUL characters"),
        (b"PK\x03\x04\0\0", "The file is damaged"),
        (b",".join(b"c%d" % n for n in range(10_000)) + b"\n", "Line 1 has 10,000 columns; at most 200 can"),
        (b"a,b\n1," + b"x" * 10_000_000, "Line 2 has more than 1,000,000 characters."),
        (b"a,b\n1," + b"x" * 500_000, "Line 2: a cell has more than 32,767 characters."),
        (b"a,b\n1,2\n3," + b"x" * 40_000, "Line 3: a cell has more than 32,767 characters."),
        (b'a,b\n1,2\n3,"open\n5,6\n7,8\n', "Line 3: a quotation mark is opened in this row and never closed."),
        (b'a,b\n1,2\n3,"open\n' + b"5,6\n" * 100_000, "Line 3: a"),
        (b"a,b\n" + b"1,2\n" * 5_001, "Line 5,002: a file can have at most 5,000 rows."),
        (b"a,b\n" + b"1,2\n" * 6_000_000, "The file has 22.9 MB; at most 20 MB can be imported."),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "Line 1 cannot be read"),
        (b'{"a": 1}\n[1]\n', "Line 2 is no JSON object of plain values."),
        (b'{"a": 1}\n{"a": 2\n', "Line 2 is no JSON object."),
        (b'{"a": 1}\n{"b": 2}\n', "Line 2: the name b is not in the first line."),
    ],
)
def test_each_fault_has_its_sentence(files: Files, content: bytes, sentence: str) -> None:
    assert files.refusal(content).startswith(sentence)


def test_nul_characters_far_from_the_beginning_stay_in_their_cell(files: Files) -> None:
    rows = files.rows(b"a,b\n" + b"1,2\n" * 2_000 + b"3,x\0y\n")
    assert rows[-1] == (2_002, ("3", "x\0y"))


def test_json_lines(files: Files) -> None:
    content = b'{"airport_name": "(JFK)", "company_name": "=A", "taxis": 3}\n\n{"company_name": null, "taxis": true}\n'
    assert files.sniff(content).header == ("airport_name", "company_name", "taxis")
    assert files.rows(content) == [(1, ("(JFK)", "=A", "3")), (3, ("", "", "yes"))]


# Workbooks


def test_the_cells_of_a_workbook_become_texts(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(1, 1, ["Airport", "Phone", "Since", "Price", "Open"])
        sheet.write_row(2, 1, ["JFK", 2125551234.0])
        sheet.write_datetime(2, 3, datetime.datetime(2026, 11, 3), day)
        sheet.write_row(2, 4, [12.5, True])
        sheet.write_row(3, 1, ["LHR", "2.12556E+09", "", 2.5e20, False])

    book = files.workbook(fill)
    assert files.sniff(book).sheets == ("Lines",)
    assert files.rows(book) == [
        (3, ("", "JFK", "2125551234", "2026-11-03", "12.5", "yes")),
        (4, ("", "LHR", "2.12556E+09", "", "2.5E+20", "no")),
    ]


def test_a_cell_that_is_merged_over_rows_counts_for_each(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, ["Airport", "Company"])
        sheet.merge_range(1, 0, 3, 0, "JFK")
        sheet.write_column(1, 1, ["A", "B", "C", "D"])

    rows = [cells for _line, cells in files.rows(files.workbook(fill))]
    assert rows == [("JFK", "A"), ("JFK", "B"), ("JFK", "C"), ("", "D")]


def test_another_sheet_can_be_chosen(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, ["Notes"])
        book.add_worksheet("Data").write_column(0, 0, ["airport_name", "JFK"])

    book = files.workbook(fill)
    assert files.rows(book, sheet="Data") == [(2, ("JFK",))]
    assert "no sheet Other" in files.refusal(book, sheet="Other")


def test_the_first_sheet_with_a_table_is_read(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_column(0, 0, ["Operators of the airport", "Ask the desk for changes."])
        book.add_worksheet("Empty")
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Data!$A$1:$A$2"})
        book.add_chartsheet("Chart").set_chart(chart)
        data = book.add_worksheet("Data")
        data.write_row(0, 0, ["airport_name", "company_name"])
        data.write_row(1, 0, ["JFK", "Alpha"])
        book.add_worksheet("More").write_row(0, 0, ["airport_name", "company_name"])

    book = files.workbook(fill)
    assert files.sniff(book).sheet == "Data"
    assert files.rows(book) == [(2, ("JFK", "Alpha"))]
    assert files.sniff(book, sheet="More").header == ("airport_name", "company_name")


def test_workbooks_that_are_not_read_say_why(files: Files) -> None:
    assert "old format .xls" in files.refusal(compound_file("Workbook", "\5SummaryInformation"))
    assert "protected by a password" in files.refusal(compound_file("EncryptionInfo", "EncryptedPackage"))
    assert "macros" in files.refusal(files.archive(xl__workbook_xml="", **{"xl__vbaProject.bin": b"x"}))
    assert "binary format .xlsb" in files.refusal(files.archive(**{"xl/workbook.bin": b"x"}))
    assert "OpenDocument" in files.refusal(files.archive(mimetype="application/x", content_xml="<office/>"))
    assert "neither a workbook" in files.refusal(files.archive(letter_txt="x"))
    feed = {"agency_txt": "agency_id\n1\n", "routes_txt": "route_id\n" + "x" * 200_000}
    assert "file of the feed cannot be read" in files.refusal(files.archive(**feed))
    book = files.workbook(lambda book, sheet: sheet.write(0, 0, "x"))
    assert "damaged" in files.refusal(book.read_bytes()[:3_000])


def test_a_sheet_with_a_far_cell_is_refused_before_it_fills_the_memory(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, ["airport_name", "company_name"])
        sheet.write(1_048_575, 16_383, "x")

    refusal = files.refusal(files.workbook(fill))
    assert refusal.startswith("A sheet reaches to line 1,048,576 and has 16,384 columns; at most 10,000,000 cells")


def test_empty_cells_with_a_format_do_not_widen_a_sheet(files: Files) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, ["airport_name", "company_name"])
        sheet.write_row(1, 0, ["JFK", "Alpha"])
        sheet.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))

    assert files.rows(files.workbook(fill)) == [(2, ("JFK", "Alpha"))]


@pytest.mark.parametrize(
    "xml",
    [
        '<worksheet><sheetData><row r="1"><c r="ZZZZZZZ99999999999"><v>1</v></c></row></sheetData></worksheet>',
        '<!DOCTYPE a [<!ENTITY far "XFD1048576">]><worksheet><c r="&far;"><v>1</v></c></worksheet>',
        "<worksheet><sheetData>",
        "no XML",
    ],
)
def test_a_sheet_that_no_spreadsheet_writes_is_damaged(files: Files, xml: str) -> None:
    book = files.workbook(lambda book, sheet: sheet.write_row(0, 0, ["airport_name", "company_name"]))
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = xml.encode()
    with zipfile.ZipFile(book, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert "damaged" in files.refusal(book)


def test_a_panic_of_calamine_is_a_damaged_workbook(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As pyo3 raises it; its own class cannot be imported."""

    def panic(path: str) -> None:
        raise PanicException("capacity overflow")

    book = files.workbook(lambda book, sheet: sheet.write(0, 0, "x"))
    monkeypatch.setattr(workbook.CalamineWorkbook, "from_path", panic, raising=False)
    assert "damaged" in files.refusal(book)


def test_an_archive_with_a_password_says_so(files: Files) -> None:
    content = bytearray(files.workbook(lambda book, sheet: sheet.write(0, 0, "x")).read_bytes())
    flags = content.rfind(b"PK\x01\x02") + 8  # of a file in the directory of the archive
    content[flags] |= 1
    assert files.refusal(bytes(content)) == "The archive is protected by a password. Save it without one."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html><table><tr><td>Airport</td></tr></table></html>", "a web page or XML"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><Workbook/>', "a web page or XML"),
        (b'[\n {"airport": "JFK"}\n]', "a JSON list"),
        (b"%PDF-1.7\n\0\0\0\n", "NUL characters"),
    ],
)
def test_other_formats_are_named(files: Files, content: bytes, reason: str) -> None:
    assert reason in files.refusal(content)


def test_a_header_in_brackets_is_no_json(files: Files) -> None:
    assert files.rows(b"[Airport],[Company]\nJFK,A\n") == [(2, ("JFK", "A"))]


@pytest.mark.parametrize("declared", [None, 1_000])
def test_a_zip_bomb_is_refused_whatever_its_directory_says(files: Files, declared: int | None) -> None:
    content = bytearray(files.archive(xl__workbook_xml=b"0" * 40 * MEGA).read_bytes())
    if declared:
        struct.pack_into("<I", content, content.rfind(b"PK\x01\x02") + 24, declared)
    assert files.refusal(bytes(content)) == "Unpacked, the file has more than 30 MB."


# GTFS


def test_a_feed_has_a_row_for_each_route_with_the_airport_it_serves(files: Files) -> None:
    feed = files.archive(
        agency_txt=AGENCIES, routes_txt=ROUTES, stops_txt=STOPS, trips_txt=TRIPS, **{"stop_times.txt": TIMES}
    )
    file = files.sniff(feed)
    assert file.format == Format.GTFS
    rows = [dict(zip(file.header, cells, strict=True)) for _line, cells in files.rows(feed)]
    assert rows[0] == {
        "airport_name": JFK.airport_name,
        "company_name": "Metro",
        "company_phone1": "718-330-1234",
        "company_link": "https://metro.example",
        "route_name": "Q10 Kew Gardens",
        "place": "JFK Terminal 5",
        "description": "",
        "source": "Feed 2026",
        "source_id": "MTA:Q10",
    }
    assert (rows[1]["airport_name"], rows[1]["place"], rows[1]["source_id"]) == ("", "", "MTA:Q1")


def test_without_the_times_all_routes_have_the_airport_of_the_nearest_stop(files: Files) -> None:
    feed = files.archive(agency_txt=AGENCIES, routes_txt=ROUTES, stops_txt=STOPS)
    assert [cells[0] for _line, cells in files.rows(feed)] == [JFK.airport_name] * 2


def test_a_feed_without_stops_leaves_the_airport_to_a_person(files: Files) -> None:
    feed = files.archive(
        agency_txt=AGENCIES, routes_txt=ROUTES, **{"feed_info.txt": "feed_publisher_name\nThe Metro\n"}
    )
    assert [(cells[0], cells[7]) for _line, cells in files.rows(feed)] == [("", "The Metro")] * 2
    assert "names no agency" in files.refusal(files.archive(agency_txt="agency_id\n", routes_txt=ROUTES))
