"""Secrets, read from the environment or from files."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from groundtransport.settings.errors import PREFIX, SettingsError

SECRET_MIN_LENGTH = 32  # characters; NIST SP 800-107 demands HMAC keys of at least 112 bits


def secret_of(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return a variable of the environment, or the content of the file ``<name>_FILE``; "" if neither is set.

    Raise SettingsError if the file cannot be read.
    """
    file = environ.get(f"{name}_FILE", "")
    if environ.get(name) or not file:
        return environ.get(name, "")
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"{name}_FILE: {file} cannot be read") from error


def secrets_of(name: str, setting: str, ours: Mapping[str, str], environ: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the secret ``name`` of the environment, or else of a file, which is created for development.

    ``<name>_OLD`` in the environment has previous secrets that are still accepted, separated by blanks. Raise
    SettingsError for a secret that is missing or too short, and for a file that cannot be read or created.
    """
    file = ours.get(setting)
    try:
        newest = secret_of(name, environ) or (_secret_in(Path(file)) if file else "")
    except OSError as error:
        raise SettingsError(f"{PREFIX}{setting}: {file} cannot be created or read: {error.strerror}") from error
    if not newest:
        raise SettingsError(f"{name} is missing in the environment")
    old = secret_of(f"{name}_OLD", environ).split()
    for title, secret in ((name, newest), *((f"{name}_OLD", secret) for secret in old)):
        if len(secret) < SECRET_MIN_LENGTH:
            raise SettingsError(f"{title} is too short: at least {SECRET_MIN_LENGTH} characters")
    return tuple(secret.encode() for secret in (newest, *old))


def _secret_in(file: Path) -> str:
    """Return the secret in a file; create the file with a random secret if it does not exist."""
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(48))
        try:
            os.link(temporary, file)  # atomic: of two processes that start at once, the first wins
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return file.read_text().strip()
