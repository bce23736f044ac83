"""PostgreSQL with a leader and standbys, which Patroni and etcd look after."""

import json
import os
import re
import secrets
import signal
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg

from lab import processes
from lab.processes import LabError
from tests.postgres import find_programs

SUPERUSER = "postgres"
# Seconds. The leader's key in etcd expires TTL after its last renewal, which is what a failover waits for. Patroni
# demands LOOP_WAIT + 2 * RETRY_TIMEOUT <= TTL. Releases after Debian 12's 3.0 raise TTL to 20 at least.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 10, 2, 4
START_TIMEOUT = 5  # seconds that a crashed leader may take to start before another takes over
WAL_SIZE = "512m"  # of the small file systems
STREAMING = "SELECT count(*), bool_or(sync_state <> 'async') FROM pg_stat_replication WHERE state = 'streaming'"
DCS = {
    "ttl": TTL,
    "loop_wait": LOOP_WAIT,
    "retry_timeout": RETRY_TIMEOUT,
    "master_start_timeout": START_TIMEOUT,  # the name of 3.0; newer releases call it primary_start_timeout
    "primary_start_timeout": START_TIMEOUT,
    "maximum_lag_on_failover": 1024 * 1024,
    "synchronous_mode": True,  # a COMMIT is acknowledged when a standby has it, too: a failover loses none
}
PARAMETERS = {
    "max_connections": 250,
    "shared_buffers": "64MB",
    "wal_keep_size": "128MB",
    "min_wal_size": "32MB",
    "max_wal_size": "128MB",
    "wal_sender_timeout": "5s",  # so that a silent standby is noticed before its key in etcd expires
    "wal_receiver_timeout": "5s",
}


