"""Notes on a record: in its details, and on a page of their own."""
