"""Records from elsewhere: through the same schema and the same writer as a form's, so they are audited."""
