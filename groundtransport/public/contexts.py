"""The contexts of ``/public/v1``: one for each public kind and format. All views of them need no permission."""

from groundtransport.records.kind import Kind
from groundtransport.request import Request
from groundtransport.resources import Node
from groundtransport.transfer.export.formats import CONTENT_TYPES, Format

PUBLIC_ROUTE = "public"
TYPES = {
    "json": "application/json",
    "geojson": CONTENT_TYPES[Format.GEOJSON],
    "csv": CONTENT_TYPES[Format.CSV],
}  # the content type of each format, by its suffix


class Public(Node):
    """``/public/v1``, whose children are the kinds that the ini names."""

    def __init__(self, request: Request) -> None:
        super().__init__(request, "v1", Node(request, "public"))

    def __getitem__(self, name: str) -> "PublicKind":
        base, _dot, suffix = name.partition(".")
        is_public = base in self.request.registry["settings"].public_kinds
        if not is_public or (suffix and suffix not in TYPES) or name.endswith("."):
            raise KeyError(name)
        return PublicKind(self.request, self.request.registry["kinds"][base], suffix, self)


class PublicKind(Node):
    """``/public/v1/<kind>`` and ``/public/v1/<kind>.<suffix>``; ``suffix`` is "" if ``Accept`` chooses the format."""

    def __init__(self, request: Request, kind: Kind, suffix: str, parent: Public) -> None:
        super().__init__(request, ".".join(filter(None, (kind.name, suffix))), parent)
        self.kind, self.suffix = kind, suffix
