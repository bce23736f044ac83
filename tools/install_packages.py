"""Install packages into a virtual environment with pip, and print the name of each; used by the Makefile.

``PYTHON tools/install_packages.py ENVIRONMENT -r requirements.lock`` passes the arguments after the environment to
``pip install``. The output of pip is written to ENVIRONMENT/install.log. On failure it prints the reason in one
sentence and exits with 1. It runs before anything is installed, so it uses only the standard library.
"""

import re
import subprocess
import sys
from pathlib import Path

# Patterns of pip's output, with the name in the group, and the line to print instead; each line is printed once.
STEPS = (
    (r"Collecting ([A-Za-z0-9._-]+)", "  {}"),
    (r"Processing \S*/([A-Za-z0-9._]+)-\d\S*\.whl", "  {}"),
    (r"Installing (collected packages)", "  unpacking and compiling them"),
    (r"  Installing (build dependencies): started", "  npm, which fetches the front end"),
    (r"  Building (editable) for groundtransport", "  the front end, by npm"),
    (r"WARNING: (Retrying)", "  ... no answer; trying again"),
)
# Patterns of the output of pip, npm or setup.py, and the reason of failure; the first match counts.
REASONS = (
    (r"No space left on device", "the disk is full."),
    (r"npm could not fetch the front end", "npm could not fetch the front end; can its registry be reached?"),
    (r"DO NOT MATCH THE HASHES", "a package is not the one that the lock file names."),
    (
        r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|Read timed out|connection broken|SSLError"
        r"|NameResolutionError|No matching distribution",
        "a package could not be downloaded; can PyPI be reached?",
    ),
)


def main(environment: Path, arguments: list[str]) -> int:
    """Run ``pip install`` with the arguments; return the exit code."""
    log = environment / "install.log"
    command = [str(environment / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off", "--no-color", *arguments]
    with (
        log.open("w", encoding="utf-8", errors="replace") as log_file,
        subprocess.Popen(  # nosec B603 # pip, with the arguments of the Makefile
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
        ) as pip,
    ):
        printed = {""}
        for line in pip.stdout or ():
            log_file.write(line)
            if (step := step_of(line)) not in printed:
                printed.add(step)
                print(step, flush=True)
    if pip.returncode:
        print(f"The installation failed: {reason_of(log.read_text(encoding='utf-8'))} Details: {log}", file=sys.stderr)
    return 1 if pip.returncode else 0


def step_of(line: str) -> str:
    """Return the line to print for a line of pip's output; "" for none."""
    for pattern, step in STEPS:
        if match := re.match(pattern, line):
            return step.format(match[1])
    return ""


def reason_of(output: str) -> str:
    """Return the reason of a failure, from the output of pip."""
    return next((reason for pattern, reason in REASONS if re.search(pattern, output)), "pip reported an error.")


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
