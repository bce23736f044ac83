"""Server-side sessions: the Pyramid session factory, its rows, and the views of open sessions."""
