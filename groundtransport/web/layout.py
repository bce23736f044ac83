"""Values that every template gets besides those of its view: the user, the kinds, the URLs of static files."""

from functools import partial

from pyramid.events import BeforeRender

from groundtransport.db import now
from groundtransport.i18n import _
from groundtransport.request import Request
from groundtransport.security import Permission, Role
from groundtransport.web import static
from groundtransport.web.urls import page_url, segments

DATA = {"json", "api_json", "rows"}  # renderers without a template
ROLES = {Role.VIEWER: _("viewer"), Role.EDITOR: _("editor"), Role.ADMINISTRATOR: _("administrator")}

# Messages for a user who lacks a permission.
DENIALS = {
    Permission.VIEW: _("Your role does not allow you to see the records and the activity log."),
    Permission.CREATE: _("Your role does not allow you to create records."),
    Permission.EDIT: _("Your role does not allow you to edit records."),
    Permission.DELETE: _("Your role does not allow you to delete records."),
    Permission.RESTORE: _("Your role does not allow you to restore records."),
    Permission.EXPORT: _("Your role does not allow you to save lists as files."),
    Permission.IMPORT: _("Your role does not allow you to import files."),
    Permission.VIEWS: _("Your role does not allow you to save views for all."),
    Permission.NOTES: _("Your role does not allow you to delete notes of others."),
    Permission.AIRPORTS: _("Your role does not allow you to edit airports."),
    Permission.USERS_READ: _("Your role does not allow you to see the users and their sessions."),
    Permission.USERS: _("Your role does not allow you to add or change users."),
    Permission.SECURITY: _("Your role does not allow you to see the security log."),
    Permission.WEBHOOKS_READ: _("Your role does not allow you to see the webhooks and their deliveries."),
    Permission.WEBHOOKS: _("Your role does not allow you to add or change webhooks."),
    Permission.OWN_READ: _("Your role does not allow you to see this page of your account."),
    Permission.OWN: _("Your role does not allow you to change your account."),
}
DENIAL = _("Your role does not allow you to see this page.")


def add_globals(event: BeforeRender) -> None:
    """Add the values of the layout. No queries: error pages are rendered when the database does not answer, too."""
    request: Request | None = event.get("request")
    if request is None or event["renderer_name"] in DATA:
        return
    event["here"] = "/" + "/".join(segments(request))
    event["page_url"] = page_url(request)
    event["identity"] = request.session.known_identity
    expires_at = request.session.expires_at
    event["signed_in_for"] = int((expires_at - now()).total_seconds()) if expires_at else 0
    event["is_leader_away"] = vars(request).get("is_leader_away", False)  # if it was asked: a page of an error does not
    event["kinds"] = list(request.registry["kinds"].values())
    event["role_words"] = ROLES
    event["language"] = request.locale_name.replace("_", "-")
    event["asset"] = partial(static.asset_path, request)
