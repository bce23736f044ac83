"""Declarative base, column types and the clock of all models. No table is defined here."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData, Row, Select, Table, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

# A SELECT, and a row of its result, whose columns depend on the kind of records: the type checker does not know them.
AnySelect = Select[*tuple[Any, ...]]
AnyRow = Row[*tuple[Any, ...]]


class Base(DeclarativeBase):
    """Base class of all models."""

    # Migrations drop constraints by name, so every constraint gets one.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


# Type of primary keys. SQLite generates ids only for columns of the type INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")


class UTCDateTime(TypeDecorator[datetime]):
    """Column type for timestamps: aware datetimes in UTC in Python, naive UTC in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """Return the function that converts a database value; quicker than three calls of process_result_value."""
        if dialect.name == "sqlite":  # stores timestamps as text
            return lambda value: datetime.fromisoformat(f"{value}+00:00") if value else None
        return lambda value: value.replace(tzinfo=UTC) if value else None


def table_of(model: type[DeclarativeBase]) -> Table:
    """Return the table of a model, for statements of Core: the ORM's take longer."""
    table = model.__table__
    assert isinstance(table, Table)
    return table


def now() -> datetime:
    """Return the current time in UTC with microseconds, the precision that both databases store."""
    return datetime.now(UTC)
