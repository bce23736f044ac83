"""Scheduled buses: companies that run to a timetable. Their city is one of the airport's, or confirmed and marked."""

from contextlib import suppress
from typing import ClassVar

from pyramid.view import view_config
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.airports import lookup, nearby_cities
from groundtransport.db import Base
from groundtransport.i18n import _
from groundtransport.records.fields import AirportCity, Field, Phone, StateField, declare
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.list.query import single_values
from groundtransport.records.model import FOLDED, OtherPlace, RecordColumns, SoftDelete
from groundtransport.request import Request
from groundtransport.resources import Collection
from groundtransport.security import Permission


class ScheduledBus(SoftDelete, OtherPlace, RecordColumns, Base):
    """The table of scheduled buses."""

    __tablename__ = "scheduledbus"

    company_name: Mapped[str | None] = mapped_column(String(200), info=FOLDED)
    company_address: Mapped[str | None] = mapped_column(String(300), info=FOLDED)
    company_phone1: Mapped[str | None] = mapped_column(String(40))
    city: Mapped[str | None] = mapped_column(String(120), info=FOLDED)
    state: Mapped[str | None] = mapped_column(String(6))
    zip_code: Mapped[str | None] = mapped_column(String(20))


class ScheduledBusSchema(RecordSchema):
    """The fields of a scheduled bus."""

    company_name = declare(Field, ScheduledBus.company_name, _("Company Name"), column_title=_("Company"))
    company_phone1 = declare(Phone, ScheduledBus.company_phone1, _("Company Phone"), column_title=_("Phone"))
    company_address = declare(
        Field, ScheduledBus.company_address, _("Company Address"), column_title=_("Address"), group="contact"
    )
    city = declare(AirportCity, ScheduledBus.city, _("City"))
    state = declare(StateField, ScheduledBus.state, _("State"))
    zip_code = declare(Field, ScheduledBus.zip_code, _("Zip Code"), group="place")


class ScheduledBuses(Collection):
    """``/admin/scheduledbus``, which has an address of its own: the cities of an airport."""

    partial: ClassVar[frozenset[str]] = Collection.partial | {"get-city-scheduled"}


@view_config(
    context=ScheduledBuses,
    name="get-city-scheduled",
    request_method="GET",
    permission=Permission.VIEW,
    renderer="json",
)
def cities_of_airport(context: ScheduledBuses, request: Request) -> dict[str, object]:
    """``?airport=<name> (<code>)`` -> its cities; with the ``id`` of a record also that record's, as ``name``."""
    once = single_values(request.GET.dict_of_lists())
    airport = lookup.by_airport_name(request.dbsession, once.get("airport", ""))
    names = nearby_cities.cities(request.dbsession, airport).names if airport else ()
    answer: dict[str, object] = {"cities": [{"city_name": name} for name in names]}
    with suppress(KeyError):  # no id, or a bad one
        answer["name"] = context.live(once.get("id", "")).row.city or ""
    return answer


KIND = Kind(
    name="scheduledbus",
    title=_("Scheduled bus"),
    plural=_("Scheduled buses"),
    model=ScheduledBus,
    schema=ScheduledBusSchema,
    columns=("company_name", "airport_name", "company_phone1", "company_address", "city"),
    filters={
        "company_name": ("company_name",),
        "company_address": ("company_address",),
        "company_phone": ("company_phone1",),
    },
    label="company_name",
    phone="company_phone1",
    place="city",
    collection=ScheduledBuses,
)
