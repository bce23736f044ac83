-- PostgreSQL, as its superuser and in the service's database, after the first init: the service's role can neither
-- change the activity log nor claim another revision.
REVOKE UPDATE, DELETE ON admin_activity, audit_mark FROM groundtransport;
REVOKE UPDATE ON security_event FROM groundtransport;
REVOKE INSERT, UPDATE, DELETE ON alembic_version, search_layout FROM groundtransport;
