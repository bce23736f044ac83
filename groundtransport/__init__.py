"""The Airport Ground-Transport Administration Service."""

import warnings
from pathlib import Path

__version__ = "1.1.0"

# pyramid 2.1 and deform 3.0.1 import pkg_resources; users can do nothing about its deprecation warning.
warnings.filterwarnings("ignore", message="pkg_resources is deprecated as an API", category=UserWarning)


def main(global_config: dict[str, str], **ini: str) -> object:
    """Return the WSGI application of an ini's ``[app:main]``. Raise SettingsError, which names the invalid setting."""
    from pyramid.config import Configurator

    from groundtransport import settings
    from groundtransport.db import migrations

    with Configurator(settings=ini) as config:
        config.registry["settings"] = settings.read(ini)
        config.registry["schema"] = migrations.schema(_ini(global_config))
        config.include("groundtransport.db")
        config.include("groundtransport.security")
        config.include("groundtransport.resources")
        config.include("groundtransport.web")
        config.include("groundtransport.security_log")
        config.include("groundtransport.accounts")
        config.include("groundtransport.airports")
        config.include("groundtransport.notes")
        config.include("groundtransport.jobs")
        config.include("groundtransport.records")
        config.include("groundtransport.kinds")
        config.include("groundtransport.links")
        config.include("groundtransport.audit")
        config.include("groundtransport.api")
        config.include("groundtransport.public")
        config.include("groundtransport.webhooks")
        config.include("groundtransport.transfer.imports")
        config.include("groundtransport.transfer.edits")
        config.include("groundtransport.after_commit")
        config.include("groundtransport.monitoring")
        config.include("groundtransport.review")
        config.include("groundtransport.dashboard")
        config.include("groundtransport.help")
        config.include("groundtransport.transfer.export")
        config.include("groundtransport.web.tweens")
        return config.make_wsgi_app()


def _ini(global_config: dict[str, str]) -> Path | None:
    """Return the ini file of the application; None if it was configured without one."""
    file = global_config.get("__file__")
    return Path(file) if file else None
