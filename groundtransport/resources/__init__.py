"""The resource tree: ``/admin/<kind>/<id>`` and ``/api/v1/<kind>/<id>`` as contexts with ACLs.

``__getitem__`` raises KeyError for an unknown name and no other error. Contexts contain ORM rows; they are not rows.
"""

from pyramid.config import Configurator

from groundtransport.resources.paths import class_at
from groundtransport.resources.records import (
    AnyRecord,
    Collection,
    DeletedRecord,
    KindDeclaration,
    MergedRecord,
    Record,
    RecordRow,
    record_by_id,
)
from groundtransport.resources.tree import (
    API_PLACES,
    API_ROUTE,
    CHILDREN,
    PLACES,
    Activity,
    Admin,
    Airport,
    Airports,
    Api,
    Import,
    Imports,
    Node,
    OwnSecondFactor,
    Profile,
    Review,
    Root,
    Security,
    Session,
    User,
    Users,
    Webhook,
    Webhooks,
)

__all__ = [
    "API_PLACES",
    "API_ROUTE",
    "CHILDREN",
    "PLACES",
    "Activity",
    "Admin",
    "Airport",
    "Airports",
    "AnyRecord",
    "Api",
    "Collection",
    "DeletedRecord",
    "Import",
    "Imports",
    "KindDeclaration",
    "MergedRecord",
    "Node",
    "OwnSecondFactor",
    "Profile",
    "Record",
    "RecordRow",
    "Review",
    "Root",
    "Security",
    "Session",
    "User",
    "Users",
    "Webhook",
    "Webhooks",
    "class_at",
    "record_by_id",
]


def includeme(config: Configurator) -> None:
    config.set_root_factory(Root)
    config.add_route(API_ROUTE, "/api/v1/*traverse", factory=Api)
