"""The field of opening hours, in the syntax of OpenStreetMap's key ``opening_hours``."""

import re
from random import Random

from groundtransport.i18n import _
from groundtransport.records.fields.base import Field

_DAY = r"(?:Mo|Tu|We|Th|Fr|Sa|Su|PH|SH)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: (?:0?[1-9]|[12][0-9]|3[01]))?"
_TIME = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)"


def _list_of(item: str) -> str:
    """Return the pattern of items and ranges of items, separated by commas."""
    one = f"{item}(?:-{item})?"
    return f"{one}(?:,{one})*"


_SPAN = rf"{_TIME}(?:-{_TIME}|\+)"
_TIMES = rf"(?:{_SPAN}(?:,{_SPAN})*|off|closed)"
_RULE = re.compile(rf"24/7|(?:{_list_of(_MONTH)} )?(?:{_list_of(_DAY)} )?{_TIMES}")


SAMPLES = ("24/7", "Mo-Su 05:00-23:30", "Mo-Fr 06:00-22:00; Sa,Su 08:00-20:00; PH off")


class OpeningHours(Field):
    """Rules of months, weekdays and times, such as ``Mo-Fr 06:00-22:00; Sa,Su 08:00-20:00; PH off``, or ``24/7``.

    Supports the parts of the syntax that most places use: month and date ranges, weekdays, public and school
    holidays, several times a day, open ends and days off. A time may pass midnight, ``20:00-02:00``.
    """

    group = "contact"
    help = _("Such as: Mo-Fr 06:00-22:00; Sa,Su 08:00-20:00; PH off. Or: 24/7.")

    def sample(self, generator: Random, country: str) -> str:
        return generator.choice(SAMPLES)

    def convert(self, text: str) -> str:
        rules = [" ".join(re.sub(r"\s*,\s*", ",", rule).split()) for rule in text.strip("; ").split(";")]
        wrong = next((rule for rule in rules if not _RULE.fullmatch(rule)), None)
        if wrong is not None:
            raise self.invalid(
                _("${field}: “${rule}” is not understood. Write: Mo-Fr 06:00-22:00; Sa off."), rule=wrong
            )
        hours = "; ".join(rules)
        self.check_length(hours)  # again: blanks may have been inserted
        return hours
