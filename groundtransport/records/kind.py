"""The declaration of a kind: facts alone. It renders nothing and saves nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import colander
from pyramid.config import Configurator

from groundtransport import resources


@dataclass(frozen=True, eq=False)  # a kind is itself: what is made for it once is kept by it
class Kind:
    """A kind of record.

    ``name`` stands in addresses and in the activity log; ``filters`` maps the name of each text filter to the fields
    it looks in, and all of them together are what a search looks in, besides the airport. ``label``, ``phone`` and
    ``place`` name the fields that tell people which record it is, how to call it and where it stops; None for a kind
    that has no such field. Nothing but these, and ``airport_name``, may be assumed of a kind.
    """

    name: str
    title: str  # of one record: "Transit service"
    plural: str  # of the list: "Transit services"
    model: Any
    schema: type[colander.MappingSchema]
    columns: tuple[str, ...]  # of the list, by field name
    filters: Mapping[str, tuple[str, ...]]
    label: str | None = None
    phone: str | None = None
    place: str | None = None
    grants: tuple[Any, ...] = ()  # ACL entries besides those of the whole back office
    collection: type[resources.Collection] = resources.Collection
    record: type[resources.Record] = resources.Record
    form: colander.MappingSchema = field(init=False, repr=False)  # of no record yet: to be bound
    fields: Mapping[str, colander.SchemaNode] = field(init=False, repr=False)

    @property
    def table(self) -> str:
        return str(self.model.__table__.name)

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", self.schema())
        object.__setattr__(self, "fields", {node.name: node for node in self.form.children})
        named = {*self.columns, *(field for fields in self.filters.values() for field in fields)}
        named |= {name for name in (self.label, self.phone, self.place) if name}
        if unknown := named - set(self.fields):
            raise ValueError(f"the kind {self.name} declares no field {', '.join(sorted(unknown))}")


def add_kind(config: Configurator, kind: Kind) -> None:
    """Add a kind to the tree. Two kinds of one name conflict, and stop the start."""

    def register() -> None:
        config.registry["kinds"][kind.name] = kind

    config.action(("kind", kind.name), register)


def label_of(kind: Kind, values: Mapping[str, Any], record_id: int) -> str:
    """Return what people call a record: the value of its label, else its kind and number."""
    return str((kind.label and values.get(kind.label)) or f"{kind.title} {record_id}")
