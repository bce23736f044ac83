"""Actions on several records at once, as one batch of the activity log."""
