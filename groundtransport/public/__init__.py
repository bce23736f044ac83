"""Public records: ``/public/v1/<kind>`` for web sites, read only, without a sign-in; off unless the ini names kinds."""

from pyramid.config import Configurator

from groundtransport.public.contexts import PUBLIC_ROUTE, Public
from groundtransport.public.fields import check_settings
from groundtransport.public.files import PublicFiles
from groundtransport.public.limits import ClientLimit

AFTER_KINDS = 10  # the order of a configuration action; kinds are registered at 0


def includeme(config: Configurator) -> None:
    registry = config.registry
    settings = registry["settings"]
    config.action("public fields", check_settings, (settings, registry["kinds"]), order=AFTER_KINDS)
    registry["public_files"] = PublicFiles(registry["engine"], settings.public_fields)
    registry["public_limit"] = ClientLimit(settings.public_rate_limit)
    config.add_route(PUBLIC_ROUTE, "/public/v1/*traverse", factory=Public)
    config.scan("groundtransport.public")
