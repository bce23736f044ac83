"""The actor of a request, for the record events."""

from pyramid.request import Request

from groundtransport.events import Actor
from groundtransport.web.client import client_ip_of


def actor_of(request: Request) -> Actor:
    """Return the signed-in user of a request as the actor of its changes."""
    identity = request.identity
    return Actor(identity.name, identity.user_id, request.id, client_ip_of(request))
