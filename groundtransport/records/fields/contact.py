"""Fields of contact data: telephone, web and e-mail."""

import re
from collections.abc import Sequence
from random import Random
from urllib.parse import quote, urlsplit

import phonenumbers
from markupsafe import Markup

from groundtransport.events import Value
from groundtransport.i18n import _, country
from groundtransport.records.fields.base import Cell, Field, Highlight, Translate
from groundtransport.records.telephone import ParsedNumber, parse, sample_number

_EXTENSION = re.compile(r";ext=|ext(?:ension|n)?\.?|x|#")
SHORT_CODE = range(3, 7)  # digits
_SEPARATOR = re.compile(r"[/;,|&]| (?:or|and|y|o|und|et) ", re.IGNORECASE)
_NATIONAL = re.compile(r"[0-9 ()./-]+", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{7,15}\.0")  # how programs write the numbers of a spreadsheet into CSV files


class Phone(Field):
    """A telephone number, stored as typed. Without a country code it belongs to the airport's country."""

    group = "contact"
    template = "phone"
    shown_as = "phone"
    searches_digits = True
    depends_on_airport = True
    identifies_by = "phone"
    synonyms = (
        *("phone", "telephone", "tel", "phonenumber", "telephonenumber", "phoneno", "telephoneno", "telno"),
        *("companyphone", "agencyphone", "contactnumber", "contactphone", "mainphone", "hotline"),
        *("telefono", "numerodetelefono", "telefonodecontacto"),
        *("telefon", "telefonnummer", "telefonnr", "telnr", "rufnummer", "fon"),
        *("numerodetelephone", "notelephone", "notel"),
    )
    attributes = {"type": "tel", "autocomplete": "off"}

    def clean(self, text: str) -> str:
        number = super().clean(text)
        return number.removesuffix(".0") if _DECIMAL.fullmatch(number) else number

    def convert(self, text: str) -> str:
        numbers = self._numbers_in(text)
        if len(numbers) > 1:
            several = _("${field} holds more than one number: ${numbers}. Write each into a field of its own.")
            raise self.invalid(several, numbers=tuple(numbers))
        number = parse(text, self.place.country)
        if number is None and not self._is_foreign_to_library(text):
            raise self.invalid(_("${field} is not a telephone number."))
        if number is not None and not self._is_possible(text, number):
            impossible = _("${field}: ${number} cannot be a telephone number in ${country}.")
            raise self.invalid(impossible, number=text, country=country(self.place.country))
        return text

    def sample(self, generator: Random, country: str) -> str:
        return sample_number(generator, country)

    def proposals(self, text: str) -> Sequence[str]:
        return tuple(dict.fromkeys(self._numbers_in(text)))

    def _numbers_in(self, text: str) -> list[str]:
        """Return the telephone numbers of a text with a separator such as a slash or semicolon; [] without one."""
        if not _SEPARATOR.search(text):
            return []
        return [match.raw_string for match in phonenumbers.PhoneNumberMatcher(text, self.place.country)]

    @staticmethod
    def _is_possible(text: str, number: ParsedNumber) -> bool:
        """Return True if the number has a possible length, or may be a short code: 511, 1447.

        phonenumbers does not list the short codes of all companies, so any of three to six digits is accepted.
        """
        digit_count = len(str(number.number.national_number))
        return number.is_possible or (digit_count in SHORT_CODE and bool(_NATIONAL.fullmatch(text)))

    def warning(self, value: str) -> str:
        number = parse(value, self.place.country)
        if number is not None and phonenumbers.is_valid_number(number.number):
            return ""
        return self.about(
            _("${field}: ${number} may be wrong. It is not a complete telephone number in ${country}."),
            number=value,
            country=country(self.place.country),
        )

    def display_html(self, value: Value, translate: Translate) -> Markup:
        return Markup('<a href="{}">{}</a>').format(self.tel_uri(value), value)

    def cell(self, highlight: Highlight, translate: Translate) -> Cell:
        # Added, not formatted: a page has many cells, and a sum of Markup takes a third of the time.
        begin, middle, end = Markup('<a href="'), Markup('">'), Markup("</a>")
        return lambda number: begin + self.tel_uri(number) + middle + highlight(number) + end

    @staticmethod
    def tel_uri(value: str) -> str:
        """Return the number as a ``tel:`` URI (RFC 3966)."""
        number, *extension = _EXTENSION.split(value.casefold(), maxsplit=1)
        plus = "+" if number.strip().startswith("+") else ""
        parts = [re.sub(r"[^0-9]", "", part) for part in (number, *extension)]
        return f"tel:{plus}{';ext='.join(parts)}"

    def international(self, text: str) -> str:
        """Return the number in international format, with its country's spacing; "" if it cannot be parsed."""
        number = parse(text, self.place.country)
        form = phonenumbers.PhoneNumberFormat.INTERNATIONAL
        return phonenumbers.format_number(number.number, form) if number else ""

    def _is_foreign_to_library(self, text: str) -> bool:
        """Return True if phonenumbers does not know the country (Antarctica, say) and the text may be a number."""
        unknown = self.place.country not in phonenumbers.SUPPORTED_REGIONS
        return unknown and len(re.sub(r"[^0-9]", "", text)) >= 3 and bool(_NATIONAL.fullmatch(text))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.ASCII | re.IGNORECASE)
