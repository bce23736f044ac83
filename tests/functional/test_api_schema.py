"""Every operation of the API with requests that its OpenAPI document permits, and with others (schemathesis).

``SCHEMATHESIS_EXAMPLES`` is the number of requests for each operation and mode; more, with other seeds, find more.
"""

import os
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi import checks as openapi_checks

from groundtransport.security import Role
from tests.api import Program, make_token
from tests.functional.test_api import created
from tests.site import Site

pytestmark = [pytest.mark.usefixtures("cheaply"), pytest.mark.slow]
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "8"))
SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize="SCHEMATHESIS_EXAMPLES" not in os.environ,  # the same requests in each run of CI
    phases=(hypothesis.Phase.generate,),
    suppress_health_check=list(hypothesis.HealthCheck),
)
CHECKS = (
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_headers_conformance,
    openapi_checks.response_schema_conformance,
)
# Not its counterpart: what no schema can say, such as a telephone number, is refused, too.
NEGATIVE = (*CHECKS, openapi_checks.negative_data_rejection)


class Requests:
    """Sends the cases of an operation, some of them to a record that exists, with its version."""

    def __init__(self, site: Site) -> None:
        self.program = Program(site, make_token(site, Role.EDITOR, name="schemathesis"))
        self.headers = {"Authorization": f"Bearer {self.program.token}"}

    def send(self, case: Any, mode: GenerationMode, *, is_real: bool) -> None:
        if is_real and "id" in (case.path_parameters or {}):
            record = created(self.program, case.path.split("/")[1])
            case.path_parameters["id"] = record["id"]
            if mode == GenerationMode.POSITIVE:
                case.headers["If-Match"] = '"1"'
        response = case.call(headers=self.headers)
        is_negative = mode == GenerationMode.NEGATIVE and not is_real
        case.validate_response(response, checks=list(NEGATIVE if is_negative else CHECKS))


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_operation_answers_as_its_document_says(
    site: Site, mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.registry["token_leases"], "limit", 0)
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", site.wsgi)
    requests, number = Requests(site), 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @SETTINGS
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode), is_real=st.booleans())
        def check(case: Any, is_real: bool) -> None:  # drawn by hypothesis
            requests.send(case, mode, is_real=is_real)

        check()
        number += 1
    assert number > 20
