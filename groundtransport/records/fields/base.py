"""A line of text, a longer text, one of a list: what the other fields build on."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any

import colander
import deform.widget

from groundtransport import formats
from groundtransport.i18n import _
from groundtransport.records.fields.bound import Place

BLANKS = (
    "".join(chr(c) for c in range(0x3001) if chr(c).isspace() and unicodedata.category(chr(c)) != "Cc") + "\t\n\v\f\r"
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc


@cache
def _widget(template: str) -> deform.widget.Widget:
    """Return the widget of a template: it keeps nothing of one request."""
    return deform.widget.TextInputWidget(template=template, strip=False)


class Field(colander.SchemaNode):
    """A line of text. ``group`` names the part of the form that it stands in; ``column_title`` is its title in the
    header of a list, where that is a shorter one."""

    schema_type = colander.String
    missing = None
    group = "company"
    help = ""
    column_title = ""
    max_length = 0
    template = "textinput"
    is_phone = False
    is_link = False
    choices: tuple[tuple[str, str], ...] = ()
    attributes: Mapping[str, str] = {}

    @property
    def widget(self) -> deform.widget.Widget:
        return _widget(self.template)

    @property
    def place(self) -> Place:
        place: Place = self.bindings["place"]
        return place

    def deserialize(self, cstruct: Any = colander.null) -> Any:
        """Return the value of a text: None for an empty one; raise colander.Invalid for a bad one."""
        text = self.clean(cstruct) if isinstance(cstruct, str) else ""
        if not text:
            return self.empty()
        self.check_length(text)
        # What is stored stays valid, also when the lists have changed since.
        return text if self.place.stored.get(self.name) == text else self.convert(text)

    def clean(self, text: str) -> str:
        text = text.strip(BLANKS)
        if not text.isprintable() and _CONTROL.search(text):  # the first is quick, and true of most
            raise colander.Invalid(self, self.about(_("${field} holds a line break or another control character.")))
        return text

    def check_length(self, text: str) -> None:
        if len(text) > self.max_length:
            raise colander.Invalid(
                self,
                self.about(
                    _("${field} can have at most ${number} characters."), number=formats.number(self.max_length)
                ),
            )

    def empty(self) -> Any:
        if self.missing is colander.required:
            raise colander.Invalid(self, self.about(_("${field} is required.")))
        return None

    def convert(self, text: str) -> str:
        return text

    def about(self, text: str, **values: str | tuple[str, ...]) -> str:
        """Return a text of ours about this field, ``${field}`` in it."""
        return _(text, mapping={"field": self.title, **values})

    def warning(self, value: str) -> str:
        """Return why a value is doubtful; "" when it is not. A warning hinders nothing."""
        return ""

    def shown(self, value: Any) -> str:
        """Return the value as people read it."""
        return "" if value is None else str(value)


class Paragraphs(Field):
    """A longer text; line breaks are kept."""

    template = "textarea"

    def clean(self, text: str) -> str:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").strip(BLANKS)
        super().clean(lines.replace("\n", " "))
        return lines


class Select(Field):
    """One of a list."""

    template = "select"

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return what can be chosen: pairs of value and label."""
        return self.choices

    def suggested(self) -> tuple[tuple[str, str], ...]:
        """Return the few options that are shown first."""
        return ()

    def check_length(self, text: str) -> None:
        """Leave it to the list: a state's name may be longer than the code that is stored."""


class Choice(Select):
    """A code out of a fixed few. The first is the default, of a new record and of one that it is emptied in."""

    def empty(self) -> Any:
        return self.choices[0][0]

    def convert(self, text: str) -> str:
        for code, label in self.choices:
            if text.casefold() in (code.casefold(), label.casefold()):
                return code
        labels = tuple(label for _code, label in self.choices)
        raise colander.Invalid(self, self.about(_("${field} must be one of: ${labels}."), labels=labels))

    def shown(self, value: Any) -> str:
        return dict(self.choices).get(value, value or "")


def declare(node: type[Field], column: Any, title: str, **facts: Any) -> Field:
    """Return the field of a column: its name and its greatest length are the column's."""
    return node(name=column.key, title=title, max_length=column.type.length, **facts)
