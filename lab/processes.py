"""Start programs as an unprivileged user where they demand it, and end them with their children by process id."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

SYSTEM_USER = "postgres"  # PostgreSQL refuses to run as root
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
PACKAGES = {
    "patroni": "patroni",
    "patronictl": "patroni",
    "etcd": "etcd-server",
    "nginx": "nginx-light",
    "openssl": "openssl",
    "psql": "postgresql",
    "pg_restore": "postgresql",
}


class LabError(Exception):
    """A reason why the laboratory cannot go on, in one sentence."""


def missing_packages(programs: Mapping[str, str]) -> list[str]:
    """Return the Debian packages of the programs that are not installed."""
    return sorted({package for program, package in programs.items() if not shutil.which(program, path=PATH)})


def program(name: str) -> str:
    """Return the path of an installed program. Raise LabError if there is none."""
    path = shutil.which(name, path=PATH)
    if path is None:
        raise LabError(f"{name} is not installed.")
    return path


def free_ports(count: int) -> list[int]:
    """Return ports on the loopback interface that nothing listens on, below those of outgoing connections.

    A program that is started again needs its port again, which must not be that of an outgoing connection by then.
    """
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports: list[int] = []
    port = 10_000 + os.getpid() % 10_000
    while len(ports) < count:
        port = port + 1 if port + 1 < lowest else 10_000
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
    return ports


def start(
    words: Sequence[str], log: Path, environ: Mapping[str, str] | None = None, *, unprivileged: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, which Ctrl-C does not reach; append its output to ``log``."""
    with log.open("ab") as out:
        return subprocess.Popen(  # nosec B603 # our own words, and no shell
            words,
            env={**os.environ, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/" if unprivileged else None,
            user=SYSTEM_USER if unprivileged and os.geteuid() == 0 else None,
            group=SYSTEM_USER if unprivileged and os.geteuid() == 0 else None,
            extra_groups=[] if unprivileged and os.geteuid() == 0 else None,
        )


def give_to_system_user(folder: Path) -> Path:
    """Create a folder that the unprivileged programs may write to, and return it."""
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        shutil.chown(folder, SYSTEM_USER, SYSTEM_USER)
    return folder


def give_file_to_system_user(file: Path) -> None:
    """Let only the unprivileged programs read a file."""
    file.chmod(0o600)
    if os.geteuid() == 0:
        shutil.chown(file, SYSTEM_USER)


def parents() -> dict[int, int]:
    """Return the parent of each process of this machine, by process id, without those that have ended."""
    result = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                result[int(folder.name)] = int(parent)
    return result


def with_children(pids: Sequence[int]) -> list[int]:
    """Return process ids and those of all their descendants, parents first."""
    parent_of = parents()
    found = [pid for pid in dict.fromkeys(pids) if pid in parent_of]
    for pid in found:
        found += [child for child, parent in parent_of.items() if parent == pid and child not in found]
    return found


def send(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to processes; those that have ended are left out."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def end(process: subprocess.Popen[bytes], patience: float = 10) -> None:
    """Ask a process to end; after ``patience`` seconds kill it with its children."""
    if process.poll() is not None:
        return
    send([process.pid], signal.SIGTERM)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        send(with_children([process.pid]), signal.SIGKILL)
        process.wait()


def get(port: int, path: str, seconds: float) -> tuple[int, bytes]:
    """Return the status and the body of a page of this machine; ``(0, b"")`` without an answer within some seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def wait_until(condition: Callable[[], object], seconds: float, name: str) -> None:
    """Wait until a condition is true. Raise LabError with ``name``, what was waited for, after some seconds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise LabError(f"{name}: not within {seconds:g} seconds.")
        time.sleep(0.1)


def run(words: Sequence[str], environ: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
    """Run a program to its end and return its output. Raise LabError with its output if it fails."""
    result = subprocess.run(  # nosec B603 # our own words, and no shell
        words, env={**os.environ, **(environ or {})}, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = result.stdout.decode(errors="replace")
    if result.returncode:
        raise LabError(f"{Path(words[0]).name} {' '.join(words[1:])} failed: {output.strip()[-2000:]}")
    return output
