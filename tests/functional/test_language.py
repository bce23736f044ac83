"""Every text of every page is translated: a catalogue that marks each text leaves none unmarked."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from pyramid.i18n import Localizer, Translations
from pyramid.interfaces import ILocalizer

from groundtransport import i18n
from groundtransport.security import Permission, Role
from groundtransport.webhooks.views import EVENT_TITLES
from tests.functional.test_security_page import add
from tests.site import JFK, Client, Site

pytestmark = pytest.mark.slow

MARKED = "es"
# What is data or a name in every language.
NAMES = r"""OpenTravelData|OurAirports|GeoNames|
    Creative\ Commons\ Attribution\ 4\.0\ \(CC\ BY\ 4\.0\)|airportsdata|MIT|UTC|IATA|
    English|Español|Enter|Esc|Ctrl\+S|groundtransport\ import\ \w+\ FILE\.csv|CSV"""


class Marking(Translations):
    """Puts every text between brackets."""

    def gettext(self, message: Any) -> Any:
        return f"⟦{message}⟧"

    ugettext = gettext

    def ngettext(self, singular: Any, plural: Any, n: int) -> Any:
        return f"⟦{singular if n == 1 else plural}⟧"

    ungettext = ngettext


@pytest.fixture
def marked(site: Site) -> Iterator[Site]:
    """The site with Spanish that marks every text instead."""
    before = site.registry.queryUtility(ILocalizer, name=MARKED)
    translations = Marking()
    translations.domain = i18n.DOMAIN
    site.registry.registerUtility(Localizer(MARKED, translations), ILocalizer, name=MARKED)
    yield site
    site.registry.unregisterUtility(provided=ILocalizer, name=MARKED)
    if before:
        site.registry.registerUtility(before, ILocalizer, name=MARKED)


def escaped(page: str) -> list[str]:
    """Return the texts of a page that are neither marked nor data (which the tests write as D with digits)."""
    soup = BeautifulSoup(page, "html.parser")
    for places in soup.select("#state option, #city option, #city-list option, [data-airport-choices] button"):
        places.decompose()  # names of places are data
    for name in soup.select(".message a, .message strong"):
        name.unwrap()  # it stands in the middle of a text
    soup.smooth()
    texts = [text for text in soup.find_all(string=True) if text.parent.name not in ("script", "style", "kbd", "code")]
    texts = [str(text) for text in texts if type(text).__name__ == "NavigableString"]
    for tag in soup.find_all(True):
        texts += [tag[name] for name in ("aria-label", "title", "alt", "placeholder") if tag.get(name)]
    result = []
    for text in texts:
        rest = text
        while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", rest)) != rest:
            rest = shorter
        rest = re.sub(NAMES, "", rest, flags=re.VERBOSE)
        rest = re.sub(r"\b\d{1,2} [a-z]{3,4}\b( \d{4})?", "", rest)  # a day, which Babel writes
        rest = re.sub(r"\bD\d+\w*|\bthe-\w+|\b[A-Z]{3}\b|John F Kennedy International Airport", "", rest)
        if re.search(r"[A-Za-z]{2}", rest):
            result.append(" ".join(text.split()))
    return result


@pytest.fixture
def client(marked: Site) -> Client:
    client = marked.client(Role.ADMINISTRATOR)
    client.app.extra_environ["HTTP_ACCEPT_LANGUAGE"] = MARKED
    return client


PAGES = (
    "/admin",
    "/admin?q=D1",
    "/admin/{kind}",
    "/admin/{kind}?q=D1&sort=company_name&airport_code=JFK",
    "/admin/{kind}?q=D777",
    "/admin/{kind}?deleted=1",
    "/admin/{kind}/create",
    "/admin/{kind}/{id}",
    "/admin/{kind}/{id}/history",
    "/admin/{kind}/{id}/history?version=1",
    "/admin/{kind}/{id}/delete",
    "/admin/activity",
    "/admin/activity?q=D777",
    "/admin/users",
    "/admin/users/the-editor",
    "/admin/security",
    "/admin/profile",
    "/admin/profile/sessions",
    "/admin/about",
    "/admin/nowhere",
    "/login",
)


def test_every_text_of_a_page_is_translated(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="D1", company_phone1="+1 212 555 0100")
    client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": "D2"})
    client.delete(f"/admin/{kind}/{client.create(kind, company_name='D3')}")
    for page in PAGES:
        answer = client.get(page.format(kind=kind, id=record_id))
        assert escaped(answer.text) == [], page


@pytest.mark.parametrize("details", [{"before": "viewer", "after": "editor"}, {"because": "disabled"}])
def test_details_of_a_security_event_are_translated(client: Client, details: dict[str, str]) -> None:
    add(client.site, "role changed", "D1 (command line)", about="D2", address="command line", details=details)

    answer = client.get("/admin/security")

    assert escaped(answer.text) == []
    assert "(command line)</a>" not in answer.text


@pytest.mark.parametrize("permission", Permission)
def test_a_denial_is_translated(marked: Site, permission: Permission) -> None:
    client = marked.client(Role.VIEWER)
    client.app.extra_environ["HTTP_ACCEPT_LANGUAGE"] = MARKED

    assert escaped(client.get("/login", {"missing": permission}).text) == []


@pytest.mark.parametrize("kind", ["scheduledbus", "transit"])
def test_every_text_of_a_form_and_of_its_errors_is_translated(client: Client, kind: str) -> None:
    record_id = client.create(kind, company_name="D1")
    assert escaped(client.get(client.edit_link(kind, record_id)).text) == []
    fields = {"airport_name": "D5", "company_phone1": "D6", "company_name": "D7" * 300, "state": "D8", "city": "D9"}
    answer = client.post(f"/admin/{kind}", fields)
    assert answer.status_int == 422
    assert escaped(answer.text) == []


def test_messages_and_words_of_the_log_are_translated(client: Client) -> None:
    client.create("transit", company_name="D1", status="inactive")
    assert "⟦" in client.get("/admin/transit").html.find(id="messages").get_text()
    assert escaped(client.get("/admin/activity").text) == []


def test_the_events_of_webhooks_are_all_in_the_singular_in_spanish() -> None:
    from babel.messages.pofile import read_po

    file = Path(i18n.__file__).parent / "locale" / "es" / "LC_MESSAGES" / "groundtransport.po"
    spanish = read_po(io.BytesIO(file.read_bytes()), locale="es")
    assert {str(spanish[title].string).split()[0] for title in EVENT_TITLES.values()} == {"Registro"}


def test_the_catalogues_are_whole() -> None:
    """Every text has its Spanish, with the same values in it: `make texts` finds new ones."""
    from babel.messages.pofile import read_po

    folder = Path(i18n.__file__).parent / "locale"
    for domain in ("groundtransport", "scripts"):
        template = read_po(io.BytesIO((folder / f"{domain}.pot").read_bytes()))
        spanish = read_po(io.BytesIO((folder / "es" / "LC_MESSAGES" / f"{domain}.po").read_bytes()), locale="es")
        expected = {message.id for message in template if message.id}
        assert expected, domain
        for name in expected:
            message = spanish.get(name if isinstance(name, str) else name[0])
            assert message is not None, name
            msgids = (message.string,) if isinstance(message.string, str) else message.string
            assert all(msgids), f"{name} has no Spanish"
            for one in msgids:
                known = name if isinstance(name, str) else " ".join(name)
                holes = r"\$\{\w+\}|%\(\w+\)s|\{\w*\}"
                assert set(re.findall(holes, one)) <= set(re.findall(holes, known)), name


def test_the_templates_of_the_catalogues_are_up_to_date() -> None:
    """What `make texts` would find stands in the .pot files."""
    from babel.messages.extract import extract_from_dir
    from babel.messages.frontend import parse_mapping_cfg
    from babel.messages.pofile import read_po

    package = Path(i18n.__file__).parent
    for domain, mapping, keyword in (("groundtransport", "extract.cfg", "_"), ("scripts", "extract-scripts.cfg", "t")):
        methods, options = parse_mapping_cfg(io.StringIO((package / "locale" / mapping).read_text()))
        keywords = {keyword: None, "ngettext": (1, 2), "pluralize": (1, 2)}
        result = {message for _, _, message, _, _ in extract_from_dir(package, methods, options, keywords=keywords)}
        template = read_po(io.BytesIO((package / "locale" / f"{domain}.pot").read_bytes()))
        stored = {message.id for message in template if message.id}
        stored |= {name[0] for name in stored if isinstance(name, tuple)}  # a text that also stands alone
        assert result <= stored, "run `make texts`"


def test_no_text_of_a_script_escapes() -> None:
    """A literal of two words or more that begins like a sentence goes through ``t``."""
    result = []
    for path in sorted((Path(i18n.__file__).parent / "static").glob("*.js")):
        code = re.sub(r"(?m)^\s*//.*$|\s//\s.*$", "", path.read_text())
        for literal in re.finditer(r"""(t\()?(["'`])([A-Z][a-z]+ [^"'`]*)\2""", code):
            if not literal[1]:
                result.append((path.name, literal[3]))
    assert result == []
