"""The image, the compose file and the Kubernetes example, as far as they can be tested without a container engine."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import make_url

from groundtransport.settings import SERVER_SETTINGS, Settings, variable
from tests.site import ENVIRON

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
IMAGE = (DEPLOY / "Containerfile").read_text().split("\nFROM ")[-1]  # the last stage
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OBJECTS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
SECRETS = ("DATABASE_URL", "GROUNDTRANSPORT_SECRET", "GROUNDTRANSPORT_AUDIT_SECRET", "GROUNDTRANSPORT_ADMIN_PASSWORD")
KNOWN = {
    *(variable(setting.name) for setting in fields(Settings) if setting.metadata.get("meaning")),
    *map(variable, SERVER_SETTINGS),
    *(f"{name}{end}" for name in SECRETS for end in ("", "_FILE")),
}


def instruction(name: str) -> str:
    """Return the only instruction of that name in the last stage."""
    (words,) = re.findall(rf"^{name} (.*)$", IMAGE, re.MULTILINE)
    return words


def image_environ() -> dict[str, str]:
    return dict(words.split("=", 1) for words in re.findall(r"^ENV (.*)$", IMAGE, re.MULTILINE))


def find(value: Any, key: str) -> Iterator[Any]:
    """Yield every value under a key, at any depth."""
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        if name == key:
            yield inner
        yield from find(inner, key)


def objects(kind: str) -> list[Any]:
    return [item for item in OBJECTS if item["kind"] == kind]


# Names


def test_every_variable_is_a_setting() -> None:
    names = {*image_environ()} - {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS"}
    for service in COMPOSE["services"].values():
        names |= {name for name in service.get("environment", ()) if not name.startswith("POSTGRES_")}
    names |= set(objects("ConfigMap")[0]["data"])
    names |= {entry["name"] for entries in find(OBJECTS, "env") for entry in entries}
    assert len(names) > 10
    assert names - KNOWN == set()


def test_every_file_that_is_copied_or_mounted_is_there() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    sources = [words.split()[0] for words in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE)]
    mounted = [
        path.split(":")[0] for volumes in find(COMPOSE, "volumes") for path in volumes if str(path).startswith("./")
    ]
    assert [path for path in sources if not (ROOT / path).exists()] == []
    assert [path for path in mounted if "secrets" not in path and not (DEPLOY / path).exists()] == []
    allowed = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert allowed >= {"requirements.lock", "production.ini", "groundtransport", "alembic", "frontend", "setup.py"}
    assert [path for path in allowed if not (ROOT / path).exists()] == []


# The image


def test_the_image_runs_as_nobody_and_has_no_compiler() -> None:
    assert instruction("USER") == "10001:10001"
    text = (DEPLOY / "Containerfile").read_text()
    assert not re.search(r"apt-get|gcc|build-essential", text)
    assert "--require-hashes" in text
    bases = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE))
    assert all(base.endswith("-slim") for base in bases)


@pytest.mark.slow
def test_what_the_image_runs_serves_is_healthy_and_ends(small_database_url: str, tmp_path: Path) -> None:
    """With the image's variables and commands; folders and ports are those of the test."""
    port, monitor = free_port(), free_port()
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GROUNDTRANSPORT_HOSTS": "admin.example.org"}
    environ |= {name: value for name, value in image_environ().items() if name != "PATH"}
    for name, value in {**ENVIRON, "DATABASE_URL": small_database_url}.items():
        (tmp_path / name).write_text(value + "\n")
        environ[f"{name}_FILE"] = str(tmp_path / name)
    for name, old, new in (("LISTEN", "6543", port), ("MONITOR", "9464", monitor)):
        environ[variable(name)] = environ[variable(name)].replace(old, str(new))
    assert run([command("groundtransport"), "-c", str(ROOT / "production.ini"), "init"], environ, tmp_path) == 0

    program, ini = json.loads(instruction("CMD"))
    assert ini == instruction("COPY production.ini")
    process = subprocess.Popen([command(program), str(ROOT / "production.ini")], env=environ, cwd=tmp_path)
    try:
        check = json.loads(re.sub(r"^.* CMD ", "", instruction("HEALTHCHECK")).replace("9464", str(monitor)))
        end = time.monotonic() + 150
        while run([sys.executable, *check[1:]], environ, tmp_path):
            assert time.monotonic() < end
            assert process.poll() is None
        with socket.create_connection(("127.0.0.1", port), 5):  # of anybody, not of this machine alone
            pass
    finally:
        process.send_signal(getattr(signal, instruction("STOPSIGNAL")))
        code = process.wait(20)
    assert code == 0


