"""Run Python programs in processes that have loaded third-party packages, but no module of ours.

A new interpreter spends a second on importing those packages; a fork of a process that has loaded them does not.
"""

import multiprocessing
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
PACKAGES = [
    "alembic.autogenerate",
    "alembic.command",
    "alembic.config",
    "argon2",
    "babel.core",
    "bs4",
    "click.testing",
    "deform",
    "orjson",
    "phonenumbers",
    "psycopg",
    "pycountry",
    "pyotp",
    "pyramid.config",
    "pyramid.paster",
    "pyramid_jinja2",
    "pyramid_tm",
    "pytest",
    "python_calamine",
    "rapidfuzz",
    "segno",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.orm",
    "webtest",
    "xlsxwriter",
    "zope.sqlalchemy",
]
CONTEXT.set_forkserver_preload(PACKAGES)


@dataclass(frozen=True)
class Program:
    """A Python program with its arguments, working directory, environment, and folders to import from first."""

    text: str
    words: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    path: Sequence[str]


def run(program: Program, seconds: float = 300) -> tuple[int, str]:
    """Run a program to its end; return its exit code and what it printed. Raise TimeoutError after ``seconds``."""
    with tempfile.NamedTemporaryFile() as output:
        process = CONTEXT.Process(target=execute, args=(program, output.name))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            raise TimeoutError(f"{program.words} runs for more than {seconds} s")
        return process.exitcode or 0, Path(output.name).read_text()


def execute(program: Program, output: str) -> None:
    """Execute a program in this process, as ``python -W ignore -c TEXT`` does, with its output in a file."""
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ.clear()
    os.environ.update(program.environ)
    os.chdir(program.folder)
    sys.path[:0] = program.path
    sys.argv = ["-c", *program.words]
    warnings.simplefilter("ignore")
    try:
        exec(program.text, {"__name__": "__main__"})  # the programs are those of the tests
    except Exception:
        traceback.print_exc()
        sys.exit(1)
