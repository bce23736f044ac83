"""A record's life over HTTP, for every kind on both databases."""

from tests.site import JFK, Client, Site


def test_a_created_record_is_listed_with_its_airport(client: Client, kind: str) -> None:
    answer = client.post(f"/admin/{kind}", {"airport_name": "anything (jfk)", "company_name": "Alpha Coaches"})

    assert answer.status_int == 303
    assert answer.location == f"http://localhost/admin/{kind}"
    (row,) = client.rows(kind)
    assert (row["company_name"], row["airport_name"], row["airport_code"]) == ("Alpha Coaches", JFK, "JFK")


def test_a_failing_subscriber_takes_the_change_with_it(site: Site, client: Client, kind: str) -> None:
    from groundtransport.events import RecordCreated

    def refuse(event: RecordCreated) -> None:
        raise RuntimeError("the log is full")

    site.registry.registerHandler(refuse, (RecordCreated,))
    try:
        answer = client.post(f"/admin/{kind}", {"airport_name": JFK})
    finally:
        site.registry.unregisterHandler(refuse, (RecordCreated,))

    assert answer.status_int == 500
    assert site.count(site.kinds[kind].model) == 0
    assert site.entries() == []
