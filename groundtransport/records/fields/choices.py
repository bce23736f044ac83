"""Fields of fixed choices: one of a list, a code, yes or no, several codes."""

import re
from collections.abc import Sequence
from random import Random

from markupsafe import Markup, escape
from translationstring import TranslationString

from groundtransport.events import Value
from groundtransport.i18n import DOMAIN, _, in_every_language
from groundtransport.records.fields.base import Cell, Field, Highlight, JsonSchema, Translate

PROPOSED = 3  # choices at most that an import proposes in place of any other text
_SEPARATOR = re.compile(r"\s*[,;]\s*")
YES, NO = "yes", "no"
_WORDS = {**dict.fromkeys((YES, "y", "true", "1"), True), **dict.fromkeys((NO, "n", "false", "0"), False)}


class Select(Field):
    """One entry of a list."""

    template = "select"

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return the entries: pairs of value and label."""
        return self.choices

    def suggested(self) -> tuple[tuple[str, str], ...]:
        """Return the entries to show first."""
        return ()

    def json_schema(self) -> JsonSchema:
        return {"type": "string"}

    def sample(self, generator: Random, country: str) -> str:
        return generator.choice(self.choices)[0] if self.choices else ""

    def check_length(self, text: str) -> None:
        """Accept any length: a state's name may be longer than its stored code. ``convert`` checks the entry."""


class Choice(Select):
    """A code out of a fixed list. The first is the default value, also for an emptied field."""

    shown_as = "choice"
    filter_control = "select"

    def json_schema(self) -> JsonSchema:
        return {"type": "string", "enum": [code for code, _label in self.choices]}

    def empty(self) -> object:
        return self.choices[0][0]

    def proposals(self, text: str) -> Sequence[str]:
        return [code for code, _label in self.choices] if len(self.choices) <= PROPOSED else ()

    def convert(self, text: str) -> str:
        for code, label in self.choices:
            if text.casefold() in (known.casefold() for known in (code, *in_every_language(label))):
                return code
        labels = tuple(label for _code, label in self.choices)
        raise self.invalid(_("${field} must be one of: ${labels}."), labels=labels)

    def shown(self, value: Value) -> str:
        return dict(self.choices).get(value, value or "")

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        badge = Markup('<span class="badge status-{}">{}</span>')
        badges = {code: badge.format(code, translate(label)) for code, label in self.choices}
        return lambda code: badges.get(code, escape(code))

    def codes(self, value: Value) -> tuple[str, ...]:
        return () if value is None else (value,)

    def filter_shown(self, text: str) -> str:
        return dict(self.choices).get(text.casefold(), text)


class YesNo(Select):
    """True, False, or None for unknown; the column type is Boolean."""

    template = "optional_select"
    shown_as = "display"
    filter_control = "select"
    choices = ((YES, _("Yes")), (NO, _("No")))
    json_type = bool
    max_length = 5

    def json_schema(self) -> JsonSchema:
        return {"type": "boolean"}

    def convert(self, text: str) -> bool:
        try:
            return _WORDS[text.casefold()]
        except KeyError:
            raise self.invalid(_("${field} must be yes or no.")) from None

    def text(self, value: Value) -> str:
        if isinstance(value, str):  # a text that was sent, not a stored value
            return value
        return "" if value is None else YES if value else NO

    def shown(self, value: Value) -> str:
        return dict(self.choices).get(self.text(value), "")

    def search_text(self, value: Value) -> str:
        return ""  # the filter finds it

    def codes(self, value: Value) -> tuple[str, ...]:
        return (self.text(value),) if value is not None else ()

    def filter_value(self, code: str) -> bool | None:
        return _WORDS.get(code)

    def filter_shown(self, text: str) -> str:
        return dict(self.choices).get(text.casefold(), text)


class SeveralChoices(Field):
    """Any number of ``choices``; the column type is String, long enough for all codes joined by commas.

    The value is the codes in the order of the declaration, joined by commas: "cash,card"; None if there is none. In a
    file, codes or labels are separated by commas or semicolons, so neither may contain one (decision 80).
    """

    template = "checkboxes"
    shown_as = "display"
    filter_control = "select"
    holds_several = True

    @property
    def longest_value(self) -> int:
        return len(",".join(code for code, _label in self.choices))

    def json_schema(self) -> JsonSchema:
        codes = ", ".join(code for code, _label in self.choices)
        return {"type": "string", "description": f"object of these codes, joined by commas: {codes}"}

    def sample(self, generator: Random, country: str) -> str:
        return ", ".join(code for code, _label in self.choices if generator.random() < 0.5)

    def check_length(self, text: str) -> None:
        """Accept any length: labels may be longer than the stored codes. ``convert`` checks each choice."""

    def convert(self, text: str) -> object:
        known = {name.casefold(): code for code, label in self.choices for name in (label, code)}
        names = [name for name in _SEPARATOR.split(text) if name]
        wrong = next((name for name in names if name.casefold() not in known), None)
        if wrong is not None:
            labels = tuple(label for _code, label in self.choices)
            raise self.invalid(_("${field}: “${choice}” is not one of: ${labels}."), choice=wrong, labels=labels)
        chosen = {known[name.casefold()] for name in names}
        return ",".join(code for code, _label in self.choices if code in chosen) or self.empty()

    def text(self, value: Value) -> str:
        return ", ".join(self.codes(value))

    def shown(self, value: Value) -> str:
        labels = dict(self.choices)
        shown = tuple(labels.get(code, code) for code in self.codes(value))
        # Not a text to translate: its values are.
        return TranslationString("${labels}", domain=DOMAIN, mapping={"labels": shown}) if shown else ""

    def boxes(self, text: str) -> list[tuple[str, str, bool]]:
        """Return the checkboxes of a form: code, label, and True if it is checked.

        A text that is no choice gets a checked box of its own, so that what was sent is not lost.
        """
        names = [name for name in _SEPARATOR.split(text) if name]
        folded = {name.casefold() for name in names}
        known = {name.casefold() for choice in self.choices for name in choice}
        boxes = [(code, label, bool({code.casefold(), label.casefold()} & folded)) for code, label in self.choices]
        return boxes + [(name, name, True) for name in dict.fromkeys(names) if name.casefold() not in known]

    def search_text(self, value: Value) -> str:
        return ""  # the filter finds it

    def codes(self, value: Value) -> tuple[str, ...]:
        return tuple(_SEPARATOR.split(value)) if value else ()

    def filter_shown(self, text: str) -> str:
        return dict(self.choices).get(text.casefold(), text)
