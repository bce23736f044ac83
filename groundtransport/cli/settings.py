"""``groundtransport settings``: the table of all settings, in the ini and in the environment."""

from collections.abc import Iterator
from dataclasses import fields

import click

from groundtransport.settings import PREFIX, SERVER_SETTINGS, Settings, variable

HEAD = """# Settings

Each setting in the ini file and in the environment, which takes precedence. `make docs` makes this page by
`groundtransport settings`. Variables that are not in these tables are ignored.

## Secrets

Instead of each variable, the same name with `_FILE` may hold the path of a file with the value, as Docker and
Kubernetes mount secrets.

| variable | meaning |
|---|---|
| `DATABASE_URL` | `postgresql://...` or `sqlite:////path/file.sqlite`; in the ini: `sqlalchemy.url` |
| `GROUNDTRANSPORT_SECRET` | signs edit links, seals second factors; in the ini: `groundtransport.secret_file` |
| `GROUNDTRANSPORT_SECRET_OLD` | earlier ones during a rotation, separated by blanks: run `init` before you remove one |
| `GROUNDTRANSPORT_AUDIT_SECRET` | signs the activity log; in the ini: `groundtransport.audit_secret_file` |
| `GROUNDTRANSPORT_AUDIT_SECRET_OLD` | earlier ones, separated by blanks |
| `GROUNDTRANSPORT_ADMIN_PASSWORD` | the first administrator's password; without it `init` generates one |
"""


@click.command("settings")
def print_settings() -> None:
    """Print a table of all settings, as Markdown."""
    click.echo("\n".join([HEAD, *service_table(), "", *server_table()]))


def service_table() -> Iterator[str]:
    """Yield the lines of the table of ``[app:main]``."""
    yield from ("## `[app:main]`", "", "| ini | environment | default | meaning |", "|---|---|---|---|")
    for setting in fields(Settings):
        if meaning := setting.metadata.get("meaning"):
            default = f"`{shown(setting.default)}`" if setting.default not in ((), "") else ""
            yield f"| `{PREFIX}{setting.name}` | `{variable(setting.name)}` | {default} | {meaning} |"


def server_table() -> Iterator[str]:
    """Yield the lines of the table of ``[server:main]``."""
    yield from (
        "## `[server:main]`",
        "",
        "The inis set those that matter; all other settings of waitress work there, too.",
        "",
    )
    yield from ("| ini | environment | meaning |", "|---|---|---|")
    for name, meaning in SERVER_SETTINGS.items():
        yield f"| `{name}` | `{variable(name)}` | {meaning} |"


def shown(default: object) -> str:
    """Return a default value as it is written in an ini."""
    if isinstance(default, tuple):
        return " ".join(default)
    return str(default).lower() if isinstance(default, bool) else str(default)
