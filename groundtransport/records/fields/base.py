"""The base class of all field types, and the types for plain text: a line, paragraphs, one of a list.

A field type is one class. It parses and validates text, renders its values for a form, a list and the details, and
says how they are searched, filtered and compared. A type with a new form control adds a macro to
``templates/fields/controls.jinja2``.

Values are plain JSON values (str, int, bool, None), so that the activity log, the JSON of the lists and the merge of
two edits need not know the types. A column type may store something else (see ``columns.py``).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import colander
import deform.widget
from markupsafe import Markup, escape

from groundtransport import formats
from groundtransport.i18n import _
from groundtransport.records.fields.bound import Place

BLANKS = (
    "".join(chr(c) for c in range(0x3001) if chr(c).isspace() and unicodedata.category(chr(c)) != "Cc") + "\t\n\v\f\r"
)

Translate = Callable[[str], str]
Highlight = Callable[[str], Markup]  # escapes a text, and puts <mark> around what a search matches
Cell = Callable[[Any], Markup]  # renders a value, never None

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
    searches_digits = False  # whether a search finds a value by its digits, whatever stands between them
    identifies_by = ""  # "phone" or "web": two records with such a value in common may be the same company

    @property
    def widget(self) -> deform.widget.Widget:
        return _widget(self.template)

    @property
    def place(self) -> Place:
        place: Place = self.bindings["place"]
        return place

    # From text to value

    def deserialize(self, cstruct: Any = colander.null) -> Any:
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

    def check_length(self, text: str) -> None:
        """Raise colander.Invalid if a text is longer than ``max_length``."""
        if len(text) > self.max_length:
            number = formats.number(self.max_length)
            raise self.invalid(_("${field} can have at most ${number} characters."), number=number)

    def empty(self) -> Any:
        """Return the value of an empty text. Raise colander.Invalid if the field is required."""
        if self.missing is colander.required:
            raise self.invalid(_("${field} is required."))
        return None

    def convert(self, text: str) -> Any:
        """Return the value of a clean, non-empty text. Raise colander.Invalid if there is none."""
        return text

    def about(self, text: str, **values: str | tuple[str, ...]) -> str:
        """Return a translatable text with ``${field}`` and other values in it."""
        return _(text, mapping={"field": self.title, **values})

    def invalid(self, text: str, **values: str | tuple[str, ...]) -> colander.Invalid:
        """Return the exception for an invalid value, with a message about this field."""
        return colander.Invalid(self, self.about(text, **values))

    def warning(self, value: Any) -> str:
        """Return why a valid value looks wrong, or "". A warning does not prevent the save."""
        return ""

    # From value to text and HTML

    def text(self, value: Any) -> str:
        """Return the text from which ``deserialize`` makes the value, for forms and files; "" for None."""
        return "" if value is None else str(value)

    def shown(self, value: Any) -> str:
        """Return the value as people read it; the text may need a translation. "" for None."""
        return self.text(value)

    def display_html(self, value: Any, translate: Translate) -> Markup:
        """Return the HTML of a value in a record's details."""
        return escape(translate(self.shown(value)))

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        """Return a function that renders the values of one column of a list; static/rows.js does the same."""
        return lambda value: highlight(translate(self.shown(value)))

    # Searches and filters

    def search_text(self, value: Any) -> str:
        """Return the text that searches look in; "" for None."""
        return self.text(value)

    def codes(self, value: Any) -> tuple[str, ...]:
        """Return the codes of ``choices`` by which a filter finds the value."""
        return ()

    def filter_value(self, code: str) -> Any:
        """Return the stored value that a filter's code stands for."""
        return code

    def filter_shown(self, text: str) -> str:
        """Return the text of a filter as people read it; it may need a translation."""
        return text

    def range_of(self, text: str) -> tuple[Any, Any] | None:
        """Return the lowest and the highest value of a range filter, None for an open end; None if it is invalid."""
        return None


class Paragraphs(Field):
    """A text of several lines."""

    template = "textarea"

    def clean(self, text: str) -> str:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").strip(BLANKS)
        super().clean(lines.replace("\n", " "))
        return lines


class Select(Field):
    """One entry of a list."""

    template = "select"

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return the entries: pairs of value and label."""
        return self.choices

    def suggested(self) -> tuple[tuple[str, str], ...]:
        """Return the entries to show first."""
        return ()

    def check_length(self, text: str) -> None:
        """Accept any length: a state's name may be longer than its stored code. ``convert`` checks the entry."""


class Choice(Select):
    """A code out of a fixed list. The first is the default value, also for an emptied field."""

    shown_as = "choice"
    filter_control = "select"

    def empty(self) -> Any:
        return self.choices[0][0]

    def convert(self, text: str) -> str:
        for code, label in self.choices:
            if text.casefold() in (code.casefold(), label.casefold()):
                return code
        labels = tuple(label for _code, label in self.choices)
        raise self.invalid(_("${field} must be one of: ${labels}."), labels=labels)

    def shown(self, value: Any) -> str:
        return dict(self.choices).get(value, value or "")

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        badge = Markup('<span class="badge status-{}">{}</span>')
        badges = {code: badge.format(code, translate(label)) for code, label in self.choices}
        return lambda code: badges.get(code, escape(code))

    def codes(self, value: Any) -> tuple[str, ...]:
        return () if value is None else (value,)

    def filter_shown(self, text: str) -> str:
        return dict(self.choices).get(text.casefold(), text)


def declare(node: type[Field], column: Any, title: str, **options: Any) -> Field:
    """Return the field of a column. Its name is the column's, and so is its maximum length if the column has one."""
    length = getattr(column.type, "length", None) or node.max_length
    return node(name=column.key, **{"title": title, "max_length": length, **options})
