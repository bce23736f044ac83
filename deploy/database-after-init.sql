-- Run on PostgreSQL as a superuser in the service's database, after the first init. Afterwards the service's role can change
-- neither the logs nor the recorded revision.
REVOKE UPDATE, DELETE ON admin_activity, audit_mark FROM groundtransport;
REVOKE UPDATE ON security_event FROM groundtransport;
REVOKE INSERT, UPDATE, DELETE ON alembic_version, search_layout FROM groundtransport;
