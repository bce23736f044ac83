"""A language needs nothing but its catalogue: French is added to a copy of the package, and offered."""

import os
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from groundtransport.i18n import languages
from tests.own_kinds import ROOT, OwnCode

FRENCH = {"Help": "Aide", "Contents": "Sommaire"}


def add_catalogue(folder: Path, language: str) -> None:
    """Write the compiled catalogue of a language, as the build does."""
    catalogue = Catalog(locale=language)
    for text, translation in FRENCH.items():
        catalogue.add(text, translation)
    file = folder / language / "LC_MESSAGES" / "groundtransport.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as stream:
        write_mo(stream, catalogue)


def test_languages_are_the_compiled_catalogues_by_their_own_names(tmp_path: Path) -> None:
    add_catalogue(tmp_path, "fr")
    add_catalogue(tmp_path, "pt_BR")
    (tmp_path / "de" / "LC_MESSAGES").mkdir(parents=True)
    assert languages(tmp_path) == {"en": "English", "fr": "Français", "pt_BR": "Português (Brasil)"}


@pytest.mark.slow
def test_a_new_catalogue_is_offered_and_used(migrated_database_url: str, tmp_path: Path) -> None:
    own = OwnCode(tmp_path, migrated_database_url)
    (own.folder / "docs").symlink_to(ROOT / "docs")  # the guide
    add_catalogue(own.folder / "groundtransport" / "locale", "fr")
    add_catalogue(own.folder / "groundtransport" / "locale", "pt_BR")
    for language in ("fr", "pt_BR"):
        own.file(f"groundtransport/static/vendor/texts.{language}.js", "")
    assert "offered" in own.python("from tests.test_third_language import use; use()").splitlines()


# The function below runs in that process. Its import is inside: there, the package is the copy.


def use() -> None:
    from tests.test_small_kind import start

    client = start(os.environ["DATABASE_URL"], "languages").client()
    options = client.get("/admin/profile").html.select("#language option[lang]")
    assert {(option["value"], option["lang"], option.text) for option in options} >= {
        ("es", "es", "Español"),
        ("fr", "fr", "Français"),
        ("pt_BR", "pt-BR", "Português (Brasil)"),
    }
    for header, language in {"fr-CA, fr;q=0.9": "fr", "pt-BR": "pt-BR", "de": "en"}.items():
        page = client.get("/admin/help", Accept_Language=header).html
        assert page.html["lang"] == language
        assert page.h1.text == ("Help" if language == "en" else "Aide")
        sections = page.select(".guide-text section")
        assert len(sections) > 3  # the guide has no French: it is shown in English, and says so to screen readers
        assert {section.get("lang") for section in sections} == ({None} if language == "en" else {"en"})
    assert client.post("/admin/profile/preferences", {"language": "pt_BR"}).status_int == 303
    assert client.get("/admin/profile").html.html["lang"] == "pt-BR"
    print("offered")
