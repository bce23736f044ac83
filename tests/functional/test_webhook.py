"""The example plug-in loses no message and invents none, whatever happens to it, to the receiver or to the change."""

import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from copy import copy
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyramid.events import ApplicationCreated
from sqlalchemy import delete, func, make_url, select

from examples import webhook
from groundtransport import db
from groundtransport.events import Actor, RecordChanged
from groundtransport.records.writer import Writer
from groundtransport.settings import SettingsError
from tests.site import JFK, Client, Site

pytestmark = pytest.mark.slow

SECRET = "w" * 40
ROOT = Path(__file__).parents[2]


class Message(NamedTuple):
    """What a receiver got: the headers in lower case, and the body as it came."""

    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.body)


class Receiver:
    """A real one, on a port of its own. ``answer`` is called for each message and returns the status."""

    def __init__(self) -> None:
        self.received: list[Message] = []
        self.answer: Callable[[Message], int] = lambda message: 204
        self.port = 0
        self.start()

    def start(self) -> None:
        """Listen, again on the port it had."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                message = Message({name.lower(): value for name, value in self.headers.items()}, body)
                receiver.received.append(message)
                self.send_response(receiver.answer(message))
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?from=us"

    def texts(self) -> list[str]:
        """Return what came, in order: which action made which name."""
        return [f"{message.data['action']} {message.data['label']}" for message in self.received]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def webhook_site(whole_site: Site) -> Iterator[Site]:
    """The application on the same database, with the plug-in on."""
    site = copy(whole_site)
    webhook.METADATA.create_all(db.write_engine(whole_site.engine))
    site.app_settings = {**whole_site.app_settings, "pyramid.includes": "examples.webhook"}
    site.start()
    yield site
    site.engine.dispose()
    webhook.METADATA.drop_all(db.write_engine(whole_site.engine))


@pytest.fixture
def site(webhook_site: Site) -> Site:
    webhook_site.clean()
    with db.transaction(webhook_site.engine) as dbsession:
        dbsession.execute(delete(webhook.OUTBOX))
    return webhook_site


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let time pass, as far as the plug-in can tell."""
    passed = timedelta()

    def pass_by(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)

    monkeypatch.setattr(webhook, "now", lambda: db.now() + passed)
    return pass_by


def send(site: Site, receiver: Receiver) -> None:
    webhook.send_due(site.engine, webhook.Target(receiver.url, SECRET.encode()))


def outbox(site: Site) -> list[Any]:
    with site.engine.connect() as connection:
        return list(connection.execute(select(webhook.OUTBOX).order_by(webhook.OUTBOX.c.id)))


def rename(client: Client, kind: str, record_id: int, name: str) -> None:
    answer = client.put(f"/admin/{kind}/{record_id}", {"airport_name": JFK, "company_name": name})
    assert answer.status_int == 303, answer.text


# What is sent


def test_every_change_is_one_signed_message(site: Site, client: Client, kind: str, receiver: Receiver) -> None:
    record_id = client.create(kind, company_name="Zürich “Alpha”")
    rename(client, kind, record_id, "Beta")
    rename(client, kind, record_id, "Beta")  # changes nothing
    client.delete(f"/admin/{kind}/{record_id}")
    client.post(f"/admin/{kind}/{record_id}/restore")
    assert receiver.received == []  # the sender alone talks to the world
    send(site, receiver)
    send(site, receiver)

    result = [(message.data["action"], message.data["version"]) for message in receiver.received]
    assert result == [(entry["action"], entry["version"]) for entry in site.entries()]
    assert [action for action, _ in result] == ["create", "update", "delete", "restore"]
    for message in receiver.received:
        signature = hmac.new(SECRET.encode(), message.body, hashlib.sha256).hexdigest()
        assert message.headers["x-webhook-signature"] == f"sha256={signature}"
        assert message.headers["x-webhook-id"] == message.data["id"]
        assert message.headers["content-type"] == "application/json"
        assert (message.data["kind"], message.data["record_id"]) == (kind, record_id)
        assert set(message.data) == {"id", "at", "action", "kind", "record_id", "label", "version", "changes"}
    created, updated, deleted, _ = (message.data["changes"] for message in receiver.received)
    assert created["company_name"] == {"before": None, "after": "Zürich “Alpha”"}
    assert updated == {"company_name": {"before": "Zürich “Alpha”", "after": "Beta"}}
    assert deleted["airport_code"] == {"before": "JFK", "after": None}
    assert len({message.data["id"] for message in receiver.received}) == 4
    assert all(row.sent_at and row.attempts == 1 for row in outbox(site))


def test_a_purge_is_a_message_too(site: Site, client: Client, kind: str, receiver: Receiver) -> None:
    record_id = client.create(kind, company_name="Alpha")
    client.delete(f"/admin/{kind}/{record_id}")
    with db.transaction(site.engine) as dbsession:
        record = dbsession.get_one(site.kinds[kind].model, record_id)
        Writer(dbsession, site.registry.notify, site.kinds[kind], Actor("me (command line)")).purge(record)
    send(site, receiver)
    assert receiver.texts() == ["create Alpha", "delete Alpha", "purge Alpha"]
    assert receiver.received[-1].data["changes"]["company_name"] == {"before": "Alpha", "after": None}


