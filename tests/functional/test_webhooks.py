"""Webhooks: signed messages about changes, at least once and in order, to a receiver that fails in every way."""

import dataclasses
import random
import re
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from sqlalchemy import func, select, update
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from groundtransport import db
from groundtransport.audit.models import AdminActivity
from groundtransport.cli.context import CommandContext
from groundtransport.cli.webhooks import webhooks as command
from groundtransport.outgoing import client as outgoing_client
from groundtransport.security import Role
from groundtransport.security_log.events import Event
from groundtransport.security_log.models import SecurityEvent
from groundtransport.webhooks import queue, subscriptions, views
from groundtransport.webhooks.delivering import Deliverer, DeliveryLoop
from groundtransport.webhooks.models import Delivery, Webhook
from groundtransport.webhooks.outcome import GIVE_UP_AFTER, PAUSES
from groundtransport.webhooks.subscriptions import Subscription
from tests import receiver as servers
from tests.api import Program, make_token
from tests.receiver import Behaviour, Received, Receiver, status
from tests.site import JFK, Client, Site

pytestmark = pytest.mark.usefixtures("cheaply")
KIND = "transit"
PATH = "/admin/webhooks"


class Hook:
    """A webhook to a receiver, and a deliverer whose clock the test moves."""

    def __init__(self, site: Site, receiver: Receiver) -> None:
        self.site, self.receiver = site, receiver
        self.at = db.now()
        self.deliverer = Deliverer(site.registry, lambda: self.at)
        self.id, self.secret = self.add(Subscription(receiver.url()))

    def add(self, subscription: Subscription) -> tuple[int, str]:
        with db.transaction(self.site.engine) as dbsession:
            webhook, secret = subscriptions.create(
                dbsession, self.site.registry["settings"].secrets, subscription, "me"
            )
            webhook.next_at = self.at
            return webhook.id, secret

    def deliver(self, after: timedelta = timedelta(0)) -> int:
        """Let time pass, and deliver; never before what the requests of the test have stored."""
        self.at = max(self.at + after, db.now())
        return self.deliverer.deliver_pending()

    @property
    def row(self) -> Any:
        with self.site.engine.connect() as connection:
            return connection.execute(select(Webhook.__table__).where(Webhook.id == self.id)).one()

    @property
    def deliveries(self) -> list[Any]:
        with self.site.engine.connect() as connection:
            return list(connection.execute(select(Delivery.__table__).order_by(Delivery.id)))

    @property
    def received(self) -> list[str]:
        """What came, in order: the event and the name in the message."""
        return [
            f"{body['type']} {body['data'].get('label', '')}".strip() for body in map(content, self.receiver.received)
        ]

    def post(self, client: Client, name: str = "", **fields: object) -> Any:
        return client.post(f"{PATH}/{self.id}/{name}".rstrip("/"), fields)


def content(message: Received) -> Any:
    return orjson.loads(message.body)


def verify(message: Received, secret: str, at: datetime | None = None) -> Any:
    return Verifier(secret).verify(message.body, message.headers)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


