"""A client generated from the OpenAPI document, as a developer who has not seen the service makes one."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from groundtransport.api.openapi import document
from groundtransport.records.kind import Kind
from groundtransport.security import Role
from tests.api import make_token
from tests.site import JFK, Site

NAME = "generated_client"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the generated package, which can be imported."""
    folder = tmp_path_factory.mktemp("client")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.fixture
def package(whole_site: Site, folder: Path) -> str:
    """The name of the generated package. It is generated once: the document is the same for both databases."""
    if not (folder / NAME).exists():
        (folder / "openapi.json").write_text(json.dumps(document(whole_site.registry)))
        (folder / "config.yaml").write_text("post_hooks: []\n")  # its formatting takes a second
        words = ["generate", "--path", "openapi.json", "--output-path", NAME, "--meta", "none", "--fail-on-warning"]
        command = [sys.executable, "-m", "openapi_python_client", *words, "--config", "config.yaml"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        importlib.invalidate_caches()
    return NAME


class Generated:
    """The generated functions and models of one kind."""

    def __init__(self, package: str, site: Site, kind: Kind) -> None:
        self.package, self.kind = package, kind
        token = make_token(site, Role.EDITOR)
        transport = {"transport": httpx.WSGITransport(app=site.wsgi)}
        client_class = self.module("client").AuthenticatedClient
        self.client = client_class(
            "http://localhost/api/v1", token, httpx_args=transport, raise_on_unexpected_status=True
        )

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}")

    def model(self, suffix: str) -> Any:
        return getattr(self.module("models"), f"{self.kind.name.capitalize()}{suffix}")

    def call(self, name: str, *ids: int, **values: object) -> Any:
        """Call the operation of the kind; return the generated response, with status, headers and parsed body."""
        tag = self.kind.plural.lower().replace(" ", "_")
        module = self.module(f"api.{tag}.{name}_{self.kind.name}")
        return module.sync_detailed(*ids, client=self.client, **values)


def test_a_generated_client_lives_through_the_whole_life_of_a_record(site: Site, package: str, kind: str) -> None:
    api = Generated(package, site, site.kinds[kind])

    created = api.call("create", body=api.model("Input")(airport_name=JFK, company_name="Alpha"), idempotency_key="one")
    record = created.parsed
    assert (created.status_code, record.company_name, record.version) == (201, "Alpha", 1)
    assert record.created_at.tzinfo is not None

    read = api.call("read", record.id)
    assert read.parsed == record
    etag = read.headers["ETag"]
    assert api.call("read", record.id, if_none_match=etag).status_code == 304

    changed = api.call("patch", record.id, body=api.model("Patch")(company_name="Beta"), if_match=etag)
    assert (changed.status_code, changed.parsed.company_name, changed.parsed.version) == (200, "Beta", 2)

    conflict = api.call("patch", record.id, body=api.model("Patch")(company_name="Gamma"), if_match=etag)
    assert (conflict.status_code, conflict.parsed.status, conflict.parsed.current_version) == (412, 412, 2)

    replaced = api.call("replace", record.id, body=api.model("Input")(airport_name=JFK), if_match='"2"')
    assert (replaced.parsed.company_name, replaced.parsed.version) == (None, 3)

    listed = api.call("show", limit=10).parsed
    assert (listed.items, listed.total, listed.next_) == ([replaced.parsed], 1, None)

    assert api.call("delete", record.id, if_match=replaced.headers["ETag"]).status_code == 204
    assert api.call("read", record.id).parsed.status == 404
    assert api.call("show").parsed.items == []

    restored = api.call("restore_version", record.id)
    assert (restored.status_code, restored.parsed.airport_code) == (200, "JFK")

    history = api.call("history", record.id).parsed.items
    assert [entry.action.value for entry in history] == ["restore", "delete", "update", "update", "create"]


def test_a_generated_client_gets_the_messages_about_each_field(site: Site, package: str) -> None:
    api = Generated(package, site, site.kinds["transit"])
    refused = api.call("create", body=api.model("Input")(airport_name="Nowhere", company_link="javascript:1"))
    assert refused.status_code == 422
    assert set(refused.parsed.errors.to_dict()) == {"airport_name", "company_link"}
