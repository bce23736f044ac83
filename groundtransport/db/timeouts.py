"""Time limits of database work, in seconds."""

BUDGET = 4.5  # all waiting of one request for the database
POOL = 2  # waiting for a connection of the pool
LOCK = 4  # waiting for a lock, unless the transaction sets another limit
STATEMENT = 4  # running one statement of a request (PostgreSQL)
IDLE = 30  # an open transaction without statements; after that PostgreSQL ends it and releases its locks
