"""Fields by which a company is reached: telephone and web."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

import colander
import phonenumbers

from groundtransport.airports.states import country_name
from groundtransport.i18n import _
from groundtransport.records.fields.base import Field

_EXTENSION = re.compile(r";ext=|ext(?:ension|n)?\.?|x|#")
_NATIONAL = re.compile(r"[0-9 ()./-]+", re.ASCII)


@lru_cache(maxsize=256)  # the check and the warning ask for the same
def _parse(text: str, country: str) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException:
        return None


class Phone(Field):
    """A telephone number, kept as typed; without a country code it is one of the airport's country."""

    group = "contact"
    is_phone = True
    attributes = {"type": "tel", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if _parse(text, self.place.country) is None and not self._is_foreign_to_library(text):
            raise colander.Invalid(self, self.about(_("${field} is not a telephone number.")))
        return text

    def warning(self, value: str) -> str:
        number = _parse(value, self.place.country)
        if number is not None and phonenumbers.is_valid_number(number):
            return ""
        return self.about(
            _("${field}: ${number} may be wrong. It is not a complete telephone number in ${country}."),
            number=value,
            country=country_name(self.place.country),
        )

    @staticmethod
    def address(value: str) -> str:
        """Return the number as a ``tel:`` address (RFC 3966)."""
        number, *extension = _EXTENSION.split(value.casefold(), maxsplit=1)
        plus = "+" if number.strip().startswith("+") else ""
        parts = [re.sub(r"[^0-9]", "", part) for part in (number, *extension)]
        return f"tel:{plus}{';ext='.join(parts)}"

    def international(self, text: str) -> str:
        """Return how the number is dialled from anywhere, in its country's own spacing; "" for what is none."""
        number = _parse(text, self.place.country)
        return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL) if number else ""

    def _is_foreign_to_library(self, text: str) -> bool:
        """Whether the number may be good and only its country's numbers are unknown (Antarctica's, say)."""
        unknown = self.place.country not in phonenumbers.SUPPORTED_REGIONS
        return unknown and len(re.sub(r"[^0-9]", "", text)) >= 3 and bool(_NATIONAL.fullmatch(text))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.ASCII | re.IGNORECASE)
# Most addresses look like this; with them, what is asked below holds.
_PLAIN = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:/[!-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]*\w)?\.)+[^\W_](?:[\w-]*\w)?\.?")


class Link(Field):
    """An address on the web, http or https; ``https://`` is put in front of one without a scheme."""

    group = "contact"
    is_link = True
    attributes = {"inputmode": "url", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if not _SCHEME.match(text):
            text = f"https://{text.removeprefix('//')}"
        self._check(text)
        self.check_length(text)  # again: the scheme may have been put in front
        return text

    def _check(self, text: str) -> None:
        if _PLAIN.fullmatch(text):
            return
        try:
            parts = urlsplit(text)
            host, scheme, _port = parts.hostname or "", parts.scheme, parts.port
        except ValueError:
            raise colander.Invalid(self, self.about(_("${field} is not a web address."))) from None
        if scheme not in ("http", "https"):
            raise colander.Invalid(self, self.about(_("${field} must begin with http:// or https://.")))
        if "@" in parts.netloc:
            raise colander.Invalid(self, self.about(_("${field} must not hold a user name.")))
        if "\\" in text or any(char.isspace() for char in text) or not _HOST.fullmatch(host):
            raise colander.Invalid(self, self.about(_("${field} is not a web address.")))
