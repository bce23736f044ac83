"""The faults, by name: each makes one part fail, waits until all parts work again, and returns a remark."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from groundtransport.db import migrations
from lab import processes
from lab.clients import Notes
from lab.cluster import LOOP_WAIT, SUPERUSER, TTL, Cluster, Member
from lab.pooling import Pooling
from lab.processes import LabError
from lab.service import CHECKS, OWNER, ROOT, Service, Worker
from tests.next_release import add_two_revisions
from tests.postgres import find_programs

PAUSE = TTL + 2 * LOOP_WAIT + 2  # seconds: longer than another leader takes
FULL = 20  # seconds that a disk stays full
RESTORED = "restored"


class Skipped(Exception):
    """A reason why a fault cannot be made on this machine."""


@dataclass(frozen=True)
class Lab:
    """All parts that can fail, and the notes of the clients."""

    folder: Path
    cluster: Cluster
    service: Service
    notes: Notes
    pooling: Pooling | None = None

    def leader(self) -> Member:
        """Return the leader. Raise LabError if there is none."""
        leader = self.cluster.leader()
        if leader is None:
            raise LabError("The cluster has no leader.")
        return leader


def calm(lab: Lab) -> str:
    """Do nothing, to see what is usual."""
    del lab
    time.sleep(8)
    return ""


def kill_leader(lab: Lab) -> str:
    """Kill Patroni and PostgreSQL of the leader at once, as a power failure does; start them when another leads."""
    leader = lab.leader()
    leader.kill()
    lab.cluster.wait_for_other_leader(leader)
    time.sleep(2)
    leader.start()
    lab.cluster.wait_until_whole()
    return f"{lab.leader().name} took over from {leader.name}"


def kill_postgresql(lab: Lab) -> str:
    """Kill the leader's PostgreSQL; Patroni stays, and starts it again or lets another lead."""
    leader = lab.leader()
    processes.send(leader.postgres_pids(), signal.SIGKILL)
    time.sleep(LOOP_WAIT + 1)
    lab.cluster.wait_until_whole()
    return "another took over" if lab.leader() is not leader else "it was started again in place"


def switch_over(lab: Lab) -> str:
    """Make the synchronous standby the leader, by ``patronictl switchover``."""
    lab.cluster.switch_over()
    lab.cluster.wait_until_whole()
    return ""


def pause(lab: Lab, member: Member) -> None:
    """Stop all processes of a member, as a network that is cut does, and let them go on."""
    member.signal(signal.SIGSTOP)
    try:
        time.sleep(PAUSE)
    finally:
        member.signal(signal.SIGCONT)
    time.sleep(LOOP_WAIT + 1)
    lab.cluster.wait_until_whole()


def pause_standby(lab: Lab) -> str:
    """Cut the synchronous standby off: every COMMIT waits for it until Patroni names another."""
    pause(lab, lab.cluster.synchronous_standby())
    return f"for {PAUSE} s"


def pause_leader(lab: Lab) -> str:
    """Stop the leader for longer than its key lasts: when it goes on, another leads."""
    leader = lab.leader()
    pause(lab, leader)
    return f"for {PAUSE} s; {lab.leader().name} took over from {leader.name}"


def stop_worker(lab: Lab, worker: Worker, number: signal.Signals) -> int:
    """Send a signal to a worker, start it again when it has ended, and return its exit code."""
    if worker.process is None:
        raise LabError(f"{worker.name} does not run.")
    worker.process.send_signal(number)
    try:
        code = worker.process.wait(15)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{worker.name} has not ended after {number.name}.") from error
    worker.start(lab.service.ini, lab.service.environ)
    worker.wait_until_ready()
    return code


def kill_worker(lab: Lab) -> str:
    """Kill a worker, and start it again after a second."""
    stop_worker(lab, lab.service.workers[0], signal.SIGKILL)
    time.sleep(1)
    return ""


def terminate_worker(lab: Lab) -> str:
    """End a worker as systemd does, and start it again."""
    code = stop_worker(lab, lab.service.workers[1], signal.SIGTERM)
    time.sleep(1)
    return f"it ended with {code}"


def restart(lab: Lab, name: str) -> str:
    """Kill HAProxy or PgBouncer, and start it again at once, as systemd does."""
    if lab.pooling is None:
        raise Skipped("it needs --pgbouncer")
    lab.pooling.kill(name)
    lab.pooling.start_program(name)
    time.sleep(5)
    lab.cluster.wait_until_whole()
    return ""


