"""The import of records. It uses the schema and the writer of the forms, so imports are validated and audited."""
