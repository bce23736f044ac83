"""The messages of a preview, which are stored as JSON and translated when the page is shown."""

import pytest
from pyramid.i18n import make_localizer

from groundtransport.i18n import LOCALE, _, country, translated
from groundtransport.transfer.plan_json import text_from_json, text_to_json

MESSAGE = _("${field}: ${country} has no ${state}.", mapping={"field": "x", "country": country("GB"), "state": "y"})


@pytest.mark.parametrize(("language", "expected"), [("en", "United Kingdom"), ("es", "Reino Unido")])
def test_a_stored_message_names_the_country_in_the_language_of_the_page(language: str, expected: str) -> None:
    localizer = make_localizer(language, [str(LOCALE)])
    assert expected in translated(text_from_json(text_to_json(MESSAGE)), localizer)


def test_without_a_language_the_country_is_named_in_english() -> None:
    assert translated(MESSAGE) == "x: United Kingdom has no y."
    assert translated(country("ZZZ")) == "ZZZ"
