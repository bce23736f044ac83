"""Saved views: a kind's search, filters, sort and columns under a name, for one user or for all."""
