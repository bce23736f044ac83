"""Users, their passwords, second factors, sessions and API tokens."""

from pyramid.config import Configurator

from groundtransport.accounts.tokens.limits import Leases
from groundtransport.security import Role
from groundtransport.settings import PREFIX, SettingsError


def includeme(config: Configurator) -> None:
    settings = config.registry["settings"]
    check_roles("second_factor_roles", settings.second_factor_roles)
    check_roles("export_roles", settings.export_roles)
    config.set_session_factory("groundtransport.accounts.sessions.session.ServerSession")
    config.add_request_method("groundtransport.accounts.users.find_for_request", "find_user")
    config.registry["token_leases"] = Leases(config.registry["settings"].api_rate_limit)
    config.add_request_method("groundtransport.accounts.tokens.verification.token_check", reify=True)
    config.add_request_method("groundtransport.accounts.tokens.verification.token_identity", reify=True)
    config.add_jinja2_search_path("groundtransport:accounts/templates")
    config.scan("groundtransport.accounts")


def check_roles(setting: str, names: tuple[str, ...]) -> None:
    """Raise SettingsError if a setting names an unknown role."""
    for name in names:
        if name not in set(Role):
            raise SettingsError(f"{PREFIX}{setting}: there is no role {name!r}, only {', '.join(Role)}")
