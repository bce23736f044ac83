"""The profile page of the signed-in user, and the preferences."""
