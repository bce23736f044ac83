"""``GET /api/v1/me``: the user and the limits of the token."""

from groundtransport.api.view import Operation, api_view
from groundtransport.request import Request
from groundtransport.resources import Api
from groundtransport.security import Permission


@api_view(Operation("me"), context=Api, name="me", request_method="GET", permission=Permission.OWN_READ)
def me(context: Api, request: Request) -> dict[str, object]:
    """Return the user of the token, the role it has, and its limits."""
    identity, token = request.user, request.token_limits
    kinds = [name for name in request.registry["kinds"] if token.permits_kind(name)]
    return {
        "user": identity.name,
        "full_name": identity.full_name,
        "role": identity.role,
        "token": {"name": token.name, "is_read_only": token.is_read_only, "kinds": kinds},
    }
