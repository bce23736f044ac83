"""Run the laboratory and print its table: ``make lab``, or ``python -m lab --faults kill-leader,switchover``."""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab import interrupts, pooling, processes, report
from lab.clients import Client, Notes, Reader, Writer
from lab.cluster import Cluster
from lab.faults import FAULTS, POOLING, READ_GOAL, SHORT, WRITE_GOALS, Lab, Skipped
from lab.pooling import Pooling
from lab.processes import LabError
from lab.results import Phase, Row, goals_missed, never_acknowledged, row_of
from lab.service import CHECKS, OWNER, ROLE, Service

WRITERS, READERS, WORKERS, MEMBERS = 8, 4, 3, 3
SETTLE = 3  # seconds between two phases


def main(words: Sequence[str] | None = None) -> int:
    """Run the laboratory; return 1 if a goal is missed, 2 if it could not run."""
    given = arguments(words)
    programs = processes.PACKAGES | (pooling.PACKAGES if given.pgbouncer else {})
    if packages := processes.missing_packages(programs):
        print(f"The laboratory needs Debian packages: apt-get install {' '.join(packages)}", file=sys.stderr)
        return 2
    interrupts.listen()
    try:
        with laboratory(given) as (lab, clients):
            return experiment(lab, clients, given.faults, is_timed=not given.short)
    except LabError as error:
        print(f"The laboratory stopped: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help=f"only {', '.join(SHORT)}, for CI: times are not compared with goals"
    )
    parser.add_argument("--faults", type=names, help=f"separated by commas, from: {', '.join(FAULTS)}")
    parser.add_argument(
        "--no-replicas", action="store_true", help="do not let replicas answer while the leader is away"
    )
    parser.add_argument(
        "--pgbouncer", action="store_true", help="put PgBouncer and HAProxy between the workers and the database"
    )
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder, with all logs")
    given = parser.parse_args(words)
    usual = tuple(name for name in FAULTS if given.pgbouncer or name not in POOLING)
    given.faults = given.faults or (SHORT if given.short else usual)
    if not set(given.faults) <= {*usual}:
        parser.error(f"{' and '.join(POOLING)} need --pgbouncer")
    return given


def names(text: str) -> tuple[str, ...]:
    """Return the names of faults. Raise ArgumentTypeError for an unknown one."""
    result = tuple(text.split(","))
    if unknown := set(result) - set(FAULTS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return result


@contextmanager
def laboratory(given: argparse.Namespace) -> Iterator[tuple[Lab, list[Client]]]:
    """Start everything in a temporary folder; end and remove it afterwards, whatever happens."""
    # Below /tmp, because the path of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="groundtransport-lab-", dir="/tmp"))  # nosec B108 # a new, private folder
    folder.chmod(0o711)  # PostgreSQL's user enters its folders below
    interrupts.mark(folder)
    with ExitStack() as stack:
        stack.callback(remove, folder, keep=given.keep)
        stack.callback(interrupts.kill_left_over, folder)
        try:
            yield start(stack, folder, given)
        finally:
            interrupts.ignore()
            say("ending all programs")


def start(stack: ExitStack, folder: Path, given: argparse.Namespace) -> tuple[Lab, list[Client]]:
    """Start everything; have ``stack`` end it."""
    cluster = Cluster(folder, MEMBERS, small_disks="fill-disk" in given.faults)
    stack.callback(cluster.end)
    say(f"starting etcd and {MEMBERS} members of Patroni")
    cluster.start()
    proxies = start_pooling(stack, folder, cluster) if given.pgbouncer else None
    service = Service(folder / "service", cluster, WORKERS, replicas=not given.no_replicas, pooling=proxies)
    stack.callback(service.end)
    say(f"starting {WORKERS} workers and nginx")
    service.start()
    notes = Notes()
    clients = start_clients(service, notes)
    stack.callback(leave, clients)
    return Lab(folder, cluster, service, notes, proxies), clients


def start_pooling(stack: ExitStack, folder: Path, cluster: Cluster) -> Pooling:
    """Start HAProxy and PgBouncer; have ``stack`` end them."""
    say("starting HAProxy and PgBouncer")
    result = Pooling(folder / "pooling", cluster.members, ROLE, cluster.password)
    stack.callback(result.end)
    result.start()
    return result


def start_clients(service: Service, notes: Notes) -> list[Client]:
    """Start the writers and readers."""
    assert service.front
    front, (writing, reading) = service.front, service.tokens()
    writers = [Writer(f"writer {number}", front.port, front.tls, writing, notes) for number in range(WRITERS)]
    readers = [Reader(f"reader {number}", front.port, front.tls, reading, notes) for number in range(READERS)]
    clients: list[Client] = [*writers, *readers]
    for client in clients:
        client.start()
    return clients


def leave(clients: Sequence[Client]) -> None:
    """End the clients after their last request."""
    for client in clients:
        client.leave.set()
    for client in clients:
        client.join(30)


def experiment(lab: Lab, clients: Sequence[Client], faults: Sequence[str], *, is_timed: bool) -> int:
    """Make the faults, one after the other, and print the table; return 1 if a goal is missed.

    Without ``is_timed`` the gaps are shown, and not compared with their goals: CI's machine may be busy.
    """
    time.sleep(SETTLE)
    phases: list[Phase] = []
    problems: list[str] = []
    for name in faults:
        try:
            phases += phase_of(lab, name)
        except LabError as error:  # the table of the faults before is worth printing
            problems.append(f"{name}: {error}")
            break
    leave(clients)
    say("verifying")
    rows = results(lab, phases)
    problems += verified(lab)
    print(report.table(rows))
    unknown, doubled = never_acknowledged(lab.notes.writes, lab.service.stored())
    print(f"\n{unknown} writes were never acknowledged, {doubled} of them stored twice.")
    has_replicas = "GROUNDTRANSPORT_REPLICA_URL" in lab.service.environ
    if not has_replicas:
        print("No replica answered reads, so the goal for reading is not compared.")
    reads = dict.fromkeys(FAULTS, READ_GOAL) if has_replicas else {}
    problems += goals_missed(rows, *((WRITE_GOALS, reads) if is_timed else ({}, {})))
    problems += [f"{doubled} writes that were never acknowledged are stored twice"] * bool(doubled)
    print("\n".join(problems) or "The activity log verifies and agrees with the records, and all goals are reached.")
    return 1 if problems else 0


def phase_of(lab: Lab, name: str) -> list[Phase]:
    """Make a fault and return its phase, alone; none if the fault cannot be made here."""
    say(name)
    began = time.monotonic()
    try:
        note = FAULTS[name](lab)
    except Skipped as reason:
        say(f"{name} was left out: {reason}")
        return []
    time.sleep(SETTLE)
    return [Phase(name, began, time.monotonic(), note)]


def results(lab: Lab, phases: Sequence[Phase]) -> list[Row]:
    """Return the rows of the table. The clients have left."""
    stored = lab.service.stored()
    return [row_of(phase, lab.notes.answers, lab.notes.writes, stored) for phase in phases]


def verified(lab: Lab) -> list[str]:
    """Return what the service's own checks of the database find wrong."""

    def problem(command: Sequence[str]) -> str:
        try:
            lab.service.command(*command, user=OWNER)
        except LabError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor() as pool:
        return list(filter(None, pool.map(problem, CHECKS)))


def remove(folder: Path, *, keep: bool) -> None:
    """Remove the temporary folder, or say where it is."""
    if keep:
        say(f"logs are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


def say(text: str) -> None:
    """Print a line of progress with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
