"""nginx with our own ``deploy/nginx.conf`` in front of a server, with TLS, on free ports of this machine."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serving import ROOT, Raw

HOW_TO = "nginx is not installed: deploy/nginx.conf was not tried (Debian: apt install nginx-light openssl)"
MAIN = """
{user}
worker_processes 2;
worker_rlimit_nofile 4096;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 2048; }}
http {{
    include {types};
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def program() -> str | None:
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Proxy:
    """nginx for one server; ``get`` and ``ask`` talk TLS to it, as ``localhost``."""

    def __init__(self, folder: Path, server_port: int) -> None:
        self.folder, self.log = folder, folder / "access.log"
        self.plain_port, self.port = free_ports(2)
        certificate = folder / "fullchain.pem"
        words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        files = ["-keyout", str(folder / "privkey.pem"), "-out", str(certificate)]
        subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
        self.tls = ssl.create_default_context(cafile=str(certificate))
        (folder / "site.conf").write_text(self._site(server_port))
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=user, types="/etc/nginx/mime.types"))

    def _site(self, server_port: int) -> str:
        """Return deploy/nginx.conf with our ports, name and folders: nothing else of it is changed."""
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        for there, here in (
            ("127.0.0.1:6543", f"127.0.0.1:{server_port}"),
            ("listen 80", f"listen 127.0.0.1:{self.plain_port}"),
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("admin.example.org", "localhost"),
            ("/etc/ssl/groundtransport", str(self.folder)),
            ("/var/cache/nginx/groundtransport", str(self.folder / "cache")),
            ("/var/log/nginx/groundtransport.log", str(self.log)),
        ):
            assert there in text, there
            text = text.replace(there, here)
        return text

    def logged(self, request_id: str) -> list[str]:
        """Return the lines of the access log, once that of a request stands there: nginx writes it after the answer."""
        end = time.monotonic() + 10
        while request_id not in (text := self.log.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        return text.splitlines()

    def start(self) -> None:
        nginx = program()
        assert nginx
        words = [nginx, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"), "-g", "daemon off;"]
        with (self.folder / "nginx.out").open("wb") as out:
            self.process = subprocess.Popen(words, stdout=out, stderr=out)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.folder / "nginx.out").read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        pytest.fail("nginx did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("localhost", self.port, timeout=15, context=self.tls)

    def ask(self, method: str, address: str, body: str = "", **headers: str) -> Raw:
        connection = self.connect()
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, address, body or None, named)
            answer = connection.getresponse()
            return Raw(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, address: str, **headers: str) -> Raw:
        return self.ask("GET", address, **headers)


@contextmanager
def in_front_of(server_port: int, folder: Path) -> Iterator[Proxy]:
    """Run nginx in front of a port; skip, or in CI fail, where it is not installed."""
    if not (program() and shutil.which("openssl")):
        if os.environ.get("CI"):
            pytest.fail(HOW_TO)
        pytest.skip(HOW_TO)
    proxy = Proxy(folder, server_port)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
