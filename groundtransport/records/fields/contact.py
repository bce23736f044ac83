"""Fields by which a company is reached: telephone and web."""

import re
from urllib.parse import urlsplit

import colander
import phonenumbers

from groundtransport.airports.states import country_name
from groundtransport.records.fields.base import Field

_NATIONAL = re.compile(r"[0-9 ()./-]+", re.ASCII)


class Phone(Field):
    """A telephone number, kept as typed; without a country code it is one of the airport's country."""

    group = "contact"
    is_phone = True
    attributes = {"type": "tel", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if self._parse(text) is None and not self._is_foreign_to_library(text):
            raise colander.Invalid(self, f"{self.title} is not a telephone number.")
        return text

    def warning(self, value: str) -> str:
        number = self._parse(value)
        if number is not None and phonenumbers.is_valid_number(number):
            return ""
        return f"{self.title} {value} may be wrong: it is no complete number in {country_name(self.place.country)}."

    def _parse(self, text: str) -> phonenumbers.PhoneNumber | None:
        try:
            return phonenumbers.parse(text, self.place.country)
        except phonenumbers.NumberParseException:
            return None

    def _is_foreign_to_library(self, text: str) -> bool:
        """Whether the number may be good and only its country's numbers are unknown (Antarctica's, say)."""
        unknown = self.place.country not in phonenumbers.SUPPORTED_REGIONS
        return unknown and len(re.sub(r"[^0-9]", "", text)) >= 3 and bool(_NATIONAL.fullmatch(text))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.ASCII | re.IGNORECASE)
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
        try:
            parts = urlsplit(text)
            host, scheme, _ = parts.hostname or "", parts.scheme, parts.port
        except ValueError:
            raise colander.Invalid(self, f"{self.title} is not a web address.") from None
        if scheme not in ("http", "https"):
            raise colander.Invalid(self, f"{self.title} must begin with http:// or https://.")
        if "@" in parts.netloc:
            raise colander.Invalid(self, f"{self.title} must not hold a user name.")
        if "\\" in text or any(char.isspace() for char in text) or not _HOST.fullmatch(host):
            raise colander.Invalid(self, f"{self.title} is not a web address.")
