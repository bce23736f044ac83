"""Transit services: the public lines that stop at an airport."""

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from groundtransport.db import Base
from groundtransport.i18n import _
from groundtransport.records.fields import Choice, CityField, Field, Link, Paragraphs, Phone, StateField, declare
from groundtransport.records.forms import RecordSchema
from groundtransport.records.kind import Kind
from groundtransport.records.model import FOLDED, RecordColumns, SoftDelete


class Transit(SoftDelete, RecordColumns, Base):
    """The table of transit services."""

    __tablename__ = "transit"

    company_name: Mapped[str | None] = mapped_column(String(200), info=FOLDED)
    company_address: Mapped[str | None] = mapped_column(String(300), info=FOLDED)
    company_phone1: Mapped[str | None] = mapped_column(String(40), info={"gap": "company_phone"})
    company_phone2: Mapped[str | None] = mapped_column(String(40), info={"gap": "company_phone"})
    company_phone3: Mapped[str | None] = mapped_column(String(40), info={"gap": "company_phone"})
    company_link: Mapped[str | None] = mapped_column(String(2000))
    route_name: Mapped[str | None] = mapped_column(String(200), info=FOLDED)
    place: Mapped[str | None] = mapped_column(String(200), info=FOLDED)
    city: Mapped[str | None] = mapped_column(String(120), info=FOLDED)
    state: Mapped[str | None] = mapped_column(String(6))
    zip_code: Mapped[str | None] = mapped_column(String(20))
    description: Mapped[str | None] = mapped_column(String(5000), info=FOLDED)
    status: Mapped[str | None] = mapped_column(String(8), info={"counted": True})


class TransitSchema(RecordSchema):
    """The fields of a transit service."""

    company_name = declare(Field, Transit.company_name, _("Company Name"), column_title=_("Company"))
    route_name = declare(Field, Transit.route_name, _("Route Name"), column_title=_("Route"))
    status = declare(
        Choice, Transit.status, _("Status"), choices=(("active", _("Active")), ("inactive", _("Inactive")))
    )
    description = declare(Paragraphs, Transit.description, _("Description"))
    company_phone1 = declare(Phone, Transit.company_phone1, _("Company Phone 1"), column_title=_("Phone"))
    company_phone2 = declare(Phone, Transit.company_phone2, _("Company Phone 2"))
    company_phone3 = declare(Phone, Transit.company_phone3, _("Company Phone 3"))
    company_link = declare(Link, Transit.company_link, _("Company Link"))
    company_address = declare(Field, Transit.company_address, _("Company Address"), group="contact")
    place = declare(
        Field, Transit.place, _("Place"), group="place", help=_("Where it stops: a terminal, a bay, a hotel.")
    )
    city = declare(CityField, Transit.city, _("City"))
    state = declare(StateField, Transit.state, _("State"))
    zip_code = declare(Field, Transit.zip_code, _("Zip Code"), group="place")


KIND = Kind(
    name="transit",
    title=_("Transit service"),
    plural=_("Transit services"),
    model=Transit,
    schema=TransitSchema,
    columns=("company_name", "airport_name", "route_name", "company_phone1", "city", "status"),
    filters={
        "company_name": ("company_name",),
        "company_address": ("company_address",),
        "company_phone": ("company_phone1", "company_phone2", "company_phone3"),
    },
    label="company_name",
    phone="company_phone1",
    place="city",
    active={"status": "active"},
)
