-- Run on PostgreSQL as a superuser in the service's database, before the first init. Creates two roles: the owner
-- migrates, and the service's role only reads and writes data. See docs/deploy.md.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE ROLE groundtransport_owner LOGIN;
CREATE ROLE groundtransport LOGIN;
GRANT ALL ON SCHEMA public TO groundtransport_owner;
GRANT USAGE ON SCHEMA public TO groundtransport;
ALTER DEFAULT PRIVILEGES FOR ROLE groundtransport_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO groundtransport;
ALTER DEFAULT PRIVILEGES FOR ROLE groundtransport_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO groundtransport;
