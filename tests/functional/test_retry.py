"""A serialization failure is tried again before anybody sees it."""

import psycopg.errors
import pytest
from sqlalchemy.exc import OperationalError

from groundtransport.events import RecordCreated
from tests.site import JFK, Client, Site


@pytest.mark.parametrize("at_the_commit", [False, True])
def test_a_serialization_failure_is_tried_again_and_makes_one_record(
    site: Site, client: Client, kind: str, at_the_commit: bool
) -> None:
    failures: list[Exception] = [psycopg.errors.SerializationFailure("no"), psycopg.errors.DeadlockDetected("no")]

    def fail() -> None:
        if failures:
            raise OperationalError("COMMIT", {}, failures.pop())

    def fail_once(event: RecordCreated) -> None:
        if at_the_commit:
            event.dbsession.info["tm"].get().addBeforeCommitHook(fail)
        else:
            fail()

    site.registry.registerHandler(fail_once, (RecordCreated,))
    try:
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Alpha"})
    finally:
        site.registry.unregisterHandler(fail_once, (RecordCreated,))

    assert answer.status_int == 303
    assert [row["company_name"] for row in client.rows(kind)] == ["Alpha"]
    assert [entry["action"] for entry in site.entries()] == ["create"]
    assert "Alpha was created." in client.get(f"/admin/{kind}").html.find(id="messages").get_text()
