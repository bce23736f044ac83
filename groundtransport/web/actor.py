"""The actor of a request, for the record events."""

from groundtransport.events import Actor
from groundtransport.request import Request
from groundtransport.web.client import client_ip_of


def actor_of(request: Request) -> Actor:
    """Return the signed-in user of a request as the actor of its changes."""
    identity = request.user
    token = identity.token.name if identity.token else ""
    return Actor(identity.name, identity.user_id, request.id, client_ip_of(request), token=token)
