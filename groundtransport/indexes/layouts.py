"""The table ``search_layout``: by which rules the search texts of a table were made, so that a change is noticed."""

from sqlalchemy import Connection, select, text

from groundtransport.indexes.counter_tables import SearchLayout


def read(connection: Connection) -> dict[str, str]:
    """Return the stored layouts by table name."""
    return {row.kind: row.layout for row in connection.execute(select(SearchLayout.kind, SearchLayout.layout))}


def store(connection: Connection, table: str, layout: str) -> None:
    """Note that all search texts of a table are of this layout."""
    connection.execute(text("DELETE FROM search_layout WHERE kind = :kind"), {"kind": table})
    values = {"kind": table, "layout": layout}
    connection.execute(text("INSERT INTO search_layout (kind, layout) VALUES (:kind, :layout)"), values)
