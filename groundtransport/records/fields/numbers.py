"""Fields of numbers and dates, with a filter by range: ``10``, ``10..20``, ``10..`` or ``..20``."""

import re
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

import colander
from sqlalchemy.orm import InstrumentedAttribute

from groundtransport import formats
from groundtransport.events import Value
from groundtransport.i18n import _
from groundtransport.records.fields.base import Field, JsonSchema

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"([+-]?[0-9]{1,18})(?:[.,]([0-9]+))?", re.ASCII)
SAMPLE_RANGE = 100  # between the lowest and the highest number of sample records, if the field permits it
FIRST_CELL_DATE = "1900-03-01"  # Excel counts a day that 1900 did not have before it
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DOTTED_DATE = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", re.ASCII)  # with dots, the day is always first


class RangeField(Field):
    """A value with an order, which a list filters by range."""

    max_length = 20
    shown_as = "display"
    filter_control = "range"

    def range_of(self, text: str) -> tuple[object, object] | None:
        first, dots, last = (part.strip() for part in text.partition(".."))
        try:
            low = self.filter_bound(first) if first else None
            high = (self.filter_bound(last) if last else None) if dots else low
        except colander.Invalid:
            return None
        return None if low is None and high is None else (low, high)

    def filter_bound(self, text: str) -> object:
        """Return one end of a range filter. Raise colander.Invalid if it is no value of this field."""
        return self.convert(text)


class WholeNumber(RangeField):
    """A whole number from ``minimum`` to ``maximum``; the column type is Integer."""

    minimum = 0
    maximum = 2**31 - 1
    json_type = int
    attributes = {"inputmode": "numeric", "autocomplete": "off"}

    def json_schema(self) -> JsonSchema:
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}

    def convert(self, text: str) -> int:
        if not _WHOLE.fullmatch(text):
            raise self.invalid(_("${field} must be a whole number."))
        value = int(text)
        self.check_bounds(value)
        return value

    def check_bounds(self, value: int) -> None:
        """Raise colander.Invalid if a number is below the minimum or above the maximum."""
        if not self.minimum <= value <= self.maximum:
            low, high = formats.number(self.minimum), formats.number(self.maximum)
            raise self.invalid(_("${field} must be from ${low} to ${high}."), low=low, high=high)

    def sample(self, generator: Random, country: str) -> str:
        return str(generator.randint(self.minimum, min(self.maximum, self.minimum + SAMPLE_RANGE)))

    def spreadsheet_value(self, value: Value) -> str | int:
        return "" if value is None else int(value)

    def shown(self, value: Value) -> str:
        return "" if value is None else formats.number(value)


class Amount(RangeField):
    """A decimal number in a ``unit`` or currency, such as "EUR"; the column type is ``AmountColumn``.

    Its value is a text with exactly ``scale`` decimals and a point, "12.50".
    """

    scale = 2  # that of the column
    unit = ""
    minimum = Decimal(0)
    maximum = Decimal(10**12)
    attributes = {"inputmode": "decimal", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        text = text.removesuffix(self.unit).strip() if self.unit else text
        match = _DECIMAL.fullmatch(text)
        if not match:
            raise self.invalid(_("${field} must be a number, such as 12.50."))
        if len(match[2] or "") > self.scale:
            raise self.invalid(_("${field} can have at most ${number} decimals."), number=str(self.scale))
        value = Decimal(f"{match[1]}.{match[2] or '0'}")
        if not self.minimum <= value <= self.maximum:
            low, high = formats.decimal(self.minimum, 0), formats.decimal(self.maximum, 0)
            raise self.invalid(_("${field} must be from ${low} to ${high}."), low=low, high=high)
        return f"{abs(value) if value == 0 else value:.{self.scale}f}"

    def sample(self, generator: Random, country: str) -> str:
        steps = int(min(self.maximum - self.minimum, Decimal(SAMPLE_RANGE)).scaleb(self.scale))
        return str(self.minimum + Decimal(generator.randint(0, steps)).scaleb(-self.scale))

    def spreadsheet_value(self, value: Value) -> str | Decimal:
        return "" if value is None else Decimal(value)

    def shown(self, value: Value) -> str:
        number = "" if value is None else formats.decimal(Decimal(value), self.scale)
        return f"{number} {self.unit}".strip() if number else ""


class DateField(RangeField):
    """A date as ``2026-11-03``, or in a file as ``3.11.2026``; the column type is ``DateColumn``."""

    attributes = {"type": "date", "autocomplete": "off"}

    def json_schema(self) -> JsonSchema:
        return {"type": "string", "format": "date"}

    def clean(self, text: str) -> str:
        """Return a date with dots as ``2026-11-03``, not one with slashes: which number is its month is not known."""
        text = super().clean(text)
        dotted = _DOTTED_DATE.fullmatch(text)
        return f"{dotted[3]}-{dotted[2]:0>2}-{dotted[1]:0>2}" if dotted else text

    def convert(self, text: str) -> str:
        try:
            if not _DATE.fullmatch(text):
                raise ValueError
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise self.invalid(_("${field} must be a date, such as 2026-11-03.")) from None

    def sample(self, generator: Random, country: str) -> str:
        return date(2026, generator.randint(1, 12), generator.randint(1, 28)).isoformat()

    def spreadsheet_value(self, value: Value) -> str | date:
        """Return a date; a text for one that spreadsheets cannot hold or number differently (before March 1900)."""
        return "" if value is None else date.fromisoformat(value) if value >= FIRST_CELL_DATE else str(value)

    def shown(self, value: Value) -> str:
        return "" if value is None else formats.day(date.fromisoformat(value))


def declare_amount(column: InstrumentedAttribute[Any], title: str, unit: str, **options: object) -> Amount:
    """Return the ``Amount`` of an ``AmountColumn``; its scale is the column's."""
    return Amount(
        name=column.key, title=title, max_length=Amount.max_length, unit=unit, scale=column.type.scale, **options
    )
