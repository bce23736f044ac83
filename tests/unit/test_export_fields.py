"""The cells of typed fields in files: a value is parsed back from its text and from its XLSX cell."""

import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundtransport.records.fields import Amount, DateField, Field, OpeningHours, Place, WholeNumber, YesNo
from groundtransport.transfer.export.columns import Column
from groundtransport.transfer.export.formats import Format, Layout, write_rows
from groundtransport.transfer.reading.file_reader import FileReader
from groundtransport.transfer.reading.limits import Limits

FIELDS: dict[str, tuple[Field, Any]] = {
    "number": (WholeNumber(name="number", title="Number"), st.integers(0, 2**31 - 1)),
    "amount": (
        Amount(name="amount", title="Amount", unit="EUR"),
        st.decimals(Decimal(0), Decimal(10**12), places=2).map(lambda value: f"{abs(value):.2f}"),
    ),
    "date": (DateField(name="date", title="Date"), st.dates().map(date.isoformat)),
    "yes_no": (YesNo(name="yes_no", title="Yes or no"), st.booleans()),
    "hours": (OpeningHours(name="hours", title="Hours", max_length=60), st.just("Mo-Fr 06:00-22:00; Sa off")),
    "text": (
        Field(name="text", title="Text", max_length=60),
        st.sampled_from(["007", "1E5", "TRUE", "=1", "2026-11-03"]),
    ),
}
READER = FileReader(Limits(*[10**9] * 5))


def parsed(node: Field, text: str) -> Any:
    bound = node.clone()
    bound.bindings = {"place": Place("US")}
    return bound.deserialize(text)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("file_format", [Format.CSV, Format.XLSX, Format.JSONL])
def test_a_value_comes_back_from_each_format(name: str, file_format: Format, tmp_path: Path) -> None:
    node, strategy = FIELDS[name]
    file = tmp_path / "file"

    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(strategy | st.none(), min_size=1, max_size=5))
    def check(values: list[Any]) -> None:
        columns = [Column("id", "Id"), Column(name, "Title", node.text, node.spreadsheet_value)]
        layout = Layout(columns, ["id", name])
        file.write_bytes(b"".join(write_rows(file_format, layout, [list(enumerate(values, 1))])))
        source = READER.sniff(file, "file")
        assert [parsed(node, (*row.cells, "")[1]) for row in READER.rows(source)] == values

    check()


def test_numbers_and_dates_are_no_texts_in_a_workbook() -> None:
    assert FIELDS["number"][0].spreadsheet_value(3) == 3
    assert math.isclose(FIELDS["amount"][0].spreadsheet_value("12.50"), 12.5)
    assert FIELDS["date"][0].spreadsheet_value("2026-11-03") == date(2026, 11, 3)
    assert FIELDS["date"][0].spreadsheet_value("1899-11-03") == "1899-11-03"
