"""Tokens of the API: a person's own, or those of a service account."""