class Member:
    """One PostgreSQL server and its Patroni. ``folder`` belongs to the unprivileged user."""

    wal: Path | None = None  # the small file system of pg_wal, if it has one

    def __init__(self, folder: Path, name: str, port: int, rest_port: int) -> None:
        self.folder, self.name, self.port, self.rest_port = folder, name, port, rest_port
        self.file, self.log, self.data = folder / "patroni.yml", folder / "patroni.log", folder / "data"
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, etcd_port: int, password: str) -> None:
        """Write the configuration of Patroni; JSON is YAML."""
        programs = find_programs()
        assert programs, "psql is installed, so the server is"
        user = {"username": SUPERUSER, "password": password}
        hba = ["local all all scram-sha-256", "host all all 127.0.0.1/32 scram-sha-256"]
        postgresql: dict[str, object] = {
            "listen": f"127.0.0.1:{self.port}",
            "connect_address": f"127.0.0.1:{self.port}",
            "data_dir": str(self.data),
            "bin_dir": str(programs),
            "pgpass": str(self.folder / "pgpass"),
            "authentication": {"superuser": user, "replication": user, "rewind": user},
            "pg_hba": [*hba, "host replication all 127.0.0.1/32 scram-sha-256"],
            "parameters": {"unix_socket_directories": str(self.folder)},
        }
        initdb: list[object] = [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"]
        if self.wal:
            waldir = {"waldir": str(self.wal / "pg_wal")}
            initdb.append(waldir)
            postgresql["basebackup"] = [waldir]
        shared = {"use_pg_rewind": True, "parameters": PARAMETERS}
        rest = f"127.0.0.1:{self.rest_port}"
        text = {
            "scope": "lab",
            "name": self.name,
            "restapi": {"listen": rest, "connect_address": rest},
            "etcd": {"hosts": [f"127.0.0.1:{etcd_port}"]},  # see docs/operations.md for etcd3
            "bootstrap": {"dcs": {**DCS, "postgresql": shared}, "initdb": initdb},
            "postgresql": postgresql,
        }
        self.file.write_text(json.dumps(text, indent=2))
        processes.give_file_to_system_user(self.file)

    def mount(self) -> None:
        """Mount a small file system in memory for ``pg_wal``; do nothing if that is not permitted, as without root."""
        folder = self.folder / "wal"
        folder.mkdir()
        options = f"size={WAL_SIZE},mode=0700,uid={self.folder.stat().st_uid}"
        with suppress(LabError):
            processes.run([processes.program("mount"), "-t", "tmpfs", "-o", options, "lab", str(folder)])
            self.wal = folder

    def unmount(self) -> None:
        """Undo ``mount``; at once, although a process that was just killed may still use it."""
        folder = self.folder / "wal"
        if os.path.ismount(folder):  # also if an interrupt came before ``wal`` was set
            processes.run([processes.program("umount"), "--lazy", str(folder)])
        self.wal = None

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL."""
        words = [processes.program("patroni"), str(self.file)]
        self.process = processes.start(words, self.log, unprivileged=True)

    def postgres_pids(self) -> list[int]:
        """Return the process ids of PostgreSQL, its first process first; none if it does not run."""
        with suppress(OSError, ValueError, IndexError):
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
            if str(self.data).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return processes.with_children([pid])
        return []

    def pids(self) -> list[int]:
        """Return the process ids of Patroni and PostgreSQL."""
        patroni = processes.with_children([self.process.pid]) if self.process else []
        return list(dict.fromkeys([*patroni, *self.postgres_pids()]))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to Patroni and all processes of PostgreSQL."""
        processes.send(self.pids(), number)

    def kill(self) -> None:
        """Kill Patroni and all processes of PostgreSQL."""
        pids = self.pids()
        processes.send(pids, signal.SIGKILL)
        if self.process:
            self.process.wait()
            self.process = None

    def states(self) -> list[dict[str, Any]]:
        """Return what this Patroni knows of all members; an empty list if it does not answer."""
        status, content = processes.get(self.rest_port, "/cluster", 1)
        members: list[dict[str, Any]] = json.loads(content)["members"] if status == 200 else []
        return members


class Cluster:
    """etcd and the members."""

    def __init__(self, folder: Path, count: int, *, small_disks: bool) -> None:
        self.folder, self.password, self.small_disks = folder, secrets.token_urlsafe(24), small_disks
        self.etcd_port, peer_port, *ports = processes.free_ports(2 + 2 * count)
        self.peer_port = peer_port
        names = [f"pg{number}" for number in range(1, count + 1)]
        self.members = [
            Member(folder / name, name, port, rest)
            for name, port, rest in zip(names, ports[:count], ports[count:], strict=True)
        ]
        self.etcd: subprocess.Popen[bytes] | None = None

    def url(self, user: str, database: str, attrs: str = "read-write") -> str:
        """Return the database URL with all members; libpq takes the first that fits ``target_session_attrs``."""
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self.members)
        return f"postgresql://{user}:{self.password}@{hosts}/{database}?target_session_attrs={attrs}"

    def url_of(self, member: Member, user: str) -> str:
        """Return the URL of one member's database of administration."""
        return f"postgresql://{user}:{self.password}@127.0.0.1:{member.port}/postgres"

    def start(self) -> None:
        """Start etcd and all members, and wait until all of them take part."""
        data, client, peer = self.folder / "etcd", *(f"http://127.0.0.1:{p}" for p in (self.etcd_port, self.peer_port))
        words = [processes.program("etcd"), "--name", "lab", "--data-dir", str(processes.give_to_system_user(data))]
        words += ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
        words += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"lab={peer}", "--enable-v2"]
        self.etcd = processes.start(words, self.folder / "etcd.log", unprivileged=True)
        for member in self.members:
            processes.give_to_system_user(member.folder)
            if self.small_disks:
                member.mount()
            member.configure(self.etcd_port, self.password)
        self.members[0].start()
        processes.wait_until(lambda: self.leader() is not None, 60, "the first leader")
        for member in self.members[1:]:
            member.start()
        self.wait_until_whole()

    def end(self) -> None:
        """End all members and etcd."""
        with ExitStack() as stack:
            if self.etcd:
                stack.callback(processes.end, self.etcd)
            for member in self.members:
                stack.callback(member.unmount)
                stack.callback(member.kill)

    def states(self) -> list[dict[str, Any]]:
        """Return what the first Patroni that answers knows of all members."""
        return next(filter(None, (member.states() for member in self.members if member.process)), [])

    def with_role(self, roles: Sequence[str]) -> Member | None:
        """Return the first running member with one of these roles of Patroni; None if there is none."""
        names = [state["name"] for state in self.states() if state["role"] in roles and is_running(state)]
        return next((member for member in self.members if member.name in names), None)

    def leader(self) -> Member | None:
        """Return the leader; None if there is none."""
        return self.with_role(["leader", "master", "primary"])

    def synchronous_standby(self) -> Member:
        """Return the standby that a COMMIT waits for. Raise LabError if there is none."""
        member = self.with_role(["sync_standby"])
        if member is None:
            raise LabError("No standby is synchronous.")
        return member

    def is_whole(self) -> bool:
        """Return True if all members run, and the leader sends its log to all others, to one of them synchronously.

        Patroni alone does not tell: it notices only after some seconds that PostgreSQL was killed.
        """
        states = self.states()
        running = [state for state in states if is_running(state)]
        if len(running) < len(self.members) or "sync_standby" not in {state["role"] for state in states}:
            return False
        with suppress(psycopg.Error), psycopg.connect(self.url(SUPERUSER, "postgres"), connect_timeout=2) as connection:
            row = connection.execute(STREAMING).fetchone()
            return row is not None and row[0] == len(self.members) - 1 and row[1]
        return False

    def wait_until_whole(self, seconds: float = 90) -> None:
        """Wait until all members take part again. Raise LabError if they do not within some seconds."""
        processes.wait_until(self.is_whole, seconds, "all members of the cluster")

    def wait_for_other_leader(self, before: Member, seconds: float = 60) -> None:
        """Wait until a member other than ``before`` leads."""
        processes.wait_until(lambda: self.leader() not in (None, before), seconds, "another leader")

    def switch_over(self) -> None:
        """Make the synchronous standby the leader, by ``patronictl``."""
        leader, candidate = self.leader(), self.synchronous_standby()
        if leader is None:
            raise LabError("The cluster has no leader.")
        words = [
            "-c",
            str(leader.file),
            "switchover",
            "--master",
            leader.name,
            "--candidate",
            candidate.name,
            "--force",
        ]
        output = processes.run([processes.program("patronictl"), *words])
        if not re.search(r"Successfully switched over", output):
            raise LabError(f"patronictl did not switch over: {output.strip()}")


def is_running(state: dict[str, Any]) -> bool:
    """Return True if a member serves: newer releases of Patroni say "streaming" of a standby."""
    return state.get("state") in ("running", "streaming")