def fill_disk(lab: Lab) -> str:
    """Fill the file system of the leader's ``pg_wal``, and make room after FULL seconds.

    Patroni does not let another lead: it starts PostgreSQL again, which stops at the next write.
    """
    leader = lab.leader()
    if leader.wal is None:
        raise Skipped("only root may mount a small file system for pg_wal")
    filler = leader.wal / "filler"
    fill(filler)
    try:
        need_disk(lab, leader)
        time.sleep(FULL)
    finally:
        filler.unlink()
    time.sleep(LOOP_WAIT + 1)
    lab.cluster.wait_until_whole()
    return f"room was made after {FULL} s; " + ("another took over" if lab.leader() is not leader else "the same leads")


def fill(file: Path) -> None:
    """Write zeros to a file until its file system is full."""
    with suppress(OSError), file.open("wb", buffering=0) as content:
        while content.write(bytes(64 * 1024)):
            pass


def need_disk(lab: Lab, leader: Member) -> None:
    """Make the leader use up the segments of ``pg_wal`` that it has in reserve."""
    with suppress(psycopg.Error), psycopg.connect(lab.cluster.url_of(leader, SUPERUSER), autocommit=True) as connection:
        for _ in range(60):
            connection.execute("SELECT pg_logical_emit_message(false, 'lab', 'x'), pg_switch_wal()")


def upgrade(lab: Lab) -> str:
    """Upgrade without an interruption to a release with two revisions: expand, replace all workers, contract."""
    service = lab.service
    versions = Path(shutil.copytree(ROOT / "alembic" / "versions", lab.folder / "versions"))
    (head,) = migrations.heads()
    add_two_revisions(versions, head)
    text, ours = service.ini.read_text(), "    groundtransport:migrations/versions"
    assert ours in text
    service.ini = service.folder / "next.ini"
    service.ini.write_text(text.replace(ours, f"    {versions}"))
    service.command("init", "--expand", user=OWNER)
    for worker in service.workers:
        stop_worker(lab, worker, signal.SIGTERM)
    service.command("init", "--contract", user=OWNER)
    time.sleep(1)
    return "all workers replaced"


def restore(lab: Lab) -> str:
    """Back up beside the writers, verify the backup, restore it, and look for everything acknowledged before it."""
    began, file, service = time.monotonic(), lab.folder / "backup.dump", lab.service
    before = [w for w in lab.notes.writes if w.acknowledged_at is not None and w.acknowledged_at < began]
    service.command("backup", str(file), user=SUPERUSER)
    service.command("backup", "verify", str(file), user=SUPERUSER)
    service.sql(f"CREATE DATABASE {RESTORED} TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
    programs = find_programs()
    assert programs, "the cluster runs"
    # The leader alone: a standby that does not have the new database yet would end the search for a server.
    server = ["--host=127.0.0.1", f"--port={lab.leader().port}", f"--username={SUPERUSER}", f"--dbname={RESTORED}"]
    words = [str(programs / "pg_restore"), "--exit-on-error", *server, str(file)]
    processes.run(words, {"PGPASSWORD": lab.cluster.password})
    for command in CHECKS:
        service.command(*command, user=OWNER, database=RESTORED)
    stored = service.stored(RESTORED)
    missing = sum(map(stored.is_lost, before))
    if missing:
        raise LabError(f"The restored database lacks {missing} of {len(before)} writes from before the backup.")
    return f"the restored database has all {len(before):,} writes from before the backup"


FAULTS: dict[str, Callable[[Lab], str]] = {
    "calm": calm,
    "kill-leader": kill_leader,
    "kill-postgresql": kill_postgresql,
    "switchover": switch_over,
    "kill-worker": kill_worker,
    "terminate-worker": terminate_worker,
    "pause-standby": pause_standby,
    "pause-leader": pause_leader,
    "fill-disk": fill_disk,
    "upgrade": upgrade,
    "restore": restore,
    "kill-pgbouncer": lambda lab: restart(lab, "pgbouncer"),
    "kill-haproxy": lambda lab: restart(lab, "haproxy"),
}
POOLING = ("kill-pgbouncer", "kill-haproxy")  # with the option --pgbouncer alone
SHORT = ("kill-leader", "switchover", "terminate-worker")
# The longest time in seconds without a write, where there is a goal, and without a read.
WRITE_GOALS = {"kill-leader": 15.0, "kill-postgresql": 15.0}
READ_GOAL = 1.0
