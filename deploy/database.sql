-- PostgreSQL, as its superuser and in the service's database, before the first init: two roles.
-- The owner migrates; the service may only do its work. What stands where: docs/deploy.md.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE ROLE groundtransport_owner LOGIN;
CREATE ROLE groundtransport LOGIN;
GRANT ALL ON SCHEMA public TO groundtransport_owner;
GRANT USAGE ON SCHEMA public TO groundtransport;
ALTER DEFAULT PRIVILEGES FOR ROLE groundtransport_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO groundtransport;
ALTER DEFAULT PRIVILEGES FOR ROLE groundtransport_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO groundtransport;
