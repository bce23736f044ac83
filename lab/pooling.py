"""PgBouncer, and HAProxy between it and the members, with the files of ``deploy/``: the option ``--pgbouncer``."""

import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from lab import processes
from lab.cluster import Member
from lab.processes import LabError

DEPLOY = Path(__file__).parents[1] / "deploy"
PACKAGES = {"haproxy": "haproxy", "pgbouncer": "pgbouncer"}
STANDBYS = "groundtransport_standbys"  # the database of deploy/pgbouncer.ini that leads to the standbys


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """Return a configuration with other texts in it. Raise LabError for one that is not there."""
    for there, here in changes.items():
        if there not in text:
            raise LabError(f"The configuration does not hold {there!r}.")
        text = text.replace(there, here)
    return text


def haproxy_text(text: str, ports: Sequence[int], members: Sequence[Member]) -> str:
    """Return deploy/haproxy.cfg for ports of the leader and of the standbys, and the members."""
    changes = {
        "log /dev/log local0 notice": "log stdout format raw local0 notice",
        "    user haproxy\n    group haproxy\n": "",
        "127.0.0.1:5000": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:5001": f"127.0.0.1:{ports[1]}",
    }
    for number, member in enumerate(members, 1):
        there = f"server db{number} 192.0.2.{number}:5432 port 8008"
        changes[there] = f"server {member.name} 127.0.0.1:{member.port} port {member.rest_port}"
    return replaced(text, changes)


def pgbouncer_text(text: str, port: int, ports: Sequence[int], folder: Path) -> str:
    """Return deploy/pgbouncer.ini for its own port, those of HAProxy, and a folder for its files."""
    changes = {
        "/var/log/postgresql": str(folder),
        "/run/postgresql": str(folder),
        "/etc/pgbouncer": str(folder),
        "6432": str(port),
        "port=5000": f"port={ports[0]}",
        "port=5001": f"port={ports[1]}",
    }
    return replaced(text, changes)


class Pooling:
    """HAProxy and PgBouncer. ``folder`` belongs to the unprivileged user."""

    def __init__(self, folder: Path, members: Sequence[Member], role: str, password: str) -> None:
        self.folder, self.role, self.password = folder, role, password
        self.port, *ports = processes.free_ports(3)
        self.ports = {"pgbouncer": self.port, "haproxy": ports[0]}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        processes.give_to_system_user(folder)
        self._write("haproxy.cfg", haproxy_text((DEPLOY / "haproxy.cfg").read_text(), ports, members))
        own = (DEPLOY / "pgbouncer.ini").read_text()
        self._write("pgbouncer.ini", pgbouncer_text(own, self.port, ports, folder))
        self._write("userlist.txt", f'"{role}" "{password}"\n')

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(text)
        processes.give_file_to_system_user(file)

    def url(self, database: str) -> str:
        """Return the URL of a database of PgBouncer."""
        return f"postgresql://{self.role}:{self.password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start both, and wait until they take connections."""
        for name in self.ports:
            self.start_program(name)
        for name in self.ports:
            processes.wait_until(partial(takes_connections, self.ports[name]), 15, name)

    def start_program(self, name: str) -> None:
        """Start one of them, without waiting."""
        options = {"haproxy": ["-db", "-f", "haproxy.cfg"], "pgbouncer": ["pgbouncer.ini"]}[name]
        words = [processes.program(name), *options[:-1], str(self.folder / options[-1])]
        self.processes[name] = processes.start(words, self.folder / f"{name}.out", unprivileged=True)

    def kill(self, name: str) -> None:
        """Kill one of them."""
        processes.send([self.processes[name].pid], signal.SIGKILL)
        self.processes[name].wait()

    def end(self) -> None:
        """End both."""
        for process in self.processes.values():
            processes.end(process)


def takes_connections(port: int) -> bool:
    """Return True if a program listens on a port of this machine."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
