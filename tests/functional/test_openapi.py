"""The OpenAPI document: that it is valid, complete and true."""

from typing import Any

import pytest
from openapi_spec_validator import validate

from groundtransport.cli.permissions import api_endpoints
from groundtransport.security import Role
from tests.api import Program, make_token
from tests.site import Site

pytestmark = pytest.mark.usefixtures("cheaply")


@pytest.fixture
def document(site: Site) -> dict[str, Any]:
    answer = Program(site).get("/api/v1/openapi.json")
    assert answer.status_int == 200
    return answer.json


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_the_document_holds_every_address_and_method(site: Site, document: dict[str, Any]) -> None:
    described = {(path, method.upper()) for path, item in document["paths"].items() for method in item} - {
        (path, "PARAMETERS") for path in document["paths"]
    }
    endpoints = {
        (one.url.removeprefix("/api/v1").replace("{deleted}", "{id}").replace("{merged}", "{id}"), one.method)
        for one in api_endpoints(site.registry)
    }
    assert described == endpoints - {("/openapi.json", "GET")}
    ids = [
        one["operationId"] for item in document["paths"].values() for name, one in item.items() if name != "parameters"
    ]
    assert len(ids) == len(set(ids))
    assert document["paths"]["/changes"]["get"]["summary"].startswith("Read the changes behind entry after,")


def test_the_schema_of_a_record_is_what_the_api_sends(site: Site, document: dict[str, Any], kind: str) -> None:
    program = Program(site, make_token(site, Role.EDITOR))
    schemas = document["components"]["schemas"]
    for body in schemas[f"{kind}-input"]["examples"]:
        record = program.post(f"/api/v1/{kind}", body).json
        assert set(record) == set(schemas[kind]["required"])
        assert set(record) - set(schemas[f"{kind}-input"]["properties"]) == {
            name for name in schemas[kind]["required"] if schemas[kind]["properties"][name].get("readOnly")
        }
        assert program.get(f"/api/v1/{kind}").json["items"] == [record]
