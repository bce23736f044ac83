"""The fields of numbers, dates, choices, e-mail and opening hours: values, refusals, filters, and column types."""

from datetime import date
from decimal import Decimal
from typing import Any

import colander
import pytest
from sqlalchemy import Column, String
from sqlalchemy.dialects import postgresql, sqlite

from groundtransport.i18n import translated
from groundtransport.records.fields import (
    Amount,
    AmountColumn,
    DateColumn,
    DateField,
    Email,
    Field,
    OpeningHours,
    Place,
    SeveralChoices,
    WholeNumber,
    YesNo,
    declare,
)
from groundtransport.records.flash import Flash

PAYMENTS = (("cash", "Cash"), ("card", "Credit card"), ("app", "App"))
FIELDS: dict[str, Field] = {
    "number": WholeNumber(name="number", title="Number", maximum=1_000),
    "amount": Amount(name="amount", title="Amount", unit="EUR"),
    "date": DateField(name="date", title="Date"),
    "yes_no": YesNo(name="yes_no", title="Yes or no"),
    "several": SeveralChoices(name="several", title="Several", choices=PAYMENTS),
    "email": Email(name="email", title="E-mail"),
    "hours": OpeningHours(name="hours", title="Hours", max_length=60),
}


def read(name: str, text: str, **stored: Any) -> Any:
    node = FIELDS[name].clone()
    node.bindings = {"place": Place("US", stored=stored)}
    return node.deserialize(text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("number", " 0 ", 0),
        ("number", "+12", 12),
        ("number", "1000", 1000),
        ("amount", "12", "12.00"),
        ("amount", "12,5 EUR", "12.50"),
        ("amount", "-0", "0.00"),
        ("date", "2024-02-29", "2024-02-29"),
        ("yes_no", "YES", True),
        ("yes_no", "0", False),
        ("several", " APP ,cash;app", "cash,app"),
        ("several", "credit CARD", "card"),
        ("email", "a.b+c@x-y.example", "a.b+c@x-y.example"),
        ("hours", "24/7", "24/7"),
        (
            "hours",
            "Apr-Oct Mo-Fr,PH 06:00-12:00 , 14:00+;  Dec 25  off;",
            "Apr-Oct Mo-Fr,PH 06:00-12:00,14:00+; Dec 25 off",
        ),
    ],
)
def test_a_text_becomes_a_value_and_back(name: str, text: str, value: Any) -> None:
    assert read(name, text) == value
    assert read(name, FIELDS[name].text(value)) == value
    assert read(name, "") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("number", text) for text in ("-1", "1001", "1.0", "1e3", "٣", "1 000", "9" * 20)),
        *(("amount", text) for text in ("-0.01", "0.001", "1,000.00", "1e3", "NaN", "1000000000000.01", ".5")),
        *(("date", text) for text in ("2023-02-29", "20240101", "01/02/2024", "2024-1-1", "0000-01-01")),
        *(("yes_no", text) for text in ("maybe", "2")),
        *(("several", text) for text in ("gold", "cash card", "cash,gold")),
        *(("email", text) for text in ("a", "a@b", "@b.example", "a@b..example", "a b@c.example", "é@c.example")),
        *(("hours", text) for text in ("Mo-Fr", "Mo 24:30-25:00", "8-9", "Mo 08:00-09:00 x", "Mo 08:00-09:00;;Tu off")),
    ],
)
def test_a_bad_text_is_refused_with_a_message_about_the_field(name: str, text: str) -> None:
    with pytest.raises(colander.Invalid) as refusal:
        read(name, text)
    assert FIELDS[name].title in translated(refusal.value.messages()[0])


def test_a_stored_value_stays_valid() -> None:
    assert read("number", "5000", number=5000) == 5000
    assert read("yes_no", "no", yes_no=False) is False


@pytest.mark.parametrize(
    ("name", "text", "ends"),
    [
        ("number", "5", (5, 5)),
        ("number", "1 .. 5", (1, 5)),
        ("number", "0..", (0, None)),
        ("amount", "..9,5", (None, "9.50")),
        ("date", "2026-01-01..2026-12-31", ("2026-01-01", "2026-12-31")),
        ("number", "..", None),
        ("number", "", None),
        ("number", "1..many", None),
        ("date", "2026", None),
    ],
)
def test_the_text_of_a_range_filter(name: str, text: str, ends: Any) -> None:
    assert FIELDS[name].range_of(text) == ends


def test_values_are_shown() -> None:
    assert FIELDS["number"].shown(0) == "0"
    assert FIELDS["amount"].shown("1250.50") == "1,250.50 EUR"
    assert FIELDS["date"].shown("2026-11-03") == "Nov 3, 2026"
    assert [translated(FIELDS["yes_no"].shown(value)) for value in (True, False, None)] == ["Yes", "No", ""]
    assert translated(FIELDS["several"].shown("cash,card")) == "Cash, Credit card"
    assert FIELDS["several"].shown(None) == ""
    assert FIELDS["email"].display_html("a'b@c.example", str) == (
        '<a href="mailto:a%27b@c.example">a&#39;b@c.example</a>'
    )


@pytest.mark.parametrize(
    ("text", "day"), [("2026-11-03", "2026-11-03"), ("3.11.2026", "2026-11-03"), (" 01.04.2026 ", "2026-04-01")]
)
def test_a_date_with_dots_is_understood(text: str, day: str) -> None:
    assert read("date", text) == day


@pytest.mark.parametrize("text", ["3/11/2026", "31.02.2026", "11.2026", "3.11.26"])
def test_a_date_that_can_be_two_days_or_none_is_refused(text: str) -> None:
    with pytest.raises(colander.Invalid):
        read("date", text)


def test_checkboxes_keep_a_text_that_is_no_choice() -> None:
    node = FIELDS["several"]
    assert isinstance(node, SeveralChoices)
    assert node.boxes("Credit card, gold") == [
        ("cash", "Cash", False),
        ("card", "Credit card", True),
        ("app", "App", False),
        ("gold", "gold", True),
    ]


def test_a_column_holds_all_choices_at_once() -> None:
    with pytest.raises(ValueError, match="payments needs 13 characters, and has 12"):
        declare(SeveralChoices, Column("payments", String(12)), "Payments", choices=PAYMENTS)


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()])
def test_column_types_store_what_sorts(dialect: Any) -> None:
    amount, day = AmountColumn(2), DateColumn()
    for value, stored in {"12.50": 1250, "0.00": 0, "-0.05": -5, "1000000000000.00": 10**14}.items():
        assert amount.process_bind_param(value, dialect) == stored
        assert amount.process_result_value(stored, dialect) == value
    assert amount.process_bind_param(Decimal("12.5"), dialect) == 1250
    assert day.process_bind_param("2026-11-03", dialect) == date(2026, 11, 3)
    assert day.process_result_value(date(2026, 11, 3), dialect) == "2026-11-03"
    for column in (amount, day):
        assert column.process_bind_param(None, dialect) is None
        assert column.process_result_value(None, dialect) is None


def test_a_flash_message_is_plain_data_in_the_session() -> None:
    message = Flash("{} was saved.", name="A", undo_fields={"version": 2}, lines=("x",), compared_fields=())
    data = message.as_data()
    assert data.keys() == {"text", "name", "undo_fields", "lines", "compared_fields"}
    assert Flash.from_data({**data, "lines": ["x"], "compared_fields": [], "of_another_version": 1}) == message
    assert Flash("x").as_data() == {"text": "x"}
