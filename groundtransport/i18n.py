"""Translation: the languages, the language of a request, and ``_``, which marks a text for translation.

The message id is the English text. The catalogues are in ``groundtransport/locale/<language>``: the domain
``groundtransport`` for Python and templates, ``scripts`` for the browser. A language is offered if its folder holds a
compiled catalogue.
"""

import gettext as catalogues
from functools import cache, lru_cache
from pathlib import Path

from babel import Locale
from markupsafe import Markup
from pyramid.config import Configurator
from pyramid.i18n import Localizer
from pyramid.request import Request
from pyramid.threadlocal import get_current_request
from translationstring import TranslationString, TranslationStringFactory

from groundtransport.formats import FILTERS, country_name

DOMAIN = "groundtransport"
COUNTRIES = "countries"  # domain of texts that are codes of countries; Babel has the names
DEFAULT = "en"
LOCALE = Path(__file__).parent / "locale"


def languages(folder: Path) -> dict[str, str]:
    """Return the languages of a folder of catalogues, and English: the code and the language's own name.

    A code is that of gettext's folders, such as ``pt_BR``.
    """
    codes = sorted(file.parts[-3] for file in folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    locales = {code: Locale.parse(code) for code in (DEFAULT, *codes)}
    names = {code: locale.get_display_name() or code for code, locale in locales.items()}
    return {code: name[:1].upper() + name[1:] for code, name in names.items()}


LANGUAGES = languages(LOCALE)
# HTML and HTTP name languages with a hyphen: ``pt-BR``.
TAGS = {code.replace("_", "-"): code for code in LANGUAGES}

_ = TranslationStringFactory(DOMAIN)


def country(code: str) -> TranslationString:
    """Return the text that is translated to the name of a country (ISO 3166-1); unknown codes stay."""
    return TranslationString(code, domain=COUNTRIES)


def translated(text: str | tuple[str, ...], localizer: Localizer | None = None) -> str:
    """Return a text translated by ``localizer``, or in English without one, with its values inserted.

    Values that are translation strings, or tuples of them, are translated too. Plain strings, such as users' input, are
    returned unchanged.
    """
    if isinstance(text, tuple):
        return ", ".join(translated(part, localizer) for part in text)
    if not isinstance(text, TranslationString):
        return text
    if text.domain == COUNTRIES:
        return country_name(text, localizer.locale_name if localizer else DEFAULT)
    if localizer and not text.mapping:
        return _translate(localizer, str(text), text.domain, text.default)
    values = {name: translated(value, localizer) for name, value in (text.mapping or {}).items()}
    message = TranslationString(text, domain=text.domain, default=text.default, mapping=values)
    result: str = localizer.translate(message) if localizer else message.interpolate()
    return result


@lru_cache(1_000, typed=True)  # an import asks for the same labels in every row; typed: an equal str is not marked
def in_every_language(text: str) -> tuple[str, ...]:
    """Return a text and, if it is marked for translation, its translations; for what people write into files."""
    if not isinstance(text, TranslationString):
        return (text,)
    return (str(text), *(_catalogue(code).gettext(str(text)) for code in LANGUAGES))


@cache
def _catalogue(language: str) -> catalogues.NullTranslations:
    return catalogues.translation(DOMAIN, LOCALE, [language], fallback=True)


@lru_cache(4096)  # a few hundred texts in each language
def _translate(localizer: Localizer, text: str, domain: str | None, default: str | None) -> str:
    result: str = localizer.translate(TranslationString(text, domain=domain, default=default))
    return result


def translate(request: Request, text: str) -> str:
    """Return a text in the language of the request: ``request.translate(text)``."""
    return translated(text, request.localizer)


def ours(text: str) -> str:
    """Return a text translated if it is a translation string (template filter): ``{{ node.shown(value)|ours }}``."""
    return translated(text, get_current_request().localizer)


COMMAND_LINE = " (command line)"  # suffix of an actor's name; stored, so always English


def person(actor: str) -> str:
    """Return the name of an actor with the suffix translated (template filter): ``{{ entry.actor|person }}``."""
    if not actor.endswith(COMMAND_LINE):
        return actor
    return ours(_("${name} (command line)", mapping={"name": actor.removesuffix(COMMAND_LINE)}))


@lru_cache(4096)  # a few hundred texts in each language
def _markup(localizer: Localizer, text: str) -> Markup:
    return Markup(localizer.translate(text, domain=DOMAIN))  # noqa: S704  # nosec B704 # from the catalogue


@lru_cache(4096)
def _translated_markup(localizer: object, text: str) -> Markup:
    return _markup(localizer, text) % {}


def gettext(text: str, **values: object) -> Markup:
    """Return a translated text with its values escaped: ``_`` of the templates. Unlike Jinja's, it is cached."""
    localizer = get_current_request().localizer
    return _markup(localizer, text) % values if values else _translated_markup(localizer, text)


def negotiate(request: Request) -> str:
    """Return the language of a request: the user's preference, else the browser's, else English.

    No queries: error pages are rendered when the database does not answer, too.
    """
    identity = request.session.known_identity
    chosen: str = identity.preferences.get("language", "") if identity else ""
    if chosen in LANGUAGES:
        return chosen
    tag: str = request.accept_language.lookup(list(TAGS), default=DEFAULT)
    return TAGS[tag]


def includeme(config: Configurator) -> None:
    # Must precede pyramid_jinja2. Newstyle gettext inserts values as %(name)s.
    config.add_settings(
        {
            "jinja2.i18n.domain": DOMAIN,
            "jinja2.newstyle": "true",
            "jinja2.filters": {"ours": ours, "person": person, **FILTERS},
        }
    )
    config.add_translation_dirs("colander:locale", "groundtransport:locale")
    config.add_request_method(translate)
    config.set_locale_negotiator(negotiate)

    def set_template_gettext() -> None:
        config.get_jinja2_environment(".jinja2").globals["_"] = gettext

    # pyramid_jinja2 creates its environment when the configuration is committed, so this runs later.
    config.action("texts of templates", set_template_gettext, order=9999)
