"""Column types of fields whose stored form differs from their JSON value. Both databases sort them correctly."""

from datetime import date
from decimal import Decimal

from sqlalchemy import BigInteger, Date, Dialect, TypeDecorator

from groundtransport.events import Value


class AmountColumn(TypeDecorator[str]):
    """A decimal number with ``scale`` decimals: "12.50" in Python, 1250 in the database.

    An integer is exact and sorts as a number in SQLite, which has no decimal type.
    """

    impl = BigInteger
    cache_ok = True

    def __init__(self, scale: int = 2) -> None:
        super().__init__()
        self.scale = scale

    def process_bind_param(self, value: Value, dialect: Dialect) -> int | None:
        return None if value is None else int(Decimal(value).scaleb(self.scale))

    def process_result_value(self, value: Value, dialect: Dialect) -> str | None:
        return None if value is None else f"{Decimal(value).scaleb(-self.scale):.{self.scale}f}"


class DateColumn(TypeDecorator[str]):
    """A date: "2026-11-03" in Python, the type DATE in the database."""

    impl = Date
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> date | None:
        return None if value is None else date.fromisoformat(value)

    def process_result_value(self, value: date | None, dialect: Dialect) -> str | None:
        return None if value is None else value.isoformat()


# IMPORT
