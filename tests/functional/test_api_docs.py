"""docs/api.md: its commands and its script work against a running service."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groundtransport import db, settings
from groundtransport.accounts import users
from groundtransport.accounts.tokens import issuing
from groundtransport.audit.integrity import maintenance
from groundtransport.security import Role
from groundtransport.signing import keyring
from tests.serving import ROOT, Server, running
from tests.site import ENVIRON, app_settings

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "api.md").read_text()


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def shell(commands: list[str], options: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", "\n".join(["set -euo pipefail", *commands])], **options)


def make_token(url: str, name: str = "the-script", role: Role = Role.EDITOR) -> str:
    """Add a service account to a database and return a token of it."""
    engine = db.make_engine(settings.read(app_settings(url), ENVIRON))
    with db.transaction(engine) as dbsession:
        user = users.add_service(dbsession, name, role)
        dbsession.flush()
        token_request = issuing.TokenRequest("docs", role)
        text = issuing.create(dbsession, user, issuing.Maker("me", Role.ADMINISTRATOR), token_request, ["transit"])[1]
    engine.dispose()
    return text


def archive_all(url: str) -> None:
    """Archive every entry of the activity log."""
    chosen = settings.read(app_settings(url), ENVIRON)
    engine = db.make_engine(chosen)
    with db.transaction(engine) as dbsession:
        maintenance.archive(dbsession, keyring(chosen.audit_secrets), db.now(), lambda line: None)
    engine.dispose()


def test_the_commands_and_the_script_of_the_page_work(small_database_url: str, tmp_path: Path) -> None:
    reader, token = make_token(small_database_url, "web-site", Role.VIEWER), make_token(small_database_url)
    server = Server(tmp_path, small_database_url)
    server.start()
    with running(server):
        environ = {**os.environ, "URL": f"http://127.0.0.1:{server.port}", "TOKEN": token}
        script = [sys.executable, "-W", "ignore", "-c", blocks("python")[0]]
        run = {"cwd": tmp_path, "env": environ, "capture_output": True, "text": True, "check": True, "timeout": 60}

        first = subprocess.run(script, **run)
        assert first.stdout == "0 services, up to change 0\n"

        reading, writing = PAGE.split("\n## Write\n")
        process = shell(blocks("sh", reading)[1:], {**run, "env": {**environ, "TOKEN": reader}})
        assert '"user":"web-site"' in process.stdout
        shell(blocks("sh", writing), run)
        assert json.loads((tmp_path / "record.json").read_text())["company_name"] == "Airport Express"

        second = subprocess.run(script, **run)
        assert second.stdout == "2 services, up to change 6\n"
        copy = json.loads((tmp_path / "services.json").read_text())
        assert {record["company_name"] for record in copy["services"].values()} == {"Airport Express", "Line 1"}

        archive_all(small_database_url)
        (tmp_path / "services.json").unlink()
        assert subprocess.run(script, **run).stdout == "2 services, up to change 6\n"
