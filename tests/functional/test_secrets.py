"""No secret is written to a log, a response or an error message."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from groundtransport.db import make_engine
from groundtransport.settings import read
from tests.serving import Server, running
from tests.shell import run
from tests.site import ENVIRON, JFK, PASSWORD, Site, app_settings

FORM = "application/x-www-form-urlencoded"
NOWHERE = "postgresql://groundtransport:hush-hush-hush@127.0.0.1:1/records"


def token_in(page: str) -> str:
    return BeautifulSoup(page, "html.parser").find("input", {"name": "csrf_token"})["value"]


def test_a_process_log_holds_no_secret_of_its_service_and_of_its_people(site: Site, tmp_path: Path) -> None:
    server = Server(tmp_path, site.url, "development.ini")  # the one that logs most
    server.start()
    with running(server):
        messages = []

        def send(method: str, address: str, form: dict[str, str], cookie: str) -> str:
            messages.append(
                server.ask(
                    method, address, urlencode(form), Cookie=f"groundtransport={cookie}", **{"Content-Type": FORM}
                )[1]
            )
            return messages[-1]

        visitor = "v" * 43
        token = token_in(send("GET", "/login", {}, visitor))
        for password in ("a wrong password, but long", PASSWORD):
            form = {"username": "the-editor", "password": password, "csrf_token": token}
            send("POST", "/login", form, visitor)
        cookie = "c" * 43
        send(
            "POST",
            "/login",
            {"username": "x\r\n2026 ERROR forged line", "password": "\0", "csrf_token": token},
            visitor,
        )
        send("GET", "/admin/transit/1/edit?key=" + "d" * 32, {}, cookie)
        send("POST", "/admin/transit", {"airport_name": JFK, "csrf_token": "e" * 64}, cookie)
    log = server.log.read_text()

    secrets = [*ENVIRON.values(), PASSWORD, "a wrong password", visitor, cookie, token, "d" * 32, "e" * 64]
    assert [secret for secret in secrets if secret in log] == []
    assert not re.search(r"^2026 ERROR forged line", log, re.MULTILINE)
    assert [secret for secret in [*ENVIRON.values(), PASSWORD] if any(secret in page for page in messages)] == []


def test_the_database_password_is_in_no_log_no_answer_and_no_message(tmp_path: Path) -> None:
    server = Server(tmp_path, NOWHERE)
    server.start(address="/healthz")
    with running(server):
        status, page = server.ask("GET", "/readyz")
    by_command = run("-c", str(server.ini), "init", env={**ENVIRON, "DATABASE_URL": NOWHERE})

    assert status == 503
    assert by_command.exit_code != 0
    for written in (page, server.log.read_text(), by_command.output):
        assert "hush-hush" not in written


def test_an_error_of_the_database_shows_nobodys_data(database_url: str) -> None:
    engine = make_engine(read(app_settings(database_url), ENVIRON))
    with engine.connect() as connection, pytest.raises(DBAPIError) as error:
        connection.execute(text("SELECT * FROM nowhere WHERE name = :name"), {"name": "a-secret-value"})
    engine.dispose()

    assert "nowhere" in str(error.value)
    assert "a-secret-value" not in str(error.value)


def test_the_repository_holds_no_secret() -> None:
    root = Path(__file__).parents[2]
    for name in (
        "development.ini",
        "production.ini",
        "deploy/nginx.conf",
        "deploy/groundtransport.service",
        "Makefile",
    ):
        result = re.findall(r"^\s*[\w.]*(?:secret|password)\w*\s*=\s*(\S+)", (root / name).read_text(), re.MULTILINE)
        assert [value for value in result if not value.startswith("%(here)s/var/")] == [], name
