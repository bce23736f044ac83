"""Taxi ranks: the fares, opening hours and equipment of the taxis at an airport."""

from sqlalchemy import Boolean, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base
from groundtransport.records.fields import (
    AmountColumn,
    DateColumn,
    DateField,
    Email,
    Field,
    OpeningHours,
    Phone,
    SeveralChoices,
    WholeNumber,
    YesNo,
    declare,
    declare_amount,
)
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.model import RecordColumns, SoftDelete

PAYMENTS = (("cash", "Cash"), ("card", "Credit card"), ("invoice", "Invoice"), ("app", "App"))


class TaxiRank(SoftDelete, RecordColumns, Base):
    __tablename__ = "taxirank"

    rank_name: Mapped[str | None] = mapped_column(String(200))
    fare_from: Mapped[str | None] = mapped_column(AmountColumn(2))
    fare_to: Mapped[str | None] = mapped_column(AmountColumn(2))
    taxis: Mapped[int | None] = mapped_column(Integer)
    wheelchair: Mapped[bool | None] = mapped_column(Boolean)
    checked_on: Mapped[str | None] = mapped_column(DateColumn)
    opening_hours: Mapped[str | None] = mapped_column(String(255))
    email: Mapped[str | None] = mapped_column(String(254))
    phone: Mapped[str | None] = mapped_column(String(40))
    payments: Mapped[str | None] = mapped_column(String(40))


class TaxiRankSchema(RecordSchema):
    rank_name = declare(Field, TaxiRank.rank_name, "Name")
    fare_from = declare_amount(TaxiRank.fare_from, "Fare from", "EUR")
    fare_to = declare_amount(TaxiRank.fare_to, "Fare to", "EUR")
    taxis = declare(WholeNumber, TaxiRank.taxis, "Taxis", maximum=1_000)
    wheelchair = declare(YesNo, TaxiRank.wheelchair, "Wheelchair access")
    checked_on = declare(DateField, TaxiRank.checked_on, "Last checked")
    opening_hours = declare(OpeningHours, TaxiRank.opening_hours, "Opening hours")
    email = declare(Email, TaxiRank.email, "E-mail")
    phone = declare(Phone, TaxiRank.phone, "Phone")
    payments = declare(SeveralChoices, TaxiRank.payments, "Accepted payments", choices=PAYMENTS)


KIND = Kind(
    name="taxirank",
    title="Taxi rank",
    plural="Taxi ranks",
    model=TaxiRank,
    schema=TaxiRankSchema,
    columns=("airport_name", "rank_name", "fare_from", "taxis", "wheelchair", "checked_on", "payments", "email"),
    filters={"rank_name": ("rank_name",), "email": ("email",), "opening_hours": ("opening_hours",)},
    label="rank_name",
    phone="phone",
)
