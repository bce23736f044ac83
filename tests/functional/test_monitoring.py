"""Metrics, the access log and the monitoring listener."""

import json
import logging
import re
import socket
import urllib.request
from pathlib import Path

import pytest
from pyramid.request import Request
from webtest import TestApp

from groundtransport.logs import JSONFormatter
from groundtransport.server.monitoring_listener import MonitoringApp
from groundtransport.web.request_guard import request_id_of
from tests.serving import ROOT, Server, running
from tests.site import Site


def metric(site: Site, name: str, **labels: str) -> float:
    """Return the value of a sample of /metrics; 0.0 if there is none."""
    text = TestApp(MonitoringApp(site.wsgi)).get("/metrics").text
    for result in re.finditer(rf"^groundtransport_{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE):
        if labels.items() <= dict(re.findall(r'(\w+)="([^"]*)"', result[1] or "")).items():
            return float(result[2])
    return 0.0


def test_a_request_is_counted_under_the_name_of_its_view(site: Site) -> None:
    labels = {"view": "records.list.views.ListViews.html", "method": "GET", "status": "200"}
    client = site.client()
    before = metric(site, "request_seconds_count", **labels)

    client.get("/admin/transit")

    assert metric(site, "request_seconds_count", **labels) == before + 1
    assert metric(site, "statements_total") > 0


def test_clients_cannot_create_time_series(site: Site) -> None:
    client = site.client()
    assert client.get("/admin/transit/no-such-page").status_int == 404

    text = TestApp(MonitoringApp(site.wsgi)).get("/metrics").text
    assert "no-such-page" not in text


def test_only_committed_changes_are_counted(site: Site) -> None:
    before = metric(site, "changes_total", kind="transit", action="create")
    client = site.client()
    client.create("transit", company_name="Alpha")
    assert client.post("/admin/transit", {"airport_name": "nowhere"}).status_int == 422

    assert metric(site, "changes_total", kind="transit", action="create") == before + 1


def test_the_access_log_has_a_line_for_each_request(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    client = site.client()
    caplog.set_level(logging.INFO, "groundtransport.access")
    response = client.get("/admin/transit?q=a-secret-name")

    (record,) = [record for record in caplog.records if record.name == "groundtransport.access"]
    line = json.loads(JSONFormatter().format(record))
    assert line["request"] == response.headers["X-Request-Id"]
    assert (line["method"], line["status"], line["bytes"]) == ("GET", 200, len(response.body))
    assert line["user_id"] is not None
    assert line["statements"] > 0
    assert "a-secret-name" not in str(line)


def test_the_monitoring_listener_answers_probes_and_metrics_only(site: Site) -> None:
    monitoring = TestApp(MonitoringApp(site.wsgi))

    assert monitoring.get("/readyz", headers={"Host": "10.1.2.3:9464"}).text == "ready"
    assert monitoring.get("/healthz").text == "ok"
    for path in ("/admin", "/login", "/", "/metrics/x"):
        monitoring.get(path, status=404)


@pytest.mark.parametrize("file", ["prometheus-alerts.yml", "grafana-dashboard.json"])
def test_alerts_and_dashboard_name_existing_metrics(site: Site, file: str) -> None:
    text = TestApp(MonitoringApp(site.wsgi)).get("/metrics").text
    names = set(re.findall(r"groundtransport_[a-z_]+", (ROOT / "deploy" / file).read_text()))

    assert names
    assert [name for name in names if name not in text] == []


@pytest.mark.slow
def test_the_ini_names_the_address_of_the_monitoring_listener(site: Site, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    server = Server(tmp_path, site.url)
    server.ini.write_text(server.ini.read_text().replace("threads = 8", f"threads = 8\nmonitor = {address}"))
    server.start()
    with running(server):
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
            assert b"groundtransport_queue_seconds_count" in answer.read()
        assert server.ask("GET", "/metrics")[0] == 404


@pytest.mark.parametrize("sent", ["short", "x" * 33, "a b c d e f g", "0123456789<b>"])
def test_only_a_well_formed_request_id_of_a_trusted_proxy_is_taken_over(sent: str) -> None:
    taken, replaced = Request.blank("/"), Request.blank("/")
    taken.headers["X-Request-Id"], replaced.headers["X-Request-Id"] = "0123456789abcdef0123456789abcdef", sent

    assert request_id_of(taken, is_trusted=True) == taken.headers["X-Request-Id"]
    assert request_id_of(taken, is_trusted=False) != taken.headers["X-Request-Id"]
    assert request_id_of(replaced, is_trusted=True) != sent