# What is not


def test_a_refused_write_makes_no_message(site: Site, client: Client, kind: str) -> None:
    assert client.post(f"/admin/{kind}", {"airport_name": "Nowhere (QQQ)"}).status_int == 422
    assert outbox(site) == []


def test_a_change_that_is_undone_makes_no_message(site: Site, client: Client, kind: str, receiver: Receiver) -> None:
    last_ids: list[int | None] = []

    def fail(event: RecordChanged) -> None:
        last_ids.append(event.dbsession.scalar(select(func.count()).select_from(webhook.OUTBOX)))
        raise RuntimeError("a later subscriber fails")

    site.registry.registerHandler(fail, (RecordChanged,))
    try:
        assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 500
    finally:
        site.registry.unregisterHandler(fail, (RecordChanged,))
    send(site, receiver)
    assert last_ids == [1]  # it was there, and went with the change
    assert outbox(site) == receiver.received == []


def test_a_message_that_cannot_be_kept_undoes_the_change(
    site: Site, client: Client, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "changes", lambda before, after: {("no", "key"): 1})
    assert client.post(f"/admin/{kind}", {"airport_name": JFK}).status_int == 500
    assert (site.count(site.kinds[kind].model), site.entries()) == (0, [])


# A receiver in trouble


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_kept_and_sent_again_in_order(
    site: Site, client: Client, kind: str, receiver: Receiver, later: Callable[..., None], status: int
) -> None:
    record_id = client.create(kind, company_name="Alpha")
    rename(client, kind, record_id, "Beta")
    client.create(kind, company_name="Other")
    receiver.answer = lambda message: status if message.data["record_id"] == record_id else 200

    send(site, receiver)
    assert receiver.texts() == ["create Alpha", "create Other"]  # the other record does not wait
    assert [(row.attempts, row.sent_at is None) for row in outbox(site)] == [(1, True), (0, True), (1, False)]
    assert outbox(site)[0].last_error == f"The receiver answered {status}"
    send(site, receiver)  # not due yet
    assert len(receiver.received) == 2
    later(seconds=6)
    send(site, receiver)
    later(seconds=6)
    send(site, receiver)  # twice as long, the second time
    assert receiver.texts()[2:] == ["create Alpha"]

    receiver.answer = lambda message: 200
    later(seconds=6)
    send(site, receiver)
    send(site, receiver)
    assert receiver.texts()[3:] == ["create Alpha", "update Beta"]
    assert len({message.data["id"] for message in receiver.received}) == 3  # a repeat has the id of the first
    assert {message.body for message in receiver.received if message.data["label"] == "Alpha"} == {
        receiver.received[0].body
    }
    assert all(row.sent_at and row.last_error is None for row in outbox(site))


def test_a_receiver_that_is_away_gets_everything_when_it_is_back(
    site: Site, client: Client, kind: str, receiver: Receiver, later: Callable[..., None]
) -> None:
    receiver.stop()
    record_id = client.create(kind, company_name="Alpha")
    for _ in range(3):
        send(site, receiver)
        later(hours=1)
    rename(client, kind, record_id, "Beta")
    assert [(row.attempts, row.sent_at) for row in outbox(site)] == [(3, None), (0, None)]
    assert "ConnectionRefusedError" in outbox(site)[0].last_error
    receiver.start()
    send(site, receiver)
    assert receiver.texts() == ["create Alpha", "update Beta"]


def test_the_pause_grows_to_an_hour_and_no_further(
    site: Site, client: Client, kind: str, receiver: Receiver, later: Callable[..., None]
) -> None:
    receiver.answer = lambda message: 503
    client.create(kind)
    pauses = []
    for _ in range(13):
        send(site, receiver)
        pauses.append(round((outbox(site)[0].next_at - webhook.now()).total_seconds()))
        later(hours=1)
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]