@pytest.fixture
def site(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site whose webhooks may lead to loopback."""
    settings = dataclasses.replace(site.registry["settings"], webhooks_private=True)
    monkeypatch.setitem(site.registry, "settings", settings)
    return site


@pytest.fixture
def hook(site: Site, receiver: Receiver) -> Hook:
    return Hook(site, receiver)


def rename(client: Client, record_id: int, name: str) -> None:
    answer = client.put(f"/admin/{KIND}/{record_id}", {"airport_name": JFK, "company_name": name})
    assert answer.status_int == 303, answer.text


# Messages


def test_each_change_is_a_message_as_in_the_feed_signed_after_the_specification(
    hook: Hook, site: Site, client: Client
) -> None:
    record_id = client.create(KIND, company_name="Zürich")
    rename(client, record_id, "Beta")
    client.delete(f"/admin/{KIND}/{record_id}")
    client.post(f"/admin/{KIND}/{record_id}/restore")
    assert hook.deliver() == 4
    assert hook.deliver() == 0
    assert hook.received == [
        "record.created Zürich",
        "record.updated Beta",
        "record.deleted Beta",
        "record.restored Beta",
    ]
    feed = Program(site, make_token(site, Role.VIEWER)).get("/api/v1/changes").json["items"]
    assert [content(message)["data"] for message in hook.receiver.received] == feed
    for message in hook.receiver.received:
        assert verify(message, hook.secret)["timestamp"] == content(message)["data"]["at"]
        assert message.headers["content-type"] == "application/json"
    assert len({message.headers["webhook-id"] for message in hook.receiver.received}) == 4
    assert all(row.done_at and row.status == 204 and row.milliseconds is not None for row in hook.deliveries)


def test_a_signature_holds_for_one_body_and_one_secret(hook: Hook, client: Client) -> None:
    client.create(KIND)
    hook.deliver()
    (message,) = hook.receiver.received
    _, other = hook.add(Subscription(hook.receiver.url("/other")))
    for wrong in (
        (dataclasses.replace(message, body=message.body + b" "), hook.secret),
        (message, other),
        (dataclasses.replace(message, headers={**message.headers, "webhook-id": "msg_1"}), hook.secret),
    ):
        with pytest.raises(WebhookVerificationError):
            verify(*wrong)


def test_only_the_kinds_and_events_asked_for_are_sent_and_only_new_changes(
    site: Site, receiver: Receiver, client: Client
) -> None:
    client.create(KIND, company_name="before")
    hook = Hook(site, receiver)
    hook.add(Subscription(receiver.url("/some"), ("scheduledbus",), ("deleted",)))
    record_id = client.create("scheduledbus", company_name="bus")
    client.delete(f"/admin/scheduledbus/{record_id}")
    client.create(KIND, company_name="van")
    hook.deliver()
    by_path = [
        (received.line.split()[1], content(received)["type"], content(received)["data"]["label"])
        for received in receiver.received
    ]
    assert [each for each in by_path if each[0] == "/some"] == [("/some", "record.deleted", "bus")]
    assert [each[1:] for each in by_path if each[0] == "/hook"] == [
        ("record.created", "bus"),
        ("record.deleted", "bus"),
        ("record.created", "van"),
    ]


def test_two_secrets_sign_until_the_old_one_ends(hook: Hook, client: Client) -> None:
    answer = hook.post(client, "secret")
    new = re.search(r"whsec_[A-Za-z0-9+/=]+", answer.text)
    assert answer.status_int == 200
    assert new
    client.create(KIND)
    hook.deliver()
    verify(hook.receiver.received[0], hook.secret)
    verify(hook.receiver.received[0], new[0])

    with db.transaction(hook.site.engine) as dbsession:
        dbsession.execute(update(Webhook).values(old_secret_until=db.now() - timedelta(seconds=1)))
    client.create(KIND)
    hook.deliver()
    verify(hook.receiver.received[1], new[0])
    with pytest.raises(WebhookVerificationError):
        verify(hook.receiver.received[1], hook.secret)


def test_the_secret_is_stored_sealed_and_resealed_with_a_new_key(hook: Hook, client: Client) -> None:
    assert hook.secret not in str(hook.row)
    with db.transaction(hook.site.engine) as dbsession:
        keys = (b"n" * 48, *hook.site.registry["settings"].secrets)
        assert subscriptions.reseal(dbsession, keys) == 1
        assert subscriptions.reseal(dbsession, keys) == 0
    client.create(KIND)
    hook.deliver()  # with the old key alone: never unsigned
    assert hook.receiver.received == []
    assert hook.deliveries[0].failure == "no secret"


# A receiver that fails


@pytest.mark.parametrize(
    ("behaviour", "matched"),
    [
        (status(500), (500, "")),
        (status(429), (429, "")),
        (status(302, "Location: http://127.0.0.1:1/"), (302, "")),
        (status(404, body=b"<b>no\0thing</b>"), (404, "")),
        (servers.hang_up, (None, "connection")),
        (servers.talk_nonsense, (None, "connection")),
        (servers.stay_silent, (None, "time")),
    ],
)
def test_a_message_that_is_not_accepted_is_sent_again_as_it_was(
    hook: Hook,
    client: Client,
    behaviour: Behaviour,
    matched: tuple[int | None, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if behaviour is servers.stay_silent:
        monkeypatch.setattr(outgoing_client, "TIMEOUT", 0.1)
    hook.receiver.script = [behaviour]
    client.create(KIND, company_name="Alpha")
    assert hook.deliver() == 1
    (row,) = hook.deliveries
    assert (row.status, row.failure, row.attempts, row.done_at) == (*matched, 1, None)
    assert "\0" not in row.answer
    hook.deliver(PAUSES[0])
    assert hook.received == ["record.created Alpha"] * 2
    first, second = hook.receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert hook.deliveries[0].done_at
    assert Client.get(client, f"{PATH}/{hook.id}").status_int == 200


def test_of_a_huge_answer_a_little_is_kept(hook: Hook, client: Client) -> None:
    hook.receiver.answer = servers.send_much
    client.create(KIND)
    hook.deliver()
    assert hook.deliveries[0].done_at
    assert hook.deliveries[0].answer == "x" * 500


def test_the_pauses_grow_for_three_days_then_the_webhook_is_off_and_the_overview_says_so(
    hook: Hook, client: Client
) -> None:
    hook.receiver.answer = status(500)
    client.create(KIND, company_name="Alpha")
    hook.deliver()
    begin, pauses = hook.at, []
    assert "switched off" not in client.get("/admin").text
    while hook.row.is_on:
        assert hook.deliver(hook.row.next_at - hook.at - timedelta(milliseconds=1)) == 0
        before = hook.deliveries[0].tried_at
        assert hook.deliver(timedelta(milliseconds=1)) == 1
        pauses.append(hook.at - before)
    assert pauses[: len(PAUSES)] == list(PAUSES)
    assert set(pauses[len(PAUSES) :]) == {PAUSES[-1]}
    assert GIVE_UP_AFTER <= hook.at - begin < GIVE_UP_AFTER + PAUSES[-1]
    assert hook.receiver.url() in client.get("/admin").text
    assert hook.receiver.url() not in hook.site.client(Role.EDITOR).get("/admin").text

    hook.receiver.answer = status(204)
    assert hook.deliver(timedelta(days=1)) == 0
    client.create(KIND, company_name="Beta")
    hook.post(client, "on")
    hook.receiver.received.clear()
    assert hook.deliver() == 2
    assert hook.received == ["record.created Alpha", "record.created Beta"]
    assert hook.receiver.url() not in client.get("/admin").text


def test_a_receiver_that_is_gone_gets_nothing_more(hook: Hook, client: Client) -> None:
    hook.receiver.answer = status(410)
    client.create(KIND)
    client.create(KIND)
    assert hook.deliver() == 1
    assert (hook.row.is_on, hook.row.problem) == (False, "gone")
    with hook.site.engine.connect() as connection:
        event = connection.execute(select(SecurityEvent).where(SecurityEvent.event == Event.WEBHOOK_CHANGED)).one()
    about = {"webhook": str(hook.id), "host": "127.0.0.1"}
    assert event.details == {**about, "what": "switched off", "because": "gone"}
    assert "The receiver wants no more messages" in client.get("/admin/security").text


def test_the_receiver_says_when_to_try_again(hook: Hook, client: Client) -> None:
    client.create(KIND)
    hook.receiver.script = [status(429, "retry-after: 1200"), status(500, "Retry-After: 1200")]
    assert hook.deliver() == 1
    assert hook.deliveries[0].next_at == hook.row.next_at == hook.at + timedelta(minutes=20)
    assert hook.deliver(timedelta(minutes=20)) == 1
    assert hook.deliveries[0].next_at == hook.at + PAUSES[1]


def test_while_the_receiver_is_down_it_gets_one_message_at_a_time(hook: Hook, client: Client) -> None:
    hook.receiver.script = [status(503), status(503)]
    for name in ("Alpha", "Beta", "Gamma"):
        client.create(KIND, company_name=name)
    assert [hook.deliver(), hook.deliver(), hook.deliver(PAUSES[0]), hook.deliver(PAUSES[1])] == [1, 0, 1, 3]
    assert hook.received[2:] == ["record.created Alpha", "record.created Beta", "record.created Gamma"]


def test_later_messages_of_a_record_wait_for_the_earlier_one_and_others_do_not(hook: Hook, client: Client) -> None:
    hook.receiver.script = [status(400)]
    record_id = client.create(KIND, company_name="Alpha")
    rename(client, record_id, "Beta")
    client.create(KIND, company_name="Other")
    hook.deliver()
    assert hook.received == ["record.created Alpha", "record.created Other"]
    rename(client, record_id, "Gamma")
    hook.deliver(timedelta(seconds=1))
    assert hook.received[2:] == []
    hook.deliver(PAUSES[0])
    assert hook.received[2:] == ["record.created Alpha", "record.updated Beta", "record.updated Gamma"]


def test_a_message_that_is_never_accepted_can_be_skipped(hook: Hook, client: Client) -> None:
    hook.receiver.script = [status(400)]
    record_id = client.create(KIND, company_name="Alpha")
    rename(client, record_id, "Beta")
    hook.deliver()
    hook.post(client, "skip", delivery=hook.deliveries[0].id)
    hook.deliver()
    assert hook.received == ["record.created Alpha", "record.updated Beta"]
    hook.post(client, "skip", delivery=hook.deliveries[1].id)  # delivered: nothing to skip
    assert [row.failure for row in hook.deliveries] == ["skipped", ""]


def test_the_message_that_fails_is_shown_before_those_that_wait_behind_it(
    hook: Hook, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "SHOWN", 2)
    hook.receiver.script = [status(503, body=b"overloaded")]
    for name in ("Alpha", "Beta", "Gamma"):
        client.create(KIND, company_name=name)
    hook.deliver()
    page = client.get(f"{PATH}/{hook.id}").text
    assert "overloaded" in page
    assert f'value="{hook.deliveries[0].id}"' in page
    assert page.count(">Skip<") == 2


def in_one(*answers: Behaviour) -> Behaviour:
    """Answer several times in one connection; the first answer counts."""

    def answer(peer: Any) -> None:
        for each in answers:
            each(peer)

    return answer


ACCEPTING = (status(204), status(200, body=b"thanks"), status(299), in_one(status(204), status(500)))
LYING = (
    *(
        status(500),
        status(199),
        status(400),
        status(304),
        status(302, "Location: /hook"),
        status(308, "Location: /hook"),
    ),
    *(in_one(status(500), status(204)), in_one(status(302, "Location: /hook"), status(204))),
    *(servers.hang_up, servers.talk_nonsense),
)


@pytest.mark.parametrize("seed", range(3))
def test_at_a_receiver_that_lies_each_message_is_accepted_once_and_in_order(
    hook: Hook, client: Client, seed: int
) -> None:
    chance, accepted = random.Random(seed), list[Received]()

    def answer(peer: Any) -> None:
        if chance.random() < 0.5:
            accepted.append(hook.receiver.received[-1])
            chance.choice(ACCEPTING)(peer)
        else:
            chance.choice(LYING)(peer)

    hook.receiver.answer = answer
    ids = [client.create(KIND, company_name="0") for _ in range(3)]
    for number in range(1, 4):
        for record_id in ids:
            rename(client, record_id, str(number))
    hook.deliver()
    while waiting := [row.next_at for row in hook.deliveries if not row.done_at]:
        hook.deliver(max(hook.row.next_at, *waiting) - hook.at)
        assert hook.row.is_on
    sent = [message.headers["webhook-id"] for message in accepted]
    assert len(sent) == len(set(sent)) == 12
    assert sum(row.attempts for row in hook.deliveries) == len(hook.receiver.received)
    for record_id in ids:
        of_record = [content(message)["data"] for message in accepted]
        labels = [data["label"] for data in of_record if data["record_id"] == record_id]
        assert labels == ["0", "1", "2", "3"]
    bodies = {(message.headers["webhook-id"], message.body) for message in hook.receiver.received}
    assert len({message_id for message_id, _body in bodies}) == 12


# Processes


def test_no_transaction_is_open_while_a_message_is_sent(hook: Hook, client: Client) -> None:
    """Least of all on SQLite, where one writer stops the others."""
    other, statuses = hook.site.client(), []

    def write(peer: Any) -> None:
        statuses.append(other.post(f"/admin/{KIND}", {"airport_name": JFK}).status_int)
        status(204)(peer)

    hook.receiver.script = [write]
    client.create(KIND)
    hook.deliver()
    assert statuses == [303]


class Killed(BaseException):
    pass


def test_a_process_that_is_killed_before_it_stores_the_answer_sends_the_message_again(
    hook: Hook, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.create(KIND, company_name="Alpha")

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(queue, "settle", die)
        with pytest.raises(Killed):
            hook.deliver()
    hook.deliverer = Deliverer(hook.site.registry, lambda: hook.at)
    assert hook.deliver() == 0  # the webhook belongs to the first process still
    assert hook.deliver(queue.LEASE + timedelta(seconds=1)) == 1
    first, second = hook.receiver.received
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])


def test_a_process_that_was_taken_over_stores_nothing(hook: Hook, client: Client) -> None:
    client.create(KIND)
    slow = queue.claim(hook.site.engine, "slow", db.now())
    assert slow
    hook.deliver(queue.LEASE + timedelta(seconds=1))
    assert queue.add_deliveries(hook.site.engine, slow, hook.at) == 0
    assert len(hook.deliveries) == 1


def test_several_processes_share_the_work_and_keep_the_order(hook: Hook, client: Client) -> None:
    ids = {hook.id: "/hook"} | {hook.add(Subscription(hook.receiver.url(f"/{n}")))[0]: f"/{n}" for n in range(3)}
    record_id = client.create(KIND, company_name="0")
    for n in range(1, 4):
        rename(client, record_id, str(n))
    workers = [Deliverer(hook.site.registry) for _ in range(4)]
    threads = [threading.Thread(target=worker.deliver_pending) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path in ids.values():
        labels = [
            content(received)["data"]["label"]
            for received in hook.receiver.received
            if received.line.split()[1] == path
        ]
        assert labels == ["0", "1", "2", "3"], path


def test_only_some_deliveries_wait_and_only_the_last_done_ones_stay(
    hook: Hook, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "WAITING_MAX", 2)
    monkeypatch.setattr(queue, "DONE_KEPT", 3)
    hook.receiver.script = [status(500)]
    for n in range(5):
        client.create(KIND, company_name=str(n))
    hook.deliver()
    assert len(hook.deliveries) == 2
    hook.deliver(PAUSES[0])
    assert [label[-1] for label in hook.received[1:]] == ["0", "1", "2", "3", "4"]
    assert len(hook.deliveries) == 3


def test_a_message_about_an_archived_entry_is_given_up(hook: Hook, client: Client) -> None:
    hook.receiver.script = [status(500)]
    client.create(KIND)
    hook.deliver()
    with db.transaction(hook.site.engine) as dbsession:
        dbsession.execute(update(Delivery).values(number=dbsession.scalar(select(func.max(AdminActivity.id))) + 1))
    hook.deliver(PAUSES[0])
    assert [(row.failure, bool(row.done_at)) for row in hook.deliveries] == [("archived", True)]


def test_the_loop_delivers_until_it_is_ended(hook: Hook, client: Client) -> None:
    arrived = threading.Event()

    def answer(peer: Any) -> None:
        status(204)(peer)
        arrived.set()

    hook.receiver.answer = answer
    client.create(KIND, company_name="Alpha")
    loop = DeliveryLoop(hook.site.registry)
    thread = threading.Thread(target=loop.run)
    thread.start()
    assert arrived.wait(10)
    loop.end()
    thread.join(10)
    assert not thread.is_alive()
    assert hook.received == ["record.created Alpha"]


def test_the_command_delivers_once(hook: Hook, client: Client) -> None:
    client.create(KIND)
    context = CommandContext(Path("no.ini"))
    context.registry = hook.site.registry
    result = CliRunner().invoke(command, ["deliver", "--once"], obj=context)
    assert "1 messages were sent" in result.output


# Pages


FORM = {"url": "https://example.org/changes?key=hidden", "kind": KIND, "event": "created"}


def test_an_administrator_creates_changes_and_removes_a_webhook_and_the_security_log_names_it(
    site: Site, client: Client
) -> None:
    answer = client.post(PATH, FORM)
    assert answer.status_int == 200
    secret = re.search(r"whsec_[A-Za-z0-9+/=]{44}", answer.text)
    assert secret
    assert secret[0] not in client.get(PATH).text
    webhook_id = site.scalar(select(func.max(Webhook.id)))
    path = f"{PATH}/{webhook_id}"
    assert 'value="created" checked' in client.get(path).text
    for name in ("off", "on", "secret"):
        assert client.post(f"{path}/{name}").status_int in (200, 303)
    assert client.post(path, {"url": "https://other.example.org/"}).status_int == 303
    assert "https://other.example.org/" in client.get(PATH).text
    assert client.post(f"{path}/remove").location == f"http://localhost{PATH}"
    assert client.get(path).status_int == 404
    events = [(event["event"], event["details"].get("what"), event["details"]["host"]) for event in site.events()]
    assert [event for event in events if event[0].startswith("webhook")] == [
        ("webhook created", None, "example.org"),
        ("webhook changed", "switched off", "example.org"),
        ("webhook changed", "switched on", "example.org"),
        ("webhook secret replaced", None, "example.org"),
        ("webhook changed", "changed", "other.example.org"),
        ("webhook changed", "removed", "other.example.org"),
    ]
    assert "hidden" not in str(site.events())
    assert secret[0] not in str(site.events())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ""),
        ("url", "ftp://example.org/"),
        ("url", "https://user:password@example.org/"),
        ("kind", "plane"),
        ("event", "lost"),
    ],
)
def test_a_wrong_field_is_refused_and_what_was_typed_stays(site: Site, client: Client, field: str, value: str) -> None:
    answer = client.post(PATH, {**FORM, field: value})
    assert answer.status_int == 422
    assert field == "url" or FORM["url"] in answer.text
    assert site.scalar(select(func.count()).select_from(Webhook)) == 0
    problem = client.post(PATH, {**FORM, field: value}, Accept="application/json")
    assert list(problem.json["errors"]) == [field if field == "url" else f"{field}s"]


def test_a_private_address_is_refused_unless_the_ini_permits_it(
    site: Site, client: Client, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = dataclasses.replace(site.registry["settings"], webhooks_private=False)
    monkeypatch.setitem(site.registry, "settings", strict)
    for url in ("https://127.0.0.1/", "https://[::1]/", "http://example.org/", "https://169.254.169.254/latest"):
        assert client.post(PATH, {"url": url}).status_int == 422, url
    assert client.post(PATH, {"url": "https://localhost/"}).status_int == 200  # names are resolved at each delivery
    client.create(KIND)
    Deliverer(site.registry).deliver_pending()
    assert sorted(row.failure for row in hook.deliveries) == ["address", "url"]
    assert hook.receiver.received == []


def test_there_are_only_so_many_webhooks(site: Site, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "WEBHOOKS_MAX", 1)
    assert client.post(PATH, FORM).status_int == 200
    assert client.post(PATH, FORM).status_int == 422


def test_a_test_message_is_sent_and_any_message_again(hook: Hook, client: Client) -> None:
    hook.post(client, "test")
    client.create(KIND, company_name="Alpha")
    hook.receiver.answer = status(200, body=b"<thanks>")
    hook.deliver()
    assert sorted(hook.received) == ["record.created Alpha", "webhook.test"]
    for message in hook.receiver.received:
        verify(message, hook.secret)
    page = client.get(f"{PATH}/{hook.id}").text
    assert "&lt;thanks&gt;" in page
    hook.receiver.received.clear()
    record = next(row for row in hook.deliveries if row.number)
    hook.post(client, "resend", delivery=record.id)
    hook.deliver()
    assert hook.received == ["record.created Alpha"]
    assert hook.receiver.received[0].headers["webhook-id"] == record.message_id


@pytest.mark.parametrize("delivery", ["", "0", "999999", "x", "9" * 30])
def test_a_message_that_is_not_there_is_not_sent(hook: Hook, client: Client, delivery: str) -> None:
    for name in ("resend", "skip"):
        assert hook.post(client, name, delivery=delivery).status_int == 303
    assert hook.deliver() == 0


def test_nobody_but_administrators_sees_webhooks_nor_which_exist(hook: Hook) -> None:
    editor = hook.site.client(Role.EDITOR)
    for path in (PATH, f"{PATH}/{hook.id}", f"{PATH}/999999"):
        assert editor.get(path).location.startswith("http://localhost/login?"), path
    assert hook.site.client().get(f"{PATH}/999999").status_int == 404
    assert hook.site.client().get(f"{PATH}/x").status_int == 404
