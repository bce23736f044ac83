"""Time limits of database work, in seconds, besides ``settings.database_timeout``."""

BULK_BUDGET = 30  # all waiting of a bulk request of the API for the database; it has up to 1,000 operations
IDLE = 30  # an open transaction without statements; after that PostgreSQL ends it and releases its locks
