"""Fields of fixed choices besides ``Choice``."""

from typing import Any

from groundtransport.i18n import _
from groundtransport.records.fields.base import Select

YES, NO = "yes", "no"
_WORDS = {**dict.fromkeys((YES, "y", "true", "1"), True), **dict.fromkeys((NO, "n", "false", "0"), False)}


class YesNo(Select):
    """True, False, or None for unknown; the column type is Boolean."""

    template = "optional_select"
    shown_as = "display"
    filter_control = "select"
    choices = ((YES, _("Yes")), (NO, _("No")))
    max_length = 5

    def convert(self, text: str) -> bool:
        try:
            return _WORDS[text.casefold()]
        except KeyError:
            raise self.invalid(_("${field} must be yes or no.")) from None

    def text(self, value: Any) -> str:
        if isinstance(value, str):  # a text that was sent, not a stored value
            return value
        return "" if value is None else YES if value else NO

    def shown(self, value: Any) -> str:
        return dict(self.choices).get(self.text(value), "")

    def search_text(self, value: Any) -> str:
        return ""  # the filter finds it

    def codes(self, value: Any) -> tuple[str, ...]:
        return (self.text(value),) if value is not None else ()

    def filter_value(self, code: str) -> bool | None:
        return _WORDS.get(code)

    def filter_shown(self, text: str) -> str:
        return dict(self.choices).get(text.casefold(), text)