def command(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def run(words: list[str], environ: dict[str, str], folder: Path) -> int:
    return subprocess.run(words, env=environ, cwd=folder, capture_output=True, timeout=240).returncode


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# The compose file


def test_the_service_is_locked_in() -> None:
    for name in ("init", "web", "web2", "worker"):
        service = COMPOSE["services"][name]
        assert (service["read_only"], service["cap_drop"], service["tmpfs"]) == (True, ["ALL"], ["/tmp"]), name
        assert "ports" not in service
    assert {name for name, service in COMPOSE["services"].items() if "front" in service["networks"]} == {
        "web",
        "web2",
        "nginx",
    }
    used = {secret for secrets in find(COMPOSE["services"], "secrets") for secret in secrets}
    assert used == set(COMPOSE["secrets"])
    for name in find(COMPOSE["services"], "depends_on"):
        assert set(name) <= set(COMPOSE["services"])


def test_nginx_of_the_compose_file_asks_both_processes() -> None:
    shell, option, script = COMPOSE["services"]["nginx"]["command"]
    edit = shlex.split(script.partition(" /groundtransport.conf")[0])
    result = subprocess.run([*edit, DEPLOY / "nginx.conf"], capture_output=True, text=True, check=True).stdout
    assert (shell, option) == ("sh", "-c")
    assert "server web:6543 max_fails=0; server web2:6543 max_fails=0;" in result
    assert "access_log /dev/stdout groundtransport;" in result
    assert "127.0.0.1" not in result


@pytest.mark.slow
@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_roles_get_their_passwords_from_files(empty_database_url: str, tmp_path: Path) -> None:
    script = (DEPLOY / "database-passwords.sql").read_text().replace("/run/secrets", str(tmp_path))
    script = script.replace("ROLE groundtransport", "ROLE gt_passwords")
    for role in ("owner", "service"):
        (tmp_path / f"{role}-password").write_text(f"{role}'s word\n")
    roles = "CREATE ROLE gt_passwords_owner; CREATE ROLE gt_passwords;"
    asked = "SELECT count(*) FROM pg_authid WHERE rolname LIKE 'gt_passwords%' AND rolpassword LIKE 'SCRAM%'"
    url = make_url(empty_database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    words = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", url]
    text = f"BEGIN; {roles}\n{script}\n{asked};\nROLLBACK;"
    assert subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout.strip() == "2"


# Kubernetes


def test_pods_are_locked_in_and_asked_on_the_monitoring_listener() -> None:
    templates = [item["spec"]["template"] for kind in ("Job", "Deployment") for item in objects(kind)]
    assert len(templates) == 3
    for template in templates:
        pod = template["spec"]
        assert (pod["securityContext"]["runAsNonRoot"], pod["automountServiceAccountToken"]) == (True, False)
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            limits = container["securityContext"]
            assert (limits["readOnlyRootFilesystem"], limits["capabilities"]) == (True, {"drop": ["ALL"]})
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted == {volume["name"] for volume in pod["volumes"]}
    (web,) = next(item for item in objects("Deployment") if item["metadata"]["name"] == "groundtransport")["spec"][
        "template"
    ]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in web["ports"]}
    assert ports == {"http": 6543, "monitor": 9464}
    assert [str(port) for port in ports.values()] == instruction("EXPOSE").split()
    assert {name: web[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")} == {
        "livenessProbe": {"path": "/healthz", "port": "monitor"},
        "readinessProbe": {"path": "/readyz", "port": "monitor"},
    }


def test_selectors_find_the_pods() -> None:
    labels = {
        item["metadata"]["name"]: item["spec"]["template"]["metadata"]["labels"] for item in objects("Deployment")
    }
    for item in objects("Deployment"):
        assert item["spec"]["selector"]["matchLabels"] == labels[item["metadata"]["name"]]
    (service,), (budget,), (policy,) = objects("Service"), objects("PodDisruptionBudget"), objects("NetworkPolicy")
    assert service["spec"]["selector"] == labels["groundtransport"]
    assert budget["spec"]["selector"]["matchLabels"] == labels["groundtransport"]
    assert policy["spec"]["podSelector"]["matchLabels"] == labels["groundtransport"]


def test_an_ending_pod_has_the_time_that_it_needs() -> None:
    drain = int(objects("ConfigMap")[0]["data"]["GROUNDTRANSPORT_DRAIN"])
    for grace in find(OBJECTS, "terminationGracePeriodSeconds"):
        assert grace > max(drain, 8) + 5


def test_the_examples_name_this_release() -> None:
    from groundtransport import __version__

    images = set(find(OBJECTS, "image"))
    assert images == {f"groundtransport:{__version__}"}
