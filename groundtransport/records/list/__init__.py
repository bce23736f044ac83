"""The list of a kind: query parsing, DataTables protocol, order, pages, counters, columns and detail."""