# Matches most URLs; one that matches passes all checks of ``_check``.
_PLAIN = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:/[!-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]*\w)?\.)+[^\W_](?:[\w-]*\w)?\.?")


class Link(Field):
    """A URL with the scheme http or https; ``https://`` is prepended to one without a scheme."""

    group = "contact"
    identifies_by = "web"
    synonyms = (
        *("website", "url", "web", "site", "homepage", "link", "weblink", "webaddress", "webpage", "www"),
        *("agencyurl", "companyurl", "companywebsite", "operatorurl"),
        *("sitioweb", "enlace", "paginaweb", "pagina", "direccionweb"),
        *("webseite", "webadresse", "internet", "internetseite", "internetadresse", "netzseite"),
        *("siteweb", "siteinternet", "lien", "adresseweb", "pageweb"),
    )
    attributes = {"inputmode": "url", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if not _SCHEME.match(text):
            text = f"https://{text.removeprefix('//')}"
        self._check(text)
        self.check_length(text)  # again: the scheme may have been prepended
        return text

    def sample(self, generator: Random, country: str) -> str:
        return f"https://www.company{generator.randrange(1, 1000)}.example/"

    def display_html(self, value: Value, translate: Translate) -> Markup:
        label = f"{value} {translate(_('(opens in a new tab)'))}"
        link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer nofollow" aria-label="{}">{}</a>')
        return link.format(value, label, value)

    def _check(self, text: str) -> None:
        """Raise colander.Invalid if a text with a scheme is not a web URL."""
        if _PLAIN.fullmatch(text):
            return
        try:
            parts = urlsplit(text)
            host, scheme, _port = parts.hostname or "", parts.scheme, parts.port
        except ValueError:
            raise self.invalid(_("${field} is not a web address.")) from None
        if scheme not in ("http", "https"):
            raise self.invalid(_("${field} must begin with http:// or https://."))
        if "@" in parts.netloc:
            raise self.invalid(_("${field} must not hold a user name."))
        if "\\" in text or any(char.isspace() for char in text) or not _HOST.fullmatch(host):
            raise self.invalid(_("${field} is not a web address."))


# The pattern of the HTML standard for <input type=email>, with at least one dot in the host.
_EMAIL = re.compile(
    r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+",
    re.ASCII | re.IGNORECASE,
)


class Email(Field):
    """An e-mail address, as the HTML standard defines it."""

    group = "contact"
    max_length = 254
    synonyms = (
        *("email", "mail", "emailaddress", "agencyemail", "contactemail"),
        *("correo", "correoelectronico", "emailadresse", "mailadresse", "courriel", "adresseemail"),
    )
    attributes = {"type": "email", "autocomplete": "off"}

    def convert(self, text: str) -> str:
        if not _EMAIL.fullmatch(text):
            raise self.invalid(_("${field} is not an e-mail address."))
        return text

    def sample(self, generator: Random, country: str) -> str:
        return f"info@company{generator.randrange(1, 1000)}.example"

    def display_html(self, value: Value, translate: Translate) -> Markup:
        return Markup('<a href="mailto:{}">{}</a>').format(quote(value, safe="@"), value)
