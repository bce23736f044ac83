"""Languages: which there are, which one a request gets, and ``_``, which marks a text for translation.

The English text is the message's name. The catalogues stand in ``groundtransport/locale``: the domain
``groundtransport`` is for Python and templates, ``scripts`` for the browser.
"""

from functools import lru_cache
from typing import Any

from markupsafe import Markup
from pyramid.threadlocal import get_current_request
from translationstring import TranslationString, TranslationStringFactory

from groundtransport.formats import FILTERS

DOMAIN = "groundtransport"
LANGUAGES = {"en": "English", "es": "Español"}
DEFAULT = "en"

_ = TranslationStringFactory(DOMAIN)


def translated(text: str | tuple[str, ...], localizer: Any = None) -> str:
    """Return a text in the language of ``localizer``, in English without one, its values put in.

    A value that is itself a text of ours is translated, too, and each of a tuple of them. Anything else, what people
    typed above all, stays.
    """
    if isinstance(text, tuple):
        return ", ".join(translated(part, localizer) for part in text)
    if not isinstance(text, TranslationString):
        return text
    if localizer and not text.mapping:
        return _found(localizer, str(text), text.domain, text.default)
    values = {name: translated(value, localizer) for name, value in (text.mapping or {}).items()}
    whole = TranslationString(text, domain=text.domain, default=text.default, mapping=values)
    found: str = localizer.translate(whole) if localizer else whole.interpolate()
    return found


@lru_cache(4096)  # a few hundred texts, by two languages
def _found(localizer: Any, text: str, domain: str | None, default: str | None) -> str:
    found: str = localizer.translate(TranslationString(text, domain=domain, default=default))
    return found


def translate(request: Any, text: str) -> str:
    """``request.translate(text)``."""
    return translated(text, request.localizer)


def ours(text: str) -> str:
    """The filter of templates for what may be a text of ours and may be data: ``{{ node.shown(value)|ours }}``."""
    return translated(text, get_current_request().localizer)


COMMAND_LINE = " (command line)"  # behind the name of who acts there; stored, therefore in English


def person(actor: str) -> str:
    """The filter of templates for who did something: ``{{ entry.actor|person }}``."""
    if not actor.endswith(COMMAND_LINE):
        return actor
    return ours(_("${name} (command line)", mapping={"name": actor.removesuffix(COMMAND_LINE)}))


@lru_cache(4096)  # a few hundred texts, by two languages
def _looked_up(localizer: Any, text: str) -> Markup:
    return Markup(localizer.translate(text, domain=DOMAIN))  # noqa: S704  # nosec B704 # a text of ours


@lru_cache(4096)
def _whole(localizer: Any, text: str) -> Markup:
    return _looked_up(localizer, text) % {}


def gettext(text: str, **values: Any) -> Markup:
    """The ``_`` of templates: as Jinja's own, which asks the catalogue anew for every text of every page."""
    localizer = get_current_request().localizer
    return _looked_up(localizer, text) % values if values else _whole(localizer, text)


def negotiate(request: Any) -> str:
    """Return the language of a request: the person's choice, else what the browser asks for, else English.

    It must not query: an error page is rendered when the database is away, too.
    """
    identity = request.session.known_identity
    chosen: str = identity.preferences.get("language", "") if identity else ""
    if chosen in LANGUAGES:
        return chosen
    wanted: str = request.accept_language.lookup(list(LANGUAGES), default=DEFAULT)
    return wanted


def includeme(config: Any) -> None:
    # Before pyramid_jinja2: its templates know `_` and {% trans %}, with %(name)s for values.
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

    def say_in_templates() -> None:
        config.get_jinja2_environment(".jinja2").globals["_"] = gettext

    # pyramid_jinja2 makes its environment when the configuration is committed: ask after that.
    config.action("texts of templates", say_in_templates, order=9999)
