"""Link checks: which links are due, and what is stored and shown beside the records."""

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from groundtransport import db
from groundtransport.audit.models import AdminActivity
from groundtransport.cli.context import CommandContext
from groundtransport.cli.links import links as command
from groundtransport.jobs.runner import Runner
from groundtransport.links import checking, results
from groundtransport.links.checking import LinkChecker
from groundtransport.links.models import LinkCheck, LinkHost
from groundtransport.records.links import LinkState
from groundtransport.security import Role
from tests import receiver as servers
from tests.receiver import Receiver, page, redirect, status
from tests.site import JFK, Client, Site

KIND = "transit"
DAY = timedelta(days=1)
MONTH = 30 * DAY


class Web:
    """The receiver under many names, and a checker whose clock the test moves."""

    def __init__(self, site: Site, client: Client, receiver: Receiver) -> None:
        self.site, self.client, self.receiver = site, client, receiver
        self.at = db.now()
        self.checker = LinkChecker(site.registry, lambda: self.at, pause=0)

    def url(self, path: str = "/", host: str = "a.example") -> str:
        return f"http://{host}:{self.receiver.port}{path}"

    def add(self, link: str) -> int:
        return self.client.create(KIND, company_name="Alpha", company_link=link)

    def check(self, after: timedelta = timedelta(0), older_than: timedelta = MONTH) -> dict[str, int]:
        self.at += after
        return dict(self.checker.check_due(older_than))

    def row(self, record_id: int) -> Any:
        with self.site.engine.connect() as connection:
            query = select(LinkCheck.__table__).where(LinkCheck.kind == KIND, LinkCheck.record_id == record_id)
            return connection.execute(query).one_or_none()

    @property
    def got(self) -> list[str]:
        return self.receiver.pages_got

    def listed(self, state: str) -> list[int]:
        answer = self.client.get(f"/admin/{KIND}?ajax=1&link_state={state}&sort=id")
        return [row["id"] for row in answer.json["data"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        server.pages["/robots.txt"] = status(404)
        yield server


@pytest.fixture
def web(site: Site, client: Client, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Web:
    servers.lead_names_to_loopback(monkeypatch)
    return Web(site, client, receiver)


# Results


def test_the_results_of_a_link(web: Web, site: Site) -> None:
    web.receiver.pages["/"] = page("<html lang=en><title>Airport &amp; City Shuttle</title>")
    link = web.url()
    record_id = web.add(link)
    entries, version = site.count(AdminActivity), site.row(KIND, record_id)["version"]
    assert web.check() == {"working": 1}
    row = web.row(record_id)
    assert (row.url, row.status, row.final_url, row.failure) == (link, 200, link, "")
    assert (row.title, row.language, row.checked_at) == ("Airport & City Shuttle", "en", web.at)
    assert web.got == ["HEAD /", "GET /"]
    assert {got.headers["user-agent"] for got in web.receiver.received} == {"groundtransport-links"}
    web.receiver.answer = status(404)
    web.receiver.pages.clear()
    assert web.check(DAY) == {}
    assert web.check(MONTH) == {"failing": 1}
    assert web.check(DAY / 2) == {}
    assert web.check(DAY / 2) == {"dead": 1}
    assert (web.row(record_id).failures, web.row(record_id).failing_since) == (2, web.at - DAY)
    # The record and the activity log stay as they are.
    assert (site.count(AdminActivity), site.row(KIND, record_id)["version"]) == (entries, version)


def test_one_request_for_a_link_of_many_records(web: Web) -> None:
    web.receiver.pages["/"] = page()
    records = [web.add(web.url()) for _ in range(3)]
    assert web.check() == {"working": 1}
    assert [web.row(each).state for each in records] == ["working"] * 3
    late = web.add(web.url())
    assert web.check() == {"working": 1}
    assert web.row(late).checked_at == web.row(records[0]).checked_at
    assert web.got == ["HEAD /", "GET /"]


def test_a_host_that_another_process_is_at_is_left_to_it(web: Web, site: Site) -> None:
    web.add(web.url())
    results.claim(site.engine, "a.example", "another", web.at)
    assert web.check() == {}
    assert web.check(results.LEASE + DAY) == {"working": 1}
    assert site.count(LinkHost) == 0


def test_a_run_that_is_ended_stops_at_the_next_link(web: Web) -> None:
    web.add(web.url())
    web.checker.ending.set()
    assert web.check() == {}
    assert web.receiver.received == []


# Pages


def test_a_changed_link_makes_the_result_void(web: Web, client: Client) -> None:
    web.receiver.pages["/old"] = page()
    record_id = web.add(web.url("/old"))
    without = client.create(KIND)
    web.check()
    assert (web.listed("working"), web.listed("never")) == ([record_id], [])
    client.put(f"/admin/{KIND}/{record_id}", {"airport_name": JFK, "company_link": web.url("/new")})
    assert (web.listed("working"), web.listed("never")) == ([], [record_id])
    assert "Not checked yet" in client.get(f"/admin/{KIND}/{record_id}").text
    assert "link-checks" not in client.get(f"/admin/{KIND}/{without}").text
    web.receiver.pages["/new"] = status(404)
    web.check()
    assert web.row(record_id).url == web.url("/new")
    client.put(f"/admin/{KIND}/{record_id}", {"airport_name": JFK, "company_link": ""})
    web.check()
    assert web.row(record_id) is None


def test_the_list_is_filtered_by_result(web: Web, client: Client) -> None:
    web.receiver.pages |= {"/works": page(), "/dead": status(404)}
    works, dead = web.add(web.url("/works")), web.add(web.url("/dead"))
    never = web.add("http://c.example/")
    web.check()
    web.checker.check_due(timedelta(0), limit=None)
    assert (web.listed("working"), web.listed("failing")) == ([works], [dead, never])
    web.check(DAY)
    assert web.listed("dead") == [dead, never]
    assert web.listed("wrong") == [works, dead, never]
    assert client.get(f"/admin/{KIND}?ajax=1&link_state=dead&q=alpha&status=active").json["recordsFiltered"] == 2
    shown = client.get(f"/admin/{KIND}?link_state=dead")
    assert shown.html.select_one("[data-chip=link_state]").text.split() == ["Remove:", "Link", "check:", "Dead", "×"]
    assert "f-link_state" not in client.get("/admin/scheduledbus").text
    overview = client.get("/admin").html.select_one(f"a[href='/admin/{KIND}?link_state=dead']")
    assert overview.text.split() == ["Dead", "links", "2"]


def test_the_details_propose_the_new_address_and_the_form_saves_it(web: Web, client: Client, site: Site) -> None:
    new = web.url("/new", "b.example")
    web.receiver.pages |= {"/": redirect(new), "/new": page("<title>We <b>moved")}
    record_id = web.add(web.url())
    web.check()
    details = client.get(f"/admin/{KIND}/{record_id}")
    assert "Moved to another site" in details.text
    assert "We" in details.text
    assert new in details.text
    link = details.html.find("a", string="Edit with the new address")["href"]
    answer = client.get(link)
    assert answer.html.select_one("#company_link")["value"] == new
    assert "Its new address is filled in" in answer.text
    assert site.row(KIND, record_id)["company_link"] == web.url()
    form = answer.forms["record"]
    form.submit()
    assert site.row(KIND, record_id)["company_link"] == new
    viewer = site.client(Role.VIEWER).get(f"/admin/{KIND}/{record_id}").text
    assert "check-link" not in viewer
    assert "Not checked yet" in viewer


def test_a_button_checks_the_link_of_one_record(
    web: Web, client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "PAUSE", 0)
    web.receiver.pages["/"] = page()
    record_id = web.add(web.url())
    for _ in range(2):
        answer = client.post(f"/admin/{KIND}/{record_id}/check-link", {"list_state": "q=alpha"})
        assert answer.location.endswith(f"/admin/{KIND}?q=alpha")
    assert "is being checked" in answer.follow().text
    assert web.receiver.received == []
    assert Runner(site.registry).run_pending() == 2
    assert web.row(record_id).state == LinkState.WORKING
    assert web.got == ["HEAD /", "GET /"]  # the second click found a fresh result
    assert "holds no link" in client.post(f"/admin/{KIND}/{client.create(KIND)}/check-link", {}).follow().text


def test_the_command(web: Web, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    module = import_module("groundtransport.cli.links")
    monkeypatch.setattr(module, "LinkChecker", lambda _registry: web.checker)
    monkeypatch.setattr(module.signal, "signal", lambda *_: None)
    context = CommandContext(tmp_path)
    context.registry = site.registry
    for path in "abc":
        web.receiver.pages[f"/{path}"] = page()
        web.add(web.url(f"/{path}"))

    def run(*words: str) -> str:
        return CliRunner().invoke(command, ["check", *words], obj=context).output

    assert run(KIND, "--limit", "2") == "2 links were checked.\n  working: 2\n"
    assert run() == "1 links were checked.\n  working: 1\n"
    assert run() == "0 links were checked.\n"
    assert run("--older-than", "0").startswith("3 links were checked.")
    assert "scheduledbus is no kind with links" in run("scheduledbus")


def test_the_metric(web: Web, site: Site) -> None:
    web.add("http://gone.example/")
    web.check()
    labels = {"kind": KIND, "state": "failing"}
    assert site.registry["metrics"].registry.get_sample_value("groundtransport_link_checks", labels) == 1
