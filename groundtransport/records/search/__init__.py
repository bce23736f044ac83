"""Search records by their search texts: one strategy for each database, chosen by the number of matches.

Few matches: read the full-text index, then sort. Many: walk along the index of the sort up to a bound, then fall back
to the full-text index. Words too short for the index: walks, then a scan of all texts. A search that reaches its time
limit returns the rows that it has.
"""
