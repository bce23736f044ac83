"""The pages and URLs of saved views; their table is in accounts/saved_views."""
