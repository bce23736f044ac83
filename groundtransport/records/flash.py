"""Flash messages: shown once, on the next page. The session stores them as plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from groundtransport.json_types import JsonObject
from groundtransport.request import Request


@dataclass(frozen=True, slots=True)
class Flash:
    """A message for the next page.

    In ``text``, already translated, "{}" stands for ``name``, a link to ``url`` if there is one. ``undo_url`` is the
    target of a POST form that reverts the change, with the hidden fields ``undo_fields`` and ``list_state``.
    """

    text: str
    level: str = "success"  # or "warning"
    name: str = ""
    url: str = ""
    undo_url: str = ""
    undo_fields: Mapping[str, str | int] = field(default_factory=dict)
    list_state: str = ""  # the query string of the list
    lines: tuple[str, ...] = ()  # a list below the text
    has_focus: bool = False  # whether the page sets the focus on the message
    kind_name: str = ""  # with ``record_id``, the record that was saved: the list highlights its row
    record_id: int | None = None
    # The page looks for duplicates of that record by these fields, by all if it is empty. None: it does not look.
    compared_fields: tuple[str, ...] | None = None

    def as_data(self) -> dict[str, object]:
        """Return the message as JSON data, without default values."""
        blank = asdict(Flash(""))
        return {name: value for name, value in asdict(self).items() if value != blank[name]}

    @classmethod
    def from_data(cls, data: JsonObject) -> "Flash":
        """Return the message of ``as_data``; ignore names that this version does not know."""
        known = {item.name: data[item.name] for item in fields(cls) if item.name in data}
        tuples = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**{"text": "", **known, **tuples})


def flash(request: Request, text: str, **options: Any) -> None:
    """Store a message for the next page. ``options`` are the fields of ``Flash``; ``text`` is translated."""
    request.session.flash(Flash(request.translate(text), **options).as_data())


def pop_messages(request: Request) -> list[Flash]:
    """Return the stored messages, and remove them."""
    return [Flash.from_data(data) for data in request.session.pop_flash()]


def peek_messages(request: Request) -> list[Flash]:
    """Return the stored messages, and keep them."""
    return [Flash.from_data(data) for data in request.session.peek_flash()]
