"""The declaration of a kind of record. It renders and saves nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import colander
from pyramid.config import Configurator

from groundtransport import resources


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
    model: Any
    schema: type[colander.MappingSchema]
    columns: tuple[str, ...]  # fields that the list shows
    filters: Mapping[str, tuple[str, ...]]
    label: str | None = None
    phone: str | None = None
    place: str | None = None
    grants: tuple[Any, ...] = ()  # ACL entries in addition to those of the back office
    collection: type[resources.Collection] = resources.Collection
    record: type[resources.Record] = resources.Record
    form: colander.MappingSchema = field(init=False, repr=False)  # an instance of ``schema``, not bound
    fields: Mapping[str, colander.SchemaNode] = field(init=False, repr=False)

    @property
    def table(self) -> str:
        """The name of the kind's table."""
        return str(self.model.__table__.name)

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", self.schema())
        object.__setattr__(self, "fields", {node.name: node for node in self.form.children})
        names = {*self.columns, *(name for searched in self.filters.values() for name in searched)}
        names |= {name for name in (self.label, self.phone, self.place) if name}
        if unknown := names - set(self.fields):
            raise ValueError(f"the kind {self.name} declares no field {', '.join(sorted(unknown))}")


def add_kind(config: Configurator, kind: Kind) -> None:
    """Directive ``config.add_kind``: add a kind to the resource tree. Two kinds of one name are a conflict."""

    def register() -> None:
        config.registry["kinds"][kind.name] = kind

    config.action(("kind", kind.name), register)


def label_of(kind: Kind, values: Mapping[str, Any], record_id: int) -> str:
    """Return the name of a record: the value of its label field, else its kind and id."""
    return str((kind.label and values.get(kind.label)) or f"{kind.title} {record_id}")
