"""Users, their passwords, second factors and sessions."""

from pyramid.config import Configurator

from groundtransport.security import Role
from groundtransport.settings import PREFIX, SettingsError


def includeme(config: Configurator) -> None:
    check_roles(config.registry["settings"].second_factor_roles)
    config.set_session_factory("groundtransport.accounts.sessions.session.ServerSession")
    config.add_request_method("groundtransport.accounts.users.find_for_request", "find_user")
    config.add_jinja2_search_path("groundtransport:accounts/templates")
    config.scan("groundtransport.accounts")


def check_roles(names: tuple[str, ...]) -> None:
    """Raise SettingsError if the setting ``second_factor_roles`` names an unknown role."""
    for name in names:
        if name not in set(Role):
            raise SettingsError(f"{PREFIX}second_factor_roles: there is no role {name!r}, only {', '.join(Role)}")
