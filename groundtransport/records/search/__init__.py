"""Search records by their search texts: one algorithm (``search.py``) and the full-text index of each database."""
