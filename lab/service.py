"""The service as docs/deploy.md sets it up: roles of the database, worker processes, and nginx in front."""

import secrets
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import psycopg

from lab import processes
from lab.clients import KIND
from lab.cluster import SUPERUSER, Cluster
from lab.pooling import STANDBYS, Pooling
from lab.results import Stored
from tests.proxy import Proxy

ROOT = Path(__file__).parents[1]
DATABASE, OWNER, ROLE = "groundtransport", "groundtransport_owner", "groundtransport"
CHECKS = (("check",), ("audit", "verify"), ("audit", "reconcile"))


class Worker:
    """One process of the service."""

    def __init__(self, folder: Path, name: str, port: int, monitor: int) -> None:
        self.port, self.monitor, self.log, self.name = port, monitor, folder / f"{name}.log", name
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, ini: Path, environ: dict[str, str]) -> None:
        """Start it, without waiting."""
        own = {
            "GROUNDTRANSPORT_LISTEN": f"127.0.0.1:{self.port}",
            "GROUNDTRANSPORT_MONITOR": f"127.0.0.1:{self.monitor}",
            "GROUNDTRANSPORT_WORKER": self.name,
        }
        words = [sys.executable, "-W", "ignore", "-m", "pyramid.scripts.pserve", str(ini)]
        self.process = processes.start(words, self.log, {**environ, **own})

    def is_ready(self) -> bool:
        """Return True if ``/readyz`` answers 200."""
        return processes.get(self.monitor, "/readyz", 5)[0] == 200

    def wait_until_ready(self) -> None:
        """Wait until it is ready."""
        processes.wait_until(self.is_ready, 60, f"worker {self.name}")


class Front(Proxy):
    """nginx with deploy/nginx.conf and a line for each worker."""

    def __init__(self, folder: Path, workers: list[Worker]) -> None:
        self.others = [worker.port for worker in workers[1:]]
        super().__init__(folder, workers[0].port)

    def _site(self, server_port: int) -> str:
        line = "server 127.0.0.1:{} max_fails=0;"
        first = line.format(server_port)
        text = super()._site(server_port)
        assert first in text
        return text.replace(first, "\n    ".join([first, *map(line.format, self.others)]))


class Service:
    """Everything of ours: the schema, the workers and nginx. The workers connect to ``pooling``, if given."""

    def __init__(
        self, folder: Path, cluster: Cluster, workers: int, *, replicas: bool, pooling: Pooling | None = None
    ) -> None:
        self.folder, self.cluster = folder, cluster
        folder.mkdir()
        self.ini = folder / "production.ini"
        shutil.copy(ROOT / "production.ini", self.ini)
        ports = processes.free_ports(2 * workers)
        self.workers = [
            Worker(folder, f"worker-{number}", *ports[2 * number - 2 : 2 * number]) for number in range(1, workers + 1)
        ]
        self.front: Front | None = None
        self.environ = {
            "GROUNDTRANSPORT_SECRET": secrets.token_urlsafe(48),
            "GROUNDTRANSPORT_AUDIT_SECRET": secrets.token_urlsafe(48),
            "GROUNDTRANSPORT_API_RATE_LIMIT": "0",
            "GROUNDTRANSPORT_JOBS": "worker",
            "GROUNDTRANSPORT_PGBOUNCER": "true" if pooling else "false",
            "DATABASE_URL": pooling.url(DATABASE) if pooling else cluster.url(ROLE, DATABASE),
        }
        if replicas:
            url = pooling.url(STANDBYS) if pooling else cluster.url(ROLE, DATABASE, "prefer-standby")
            self.environ["GROUNDTRANSPORT_REPLICA_URL"] = url

    def start(self) -> None:
        """Create the database as docs/deploy.md says, and start the workers and nginx."""
        self.create_database()
        for worker in self.workers:
            worker.start(self.ini, self.environ)
        for worker in self.workers:
            worker.wait_until_ready()
        folder = self.folder / "nginx"
        folder.mkdir()
        self.front = Front(folder, self.workers)
        self.front.start()

    def create_database(self) -> None:
        """Create the roles, the database and its schema."""
        self.sql(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
        self.sql((ROOT / "deploy" / "database.sql").read_text())
        for role in (OWNER, ROLE):
            self.sql(f"ALTER ROLE {role} PASSWORD '{self.cluster.password}'")
        self.command("init", user=OWNER)
        self.sql((ROOT / "deploy" / "database-after-init.sql").read_text())

    def sql(self, text: str, database: str = DATABASE) -> None:
        """Execute statements as the superuser, on the leader."""
        with psycopg.connect(self.cluster.url(SUPERUSER, database), autocommit=True) as connection:
            connection.execute(text.encode())

    def command(self, *words: str, user: str = ROLE, database: str = DATABASE) -> str:
        """Run ``groundtransport`` without PgBouncer, and return its output. Raise LabError if it fails."""
        direct = {"DATABASE_URL": self.cluster.url(user, database), "GROUNDTRANSPORT_PGBOUNCER": "false"}
        environ = {**self.environ, **direct}
        program = Path(sys.executable).parent / "groundtransport"
        return processes.run([str(program), "-c", str(self.ini), *words], environ)

    def tokens(self) -> tuple[str, str]:
        """Return two tokens of a new service account: one that may change records, and one that only reads.

        A replica answers tokens that only read.
        """
        create = ("tokens", "create", "laboratory")
        self.command("user", "add", "laboratory", "--role", "editor", "--service")
        writes, reads = self.command(*create, "writers"), self.command(*create, "readers", "--read-only")
        return writes.strip().splitlines()[-1], reads.strip().splitlines()[-1]

    def stored(self, database: str = DATABASE) -> Stored:
        """Return what a database holds: the marks of records and of the activity log."""
        created = "(changes::json -> 'company_name' ->> 'new')"
        changed = "(changes::json -> 'place' ->> 'new')"
        entries: Counter[str] = Counter()
        record_ids: defaultdict[str, set[int]] = defaultdict(set)
        with psycopg.connect(self.cluster.url(SUPERUSER, database)) as connection:
            names = connection.execute(f"SELECT company_name FROM {KIND} WHERE deleted_at IS NULL")  # noqa: S608  # our own names
            records = Counter(name for (name,) in names)
            query = f"SELECT record_id, {created}, {changed} FROM admin_activity WHERE kind = %s ORDER BY id"  # noqa: S608  # our own names
            for record_id, *marks in connection.execute(query.encode(), (KIND,)):
                for mark in filter(None, marks):
                    entries[mark] += 1
                    record_ids[mark].add(record_id)
        return Stored(records, entries, record_ids)

    def end(self) -> None:
        """End nginx and the workers."""
        if self.front and hasattr(self.front, "process"):
            self.front.stop()
        for worker in self.workers:
            if worker.process:
                processes.end(worker.process)
