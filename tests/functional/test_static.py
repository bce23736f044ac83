"""Static files: compressed for who accepts it, kept for good, and light enough all together."""

import gzip
import re
from pathlib import Path

import pytest
from webob import Request, Response

from tests.site import Client, Site

STATIC = Path(__file__).parents[2] / "groundtransport" / "static"
HTML_MAX, ASSETS_MAX = 66_000, 120_000  # bytes


def fetch(site: Site, address: str, **headers: str) -> Response:
    """Ask past WebTest, which would unpack the answer."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request.blank(address, headers=sent).get_response(site.wsgi)


@pytest.mark.parametrize("name", ["base.css", "app.js", "icon.svg", "vendor/dataTables.min.js"])
def test_a_static_text_is_sent_compressed(site: Site, name: str) -> None:
    answer = fetch(site, f"/static/{name}", Accept_Encoding="gzip, br")

    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    assert gzip.decompress(answer.body) == (STATIC / name).read_bytes()


@pytest.mark.parametrize("accepted", [None, "identity", "gzip;q=0", "br"])
def test_who_does_not_accept_gzip_gets_the_file_itself(site: Site, accepted: str | None) -> None:
    headers = {} if accepted is None else {"Accept_Encoding": accepted}
    answer = fetch(site, "/static/base.css", **headers)

    assert "Content-Encoding" not in answer.headers
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.body == (STATIC / "base.css").read_bytes()


def test_a_known_file_is_not_sent_again(site: Site) -> None:
    first = fetch(site, "/static/base.css", Accept_Encoding="gzip")

    again = fetch(site, "/static/base.css", Accept_Encoding="gzip", If_Modified_Since=first.headers["Last-Modified"])

    assert again.status_int == 304
    assert again.body == b""


def test_a_page_is_not_compressed_beside_its_token(client: Client) -> None:
    answer = fetch(
        client.site, "/admin", Accept_Encoding="gzip", Cookie=f"groundtransport={client.app.cookies['groundtransport']}"
    )

    assert answer.status_int == 200
    assert "Content-Encoding" not in answer.headers
    assert "csrf_token" in answer.text


@pytest.mark.parametrize("missing", ["nothing.css", "../web/static.py", "%2e%2e/web/static.py", "vendor"])
def test_what_is_not_there_is_not_found(site: Site, missing: str) -> None:
    answer = fetch(site, f"/static/{missing}", Accept_Encoding="gzip")

    assert answer.status_int in (301, 302, 404)
    assert "immutable" not in answer.headers.get("Cache-Control", "")


@pytest.mark.parametrize("page", ["/admin", "/admin/{kind}", "/admin/{kind}/create"])
def test_a_page_is_light(client: Client, kind: str, page: str) -> None:
    """The bounds of the list: 60 kB of HTML, and 120 kB of script and style, compressed, in all."""
    full = {"company_name": "A coach company of some length, Ltd", "company_address": "1234 Some Boulevard, Suite 5"}
    for number in range(30):
        client.create(kind, **full, company_phone1=f"+1 212-555-{number:04}", city="New York")

    html = client.get(page.format(kind=kind)).text
    assets = re.findall(r'(?:src|href)="(/static/[^"]+\.(?:js|css)[^"]*)"', html)
    sizes = {name: len(fetch(client.site, name, Accept_Encoding="gzip").body) for name in assets}

    assert len(html.encode()) <= HTML_MAX
    assert len(sizes) >= 4
    assert sum(sizes.values()) <= ASSETS_MAX, sizes
