-- Gives the two roles of database.sql their passwords, from the files that deploy/compose.yaml mounts. Run by psql.
\set owner_password `cat /run/secrets/owner-password`
\set service_password `cat /run/secrets/service-password`
ALTER ROLE groundtransport_owner PASSWORD :'owner_password';
ALTER ROLE groundtransport PASSWORD :'service_password';
