"""Create, update, delete and restore views of a record, with merge, conflict and saved forms."""