def test_a_receiver_that_does_not_answer_is_given_up_after_a_while(
    site: Site, client: Client, kind: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TIME_OUT", 0.1)
    release = threading.Event()
    receiver.answer = lambda message: 200 if release.wait(10) else 500
    client.create(kind)
    send(site, receiver)
    release.set()
    assert outbox(site)[0].sent_at is None
    assert "TimeoutError" in outbox(site)[0].last_error


def test_nobody_waits_for_a_slow_receiver(site: Site, client: Client, kind: str, receiver: Receiver) -> None:
    """Least of all on SQLite, where one writer stops the others."""
    statuses = []

    def write_meanwhile(message: Message) -> int:
        if message.data["label"] == "Alpha":
            statuses.append(other.post(f"/admin/{kind}", {"airport_name": JFK, "company_name": "Beta"}).status_int)
        return 200

    other = site.client()
    receiver.answer = write_meanwhile
    client.create(kind, company_name="Alpha")
    send(site, receiver)
    send(site, receiver)
    assert statuses == [303]
    assert receiver.texts() == ["create Alpha", "create Beta"]


# A sender in trouble


class Killed(BaseException):
    pass


def test_a_sender_that_is_killed_before_it_marks_sends_the_same_message_again(
    site: Site,
    client: Client,
    kind: str,
    receiver: Receiver,
    later: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(*arguments: Any) -> None:
        raise Killed

    record_id = client.create(kind, company_name="Alpha")
    rename(client, kind, record_id, "Beta")
    with monkeypatch.context() as patch:
        patch.setattr(webhook, "settle", die)
        with pytest.raises(Killed):
            send(site, receiver)
    send(site, receiver)  # another sender, at once: the message still belongs to the first
    assert receiver.texts() == ["create Alpha"]
    later(minutes=1, seconds=1)
    send(site, receiver)
    assert receiver.texts() == ["create Alpha", "create Alpha", "update Beta"]
    assert receiver.received[0].body == receiver.received[1].body
    assert receiver.received[0].headers["x-webhook-id"] == receiver.received[1].headers["x-webhook-id"]


def test_a_sender_that_was_held_up_puts_nothing_back(
    site: Site, client: Client, kind: str, receiver: Receiver, later: Callable[..., None]
) -> None:
    client.create(kind)
    held_up = webhook.claim(site.engine, webhook.now())
    assert held_up is not None
    later(minutes=2)
    send(site, receiver)
    webhook.settle(site.engine, held_up, "too late")
    (row,) = outbox(site)
    assert (row.last_error, row.sent_at is None, row.attempts) == (None, False, 2)


def test_several_senders_share_the_work_and_keep_the_order(
    site: Site, client: Client, kind: str, receiver: Receiver
) -> None:
    records = [client.create(kind, company_name=f"{number}") for number in range(4)]
    for turn in range(3):
        for record_id in records:
            rename(client, kind, record_id, f"{turn}-{record_id}")

    def work() -> None:
        while any(row.sent_at is None for row in outbox(site)):
            send(site, receiver)

    receiver.answer = lambda message: time.sleep(0.01) or 200  # sleep returns None
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.received) == 16
    for record_id in records:
        versions = [message.data["version"] for message in receiver.received if message.data["record_id"] == record_id]
        assert versions == [1, 2, 3, 4]


# Setting up


def run(ini: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the plug-in's own command, as an operator would."""
    command = [sys.executable, "-W", "ignore:pkg_resources", "examples/webhook.py", "-c", str(ini), *words]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, timeout=60, check=False
    )


def test_from_the_table_to_the_first_message_by_the_command(
    webhook_site: Site, kind: str, receiver: Receiver, tmp_path: Path
) -> None:
    ini = tmp_path / "site.ini"
    url = make_url(webhook_site.url).render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:groundtransport\nsqlalchemy.url = {url}\ngroundtransport.hosts = localhost\n"
    )
    webhook.METADATA.drop_all(db.write_engine(webhook_site.engine))
    try:
        with pytest.raises(SettingsError, match=r"webhook_outbox is missing: run .* setup"):
            webhook_site.registry.notify(ApplicationCreated(webhook_site.wsgi))  # as every start does
    finally:
        first, second = run(ini, "setup"), run(ini, "setup")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr

    webhook_site.clean()
    webhook_site.client().create(kind, company_name="Alpha")
    failed = run(ini, "send", "--once")
    assert (failed.returncode, receiver.received) == (1, [])
    assert "GROUNDTRANSPORT_WEBHOOK_URL" in failed.stderr
    environ = {"GROUNDTRANSPORT_WEBHOOK_URL": receiver.url, "GROUNDTRANSPORT_WEBHOOK_SECRET": SECRET}
    succeeded = run(ini, "send", "--once", **environ)
    assert succeeded.returncode == 0, succeeded.stderr
    assert receiver.texts() == ["create Alpha"]
    assert SECRET not in succeeded.stderr


@pytest.mark.parametrize(
    ("url", "secret", "name"),
    [
        ("", SECRET, "URL"),
        ("file:///etc/passwd", SECRET, "URL"),
        ("ftp://example.org/", SECRET, "URL"),
        ("https://", SECRET, "URL"),
        ("https://example.org:x/", SECRET, "URL"),
        ("https://example.org/ü", SECRET, "URL"),
        ("https://example.org/", "", "SECRET"),
        ("https://example.org/", "short", "SECRET"),
    ],
)
def test_a_bad_setting_stops_the_sender_by_name(url: str, secret: str, name: str) -> None:
    environ = {"GROUNDTRANSPORT_WEBHOOK_URL": url, "GROUNDTRANSPORT_WEBHOOK_SECRET": secret}
    with pytest.raises(SettingsError, match=f"GROUNDTRANSPORT_WEBHOOK_{name}"):
        webhook.read_target(environ)
