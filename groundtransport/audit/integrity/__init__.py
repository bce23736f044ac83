"""The integrity of the activity log: verification, key rotation, archiving, and comparison with the records."""
