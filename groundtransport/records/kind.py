"""The declaration of a kind of record. It renders and saves nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import colander
from pyramid.config import Configurator
from sqlalchemy import Column, Index, String, Table, and_

from groundtransport import resources
from groundtransport.records.fields import AirportCity
from groundtransport.records.model import OTHER_PLACE, RecordColumns
from groundtransport.records.telephone import E164_MAX, e164_name

# Groups of the fields that every kind has, which are listed last: when a record is valid, and where it comes from.
VALIDITY, SOURCE = "validity", "source"
TIMES = ("verified_at", "created_at", "updated_at")  # columns of a list besides the fields


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: caches use it as a key
class Kind:
    """A kind of record.

    ``filters`` maps the name of each text filter to the fields it searches; the search looks in all of them and in the
    airport's name. ``label``, ``phone`` and ``place`` name the fields that identify a record, hold its telephone
    number and its location, or are None. Only ``airport_name`` is in every kind.

    Raise ValueError if a declared name is not a field of the schema.
    """

    name: str  # in URLs and in the activity log
    title: str  # of one record: "Transit service"
    plural: str  # of the list: "Transit services"
    model: type[RecordColumns]
    schema: type[colander.MappingSchema]
    columns: tuple[str, ...]  # fields that the list shows
    filters: Mapping[str, tuple[str, ...]]
    label: str | None = None
    phone: str | None = None
    place: str | None = None
    active: Mapping[str, str] = field(default_factory=dict)  # the list's filters for records that are active
    grants: tuple[object, ...] = ()  # ACL entries in addition to those of the back office
    collection: type[resources.Collection] = resources.Collection
    record: type[resources.Record] = resources.Record
    optional_columns: tuple[str, ...] = field(init=False, repr=False)  # that a user can choose for the list besides
    form: colander.MappingSchema = field(init=False, repr=False)  # an instance of ``schema``, not bound
    fields: Mapping[str, colander.SchemaNode] = field(init=False, repr=False)
    telephones: tuple[str, ...] = field(init=False, repr=False)  # the fields that hold telephone numbers
    # The field of a city that may be none of the airport's, which marks the record; "" if there is none.
    marked_city: str = field(init=False, repr=False)

    @property
    def table(self) -> str:
        """The name of the kind's table."""
        return str(self.model.__table__.name)

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns besides the fields that mark a record: OTHER_PLACE, or none."""
        return (OTHER_PLACE,) if self.marked_city else ()

    @property
    def status_field(self) -> str:
        """The field that tells whether a record is active; "" if the kind has none."""
        return next(iter(self.active), "")

    def is_active(self, values: Mapping[str, object]) -> bool:
        """Return True if the status of a record's values is the active one, or the kind has none."""
        return all(values[name] == code for name, code in self.active.items())

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", self.schema())
        nodes = sorted(self.form.children, key=lambda node: (node.group == SOURCE, node.group == VALIDITY))
        object.__setattr__(self, "fields", {node.name: node for node in nodes})
        names = {*self.columns, *(name for searched in self.filters.values() for name in searched)}
        names |= {name for name in (self.label, self.phone, self.place) if name}
        if unknown := names - set(self.fields):
            raise ValueError(f"the kind {self.name} declares no field {', '.join(sorted(unknown))}")
        others = tuple(name for name in self.fields if name not in self.columns)
        object.__setattr__(self, "optional_columns", (*others, *TIMES))
        phones = tuple(name for name, node in self.fields.items() if node.identifies_by == "phone")
        object.__setattr__(self, "telephones", phones)
        cities = [name for name, node in self.fields.items() if isinstance(node, AirportCity)]
        can_mark = OTHER_PLACE in self.model.__table__.c
        object.__setattr__(self, "marked_city", cities[0] if cities and can_mark else "")
        for name in phones:
            _add_e164(self.model.__table__, name)


def _add_e164(table: Table, field_name: str) -> None:
    """Add the column of a telephone field's E.164 form, which the writer fills, and its index, to a kind's table."""
    name = e164_name(field_name)
    if name in table.c:  # another kind has the same model
        return
    table.append_column(Column(name, String(E164_MAX)))
    has_number = table.c[name].is_not(None)
    condition = and_(has_number, table.c.deleted_at.is_(None)) if "deleted_at" in table.c else has_number
    Index(f"ix_{table.name}_{name}", table.c[name], sqlite_where=condition, postgresql_where=condition)


def add_kind(config: Configurator, kind: Kind) -> None:
    """Directive ``config.add_kind``: add a kind to the resource tree. Two kinds of one name are a conflict."""

    def register() -> None:
        config.registry["kinds"][kind.name] = kind

    config.action(("kind", kind.name), register)


def label_of(kind: Kind, values: Mapping[str, object], record_id: int) -> str:
    """Return the name of a record: the value of its label field, else its kind and id."""
    return str((kind.label and values.get(kind.label)) or f"{kind.title} {record_id}")


def choice_fields(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by one of their choices."""
    return [name for name, node in kind.fields.items() if node.filter_control == "select"]


def single_choice_fields(kind: Kind) -> list[str]:
    """Return the names of the fields that hold exactly one of their choices."""
    return [name for name in choice_fields(kind) if not kind.fields[name].holds_several]


def range_fields(kind: Kind) -> list[str]:
    """Return the names of the fields that are filtered by range."""
    return [name for name, node in kind.fields.items() if node.filter_control == "range"]
