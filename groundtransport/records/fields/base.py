"""The base class of all field types, which is the type of a line of text, and the type of paragraphs.

A field type is one class. It parses and validates text, renders its values for a form, a list and the details, and
says how they are searched, filtered and compared. A type with a new form control adds a macro to
``templates/fields/controls.jinja2``.

Values are plain JSON values (str, int, bool, None), so that the activity log, the JSON of the lists and the merge of
two edits need not know the types. A column type may store something else (see ``columns.py``).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import colander
import deform.widget
from markupsafe import Markup, escape
from sqlalchemy.orm import InstrumentedAttribute

from groundtransport import formats
from groundtransport.events import Value
from groundtransport.i18n import _
from groundtransport.json_types import JsonObject
from groundtransport.records.fields.bound import Place

BLANKS = (
    "".join(chr(c) for c in range(0x3001) if chr(c).isspace() and unicodedata.category(chr(c)) != "Cc") + "\t\n\v\f\r"
)

JsonSchema = JsonObject
Translate = Callable[[str], str]
Highlight = Callable[[str], Markup]  # escapes a text, and puts <mark> around what a search matches
Cell = Callable[[Value], Markup]  # renders a value, never None

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode category Cc


@cache
def _widget(template: str) -> deform.widget.Widget:
    """Return the shared widget of a form control; it holds no state of a request."""
    return deform.widget.TextInputWidget(template=template, strip=False)


class Field(colander.SchemaNode):
    """A line of text.

    ``group`` names the part of the form, ``column_title`` a shorter title for the list, ``help`` the hint below the
    control, ``attributes`` further HTML attributes of the control.
    """

    schema_type = colander.String
    missing = None
    group = "company"
    help = ""
    column_title = ""
    max_length = 0  # of the text in a form or file
    template = "textinput"  # the macro in templates/fields/controls.jinja2
    attributes: Mapping[str, str] = {}
    # How static/rows.js renders a cell: "text" (the value), "airport", "phone", "choice", or "display" (``shown``).
    shown_as = "text"
    # The control of the field's own filter in the list: "select" (``choices``), "range", or "" for no such filter.
    filter_control = ""
    choices: tuple[tuple[str, str], ...] = ()  # pairs of code and label
    holds_several = False  # True if a record can hold any number of ``choices``
    searches_digits = False  # whether a search finds a value by its digits, whatever stands between them
    # Further titles of a file's column with such values, in small letters without blanks; a kind's n-th field of the
    # type is found by the title and n as well.
    synonyms: tuple[str, ...] = ()
    depends_on_airport = False  # whether the airport decides which texts are valid, such as by its country
    identifies_by = ""  # "phone" or "web": two records with such a value in common may be the same company

    @property
    def widget(self) -> deform.widget.Widget:
        return _widget(self.template)

    @property
    def place(self) -> Place:
        place: Place = self.bindings["place"]
        return place

    # JSON of the API

    json_type: type = str  # of the value in JSON

    def json_schema(self) -> JsonSchema:
        """Return the JSON Schema of a value, without null."""
        return {"type": "string", "maxLength": self.max_length} if self.max_length else {"type": "string"}

    # From text to value

    def deserialize(self, cstruct: object = colander.null) -> object:
        """Return the value of a text, None for an empty one. Raise colander.Invalid with a message about the field."""
        text = self.clean(cstruct) if isinstance(cstruct, str) else ""
        if not text:
            return self.empty()
        self.check_length(text)
        stored = self.place.stored.get(self.name)
        # A stored value stays valid even if the airport's cities or the rules have changed since.
        return stored if stored is not None and self.text(stored) == text else self.convert(text)

    def clean(self, text: str) -> str:
        """Return a text without blanks at its ends. Raise colander.Invalid if it holds a control character."""
        text = text.strip(BLANKS)
        if not text.isprintable() and _CONTROL.search(text):  # isprintable() is fast and True for most texts
            raise self.invalid(_("${field} holds a line break or another control character."))
        return text

    def joined(self, text: str) -> str:
        """Return a text of several lines, such as a cell with an address, as one with commas in place of the breaks."""
        return ", ".join(line.strip(" ,") for line in text.splitlines() if line.strip(" ,"))

    def check_length(self, text: str) -> None:
        """Raise colander.Invalid if a text is longer than ``max_length``."""
        if len(text) > self.max_length:
            number = formats.number(self.max_length)
            raise self.invalid(_("${field} can have at most ${number} characters."), number=number)

    def empty(self) -> object:
        """Return the value of an empty text. Raise colander.Invalid if the field is required."""
        if self.missing is colander.required:
            raise self.invalid(_("${field} is required."))
        return None

    def convert(self, text: str) -> object:
        """Return the value of a clean, non-empty text. Raise colander.Invalid if there is none."""
        return text

    def about(self, text: str, **values: str | tuple[str, ...]) -> str:
        """Return a translatable text with ``${field}`` and other values in it."""
        return _(text, mapping={"field": self.title, **values})

    def invalid(self, text: str, **values: str | tuple[str, ...]) -> colander.Invalid:
        """Return the exception for an invalid value, with a message about this field."""
        return colander.Invalid(self, self.about(text, **values))

    def warning(self, value: Value) -> str:
        """Return why a valid value looks wrong, or "". A warning does not prevent the save."""
        return ""

    def valid_texts(self) -> Sequence[str]:
        """Return the texts that an import proposes in place of a similar invalid one; () if any text may be valid."""
        return ()

    def proposals(self, text: str) -> Sequence[str]:
        """Return what an import proposes in place of an invalid text, if that depends on the text itself."""
        return ()

    def sample(self, generator: Random, country: str) -> str:
        """Return a text with a random valid value, for a sample record at an airport of a country; "" for none."""
        return f"{self.title} {generator.randrange(1, 1000)}"[: self.max_length]

    # From value to text and HTML

    def text(self, value: Value) -> str:
        """Return the text from which ``deserialize`` makes the value, for forms and files; "" for None."""
        return "" if value is None else str(value)

    def spreadsheet_value(self, value: Value) -> str | int | Decimal | date:
        """Return the value of an XLSX cell, from whose text ``deserialize`` makes the value too; "" for None."""
        return self.text(value)

    def shown(self, value: Value) -> str:
        """Return the value as people read it; the text may need a translation. "" for None."""
        return self.text(value)

    def display_html(self, value: Value, translate: Translate) -> Markup:
        """Return the HTML of a value in a record's details."""
        return escape(translate(self.shown(value)))

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        """Return a function that renders the values of one column of a list; static/rows.js does the same."""
        return lambda value: highlight(translate(self.shown(value)))

    def cell_in_link(self, highlight: Highlight, translate: Translate) -> Cell:
        """Return a function as ``cell`` does, for a column that links to the record: its HTML holds no link."""
        return self.cell(highlight, translate)

    @property
    def longest_value(self) -> int:
        """The length of the longest text that the field stores; 0 if it stores any text that is typed."""
        return 0

    # Searches and filters

    def search_text(self, value: Value) -> str:
        """Return the text that searches look in; "" for None."""
        return self.text(value)

    def codes(self, value: Value) -> tuple[str, ...]:
        """Return the codes of ``choices`` by which a filter finds the value."""
        return ()

    def filter_value(self, code: str) -> object:
        """Return the stored value that a filter's code stands for."""
        return code

    def filter_shown(self, text: str) -> str:
        """Return the text of a filter as people read it; it may need a translation."""
        return text

    def range_of(self, text: str) -> tuple[object, object] | None:
        """Return the lowest and the highest value of a range filter, None for an open end; None if it is invalid."""
        return None


class Paragraphs(Field):
    """A text of several lines."""

    template = "textarea"

    def joined(self, text: str) -> str:
        """Return the text as it is: the field has several lines."""
        return text

    def clean(self, text: str) -> str:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").strip(BLANKS)
        super().clean(lines.replace("\n", " "))
        return lines


def declare(node: type[Field], column: InstrumentedAttribute[Any], title: str, **options: object) -> Field:
    """Return the field of a column. Its name is the column's, and so is its maximum length if the column has one.

    Raise ValueError if the column is too short for the field's values.
    """
    length = getattr(column.type, "length", None) or node.max_length
    field = node(name=column.key, **{"title": title, "max_length": length, **options})
    if field.longest_value > length:
        raise ValueError(f"the column {column.key} needs {field.longest_value} characters, and has {length}")
    return field
