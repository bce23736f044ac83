"""A serialization failure is tried again before anybody sees it."""

import psycopg.errors
from sqlalchemy.exc import OperationalError

from groundtransport.events import RecordCreated
from tests.site import JFK, Client, Site


def test_a_serialization_failure_is_tried_again_and_makes_one_record(site: Site, client: Client, kind: str) -> None:
    failures = [psycopg.errors.SerializationFailure("could not serialize access"), psycopg.errors.DeadlockDetected()]

    def unlucky(event: RecordCreated) -> None:
        if failures:
            raise OperationalError("COMMIT", {}, failures.pop())

    site.registry.registerHandler(unlucky, (RecordCreated,))
    try:
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Alpha"})
    finally:
        site.registry.unregisterHandler(unlucky, (RecordCreated,))

    assert answer.status_int == 303
    assert [row["company_name"] for row in client.rows(kind)] == ["Alpha"]
    assert [entry["action"] for entry in site.entries()] == ["create"]
    assert "Alpha was created." in client.get(f"/admin/{kind}").html.find(id="messages").get_text()
