-- What revision 0006 makes, a statement after each line "undo:", which says how it is removed again.
-- undo:
CREATE OR REPLACE FUNCTION record_fold() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('record_fold')) THEN
        RETURN;
    END IF;
    WITH gone AS (DELETE FROM record_change RETURNING kind, airport_code, choice, block, n),
    blocks AS (
        INSERT INTO record_block AS b (kind, block, n)
        SELECT kind, block, sum(n) FROM gone WHERE block >= 0 GROUP BY kind, block
        ON CONFLICT (kind, block) DO UPDATE SET n = b.n + excluded.n
    )
    INSERT INTO record_count AS c (kind, airport_code, choice, n)
    SELECT gone.kind, each.code, each.choice, sum(gone.n) FROM gone
    CROSS JOIN LATERAL (
        SELECT gone.airport_code, gone.choice
        UNION SELECT gone.airport_code, '*'
        UNION SELECT '*', gone.choice WHERE gone.airport_code <> '-'
        UNION SELECT '*', '*' WHERE gone.airport_code <> '-'
    ) AS each (code, choice)
    WHERE gone.block < 0
    GROUP BY 1, 2, 3
    ON CONFLICT (kind, airport_code, choice) DO UPDATE SET n = c.n + excluded.n;
END $$
-- undo:
CREATE OR REPLACE FUNCTION record_estimate(source text, live text, patterns text[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT 1 FROM %I WHERE search_text LIKE ALL (%L::text[])', source, patterns)
        || CASE live WHEN '' THEN '' ELSE ' AND deleted_at IS NULL' END INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::numeric::bigint;
END $$
-- undo:
ALTER TABLE scheduledbus ALTER COLUMN search_text SET STATISTICS 2000
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_id
CREATE INDEX ix_scheduledbus_by_id ON scheduledbus (id NULLS FIRST) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_airport_code
CREATE INDEX ix_scheduledbus_by_airport_code ON scheduledbus (lower(airport_code COLLATE "C") NULLS FIRST, id) INCLUDE (airport_code) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_airport_name
CREATE INDEX ix_scheduledbus_by_airport_name ON scheduledbus (lower(airport_name COLLATE "C") NULLS FIRST, id) INCLUDE (airport_name) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_name
CREATE INDEX ix_scheduledbus_by_company_name ON scheduledbus (lower(company_name COLLATE "C") NULLS FIRST, id) INCLUDE (company_name) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_address
CREATE INDEX ix_scheduledbus_by_company_address ON scheduledbus (lower(company_address COLLATE "C") NULLS FIRST, id) INCLUDE (company_address) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_phone1
CREATE INDEX ix_scheduledbus_by_company_phone1 ON scheduledbus (lower(company_phone1 COLLATE "C") NULLS FIRST, id) INCLUDE (company_phone1) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_city
CREATE INDEX ix_scheduledbus_by_city ON scheduledbus (lower(city COLLATE "C") NULLS FIRST, id) INCLUDE (city) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_state
CREATE INDEX ix_scheduledbus_by_state ON scheduledbus (lower(state COLLATE "C") NULLS FIRST, id) INCLUDE (state) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_zip_code
CREATE INDEX ix_scheduledbus_by_zip_code ON scheduledbus (lower(zip_code COLLATE "C") NULLS FIRST, id) INCLUDE (zip_code) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_created_at
CREATE INDEX ix_scheduledbus_by_created_at ON scheduledbus (created_at NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_updated_at
CREATE INDEX ix_scheduledbus_by_updated_at ON scheduledbus (updated_at NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_version
CREATE INDEX ix_scheduledbus_by_version ON scheduledbus (version NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_deleted
CREATE INDEX ix_scheduledbus_deleted ON scheduledbus (deleted_at NULLS FIRST, id) WHERE deleted_at IS NOT NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_search
CREATE INDEX ix_scheduledbus_search ON scheduledbus USING gin (search_text gin_trgm_ops) WITH (fastupdate = on, gin_pending_list_limit = 256) WHERE deleted_at IS NULL
-- undo: DROP FUNCTION IF EXISTS scheduledbus_count()
CREATE OR REPLACE FUNCTION scheduledbus_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE first bigint; last bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM new_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'scheduledbus', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'scheduledbus', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    ELSIF TG_OP = 'DELETE' THEN 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, -1 AS n FROM old_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'scheduledbus', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'scheduledbus', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    ELSE 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, -1 AS n FROM old_rows UNION ALL SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM new_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'scheduledbus', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'scheduledbus', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    END IF;
    IF (first - 1) / 256 <> last / 256 THEN
        PERFORM record_fold();
    END IF;
    RETURN NULL;
END $$
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_insert ON scheduledbus
CREATE TRIGGER scheduledbus_count_insert AFTER INSERT ON scheduledbus REFERENCING NEW TABLE AS new_rows  FOR EACH STATEMENT EXECUTE FUNCTION scheduledbus_count()
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_update ON scheduledbus
CREATE TRIGGER scheduledbus_count_update AFTER UPDATE ON scheduledbus REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows  FOR EACH STATEMENT EXECUTE FUNCTION scheduledbus_count()
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_delete ON scheduledbus
CREATE TRIGGER scheduledbus_count_delete AFTER DELETE ON scheduledbus REFERENCING OLD TABLE AS old_rows  FOR EACH STATEMENT EXECUTE FUNCTION scheduledbus_count()
-- undo:
DELETE FROM record_count WHERE kind = 'scheduledbus'
-- undo:
DELETE FROM record_block WHERE kind = 'scheduledbus'
-- undo:
DELETE FROM record_change WHERE kind = 'scheduledbus'
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
WITH pairs AS MATERIALIZED (SELECT code, pick, sum(n) AS n FROM (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM scheduledbus) AS r GROUP BY 1, 2),
live AS (SELECT * FROM pairs WHERE code <> '-')
SELECT 'scheduledbus', code, pick, n FROM pairs
UNION ALL SELECT 'scheduledbus', code, '*', sum(n) FROM live GROUP BY code
UNION ALL SELECT 'scheduledbus', '*', pick, sum(n) FROM live GROUP BY pick
UNION ALL SELECT 'scheduledbus', '*', '*', coalesce(sum(n), 0) FROM live
-- undo:
INSERT INTO record_block (kind, block, n)
SELECT 'scheduledbus', block, sum(n) FROM (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN '' ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM scheduledbus) AS r WHERE block IS NOT NULL GROUP BY block
-- undo:
ANALYZE scheduledbus
-- undo:
ALTER TABLE transit ALTER COLUMN search_text SET STATISTICS 2000
-- undo: DROP INDEX IF EXISTS ix_transit_by_id
CREATE INDEX ix_transit_by_id ON transit (id NULLS FIRST) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_airport_code
CREATE INDEX ix_transit_by_airport_code ON transit (lower(airport_code COLLATE "C") NULLS FIRST, id) INCLUDE (airport_code) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_airport_name
CREATE INDEX ix_transit_by_airport_name ON transit (lower(airport_name COLLATE "C") NULLS FIRST, id) INCLUDE (airport_name) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_name
CREATE INDEX ix_transit_by_company_name ON transit (lower(company_name COLLATE "C") NULLS FIRST, id) INCLUDE (company_name) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_address
CREATE INDEX ix_transit_by_company_address ON transit (lower(company_address COLLATE "C") NULLS FIRST, id) INCLUDE (company_address) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone1
CREATE INDEX ix_transit_by_company_phone1 ON transit (lower(company_phone1 COLLATE "C") NULLS FIRST, id) INCLUDE (company_phone1) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_city
CREATE INDEX ix_transit_by_city ON transit (lower(city COLLATE "C") NULLS FIRST, id) INCLUDE (city) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_state
CREATE INDEX ix_transit_by_state ON transit (lower(state COLLATE "C") NULLS FIRST, id) INCLUDE (state) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_zip_code
CREATE INDEX ix_transit_by_zip_code ON transit (lower(zip_code COLLATE "C") NULLS FIRST, id) INCLUDE (zip_code) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_created_at
CREATE INDEX ix_transit_by_created_at ON transit (created_at NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_updated_at
CREATE INDEX ix_transit_by_updated_at ON transit (updated_at NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_version
CREATE INDEX ix_transit_by_version ON transit (version NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone2
CREATE INDEX ix_transit_by_company_phone2 ON transit (lower(company_phone2 COLLATE "C") NULLS FIRST, id) INCLUDE (company_phone2) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone3
CREATE INDEX ix_transit_by_company_phone3 ON transit (lower(company_phone3 COLLATE "C") NULLS FIRST, id) INCLUDE (company_phone3) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_link
CREATE INDEX ix_transit_by_company_link ON transit (lower(substr(company_link, 1, 300) COLLATE "C") NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_route_name
CREATE INDEX ix_transit_by_route_name ON transit (lower(route_name COLLATE "C") NULLS FIRST, id) INCLUDE (route_name) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_place
CREATE INDEX ix_transit_by_place ON transit (lower(place COLLATE "C") NULLS FIRST, id) INCLUDE (place) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_description
CREATE INDEX ix_transit_by_description ON transit (lower(substr(description, 1, 300) COLLATE "C") NULLS FIRST, id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_status
CREATE INDEX ix_transit_by_status ON transit (lower(status COLLATE "C") NULLS FIRST, id) INCLUDE (status) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_deleted
CREATE INDEX ix_transit_deleted ON transit (deleted_at NULLS FIRST, id) WHERE deleted_at IS NOT NULL
-- undo: DROP INDEX IF EXISTS ix_transit_search
CREATE INDEX ix_transit_search ON transit USING gin (search_text gin_trgm_ops) WITH (fastupdate = on, gin_pending_list_limit = 256) WHERE deleted_at IS NULL
-- undo: DROP FUNCTION IF EXISTS transit_count()
CREATE OR REPLACE FUNCTION transit_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE first bigint; last bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM new_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'transit', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'transit', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    ELSIF TG_OP = 'DELETE' THEN 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, -1 AS n FROM old_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'transit', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'transit', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    ELSE 
        WITH changed AS MATERIALIZED (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, -1 AS n FROM old_rows UNION ALL SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM new_rows),
        noted AS (
            INSERT INTO record_change (kind, airport_code, choice, block, n)
            SELECT 'transit', code, pick, -1, sum(n) FROM changed GROUP BY code, pick HAVING sum(n) <> 0
            UNION ALL
            SELECT 'transit', '', '', block, sum(n) FROM changed
            WHERE block IS NOT NULL GROUP BY block HAVING sum(n) <> 0
            RETURNING id
        )
        SELECT min(id), max(id) INTO first, last FROM noted;
    END IF;
    IF (first - 1) / 256 <> last / 256 THEN
        PERFORM record_fold();
    END IF;
    RETURN NULL;
END $$
-- undo: DROP TRIGGER IF EXISTS transit_count_insert ON transit
CREATE TRIGGER transit_count_insert AFTER INSERT ON transit REFERENCING NEW TABLE AS new_rows  FOR EACH STATEMENT EXECUTE FUNCTION transit_count()
-- undo: DROP TRIGGER IF EXISTS transit_count_update ON transit
CREATE TRIGGER transit_count_update AFTER UPDATE ON transit REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows  FOR EACH STATEMENT EXECUTE FUNCTION transit_count()
-- undo: DROP TRIGGER IF EXISTS transit_count_delete ON transit
CREATE TRIGGER transit_count_delete AFTER DELETE ON transit REFERENCING OLD TABLE AS old_rows  FOR EACH STATEMENT EXECUTE FUNCTION transit_count()
-- undo:
DELETE FROM record_count WHERE kind = 'transit'
-- undo:
DELETE FROM record_block WHERE kind = 'transit'
-- undo:
DELETE FROM record_change WHERE kind = 'transit'
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
WITH pairs AS MATERIALIZED (SELECT code, pick, sum(n) AS n FROM (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM transit) AS r GROUP BY 1, 2),
live AS (SELECT * FROM pairs WHERE code <> '-')
SELECT 'transit', code, pick, n FROM pairs
UNION ALL SELECT 'transit', code, '*', sum(n) FROM live GROUP BY code
UNION ALL SELECT 'transit', '*', pick, sum(n) FROM live GROUP BY pick
UNION ALL SELECT 'transit', '*', '*', coalesce(sum(n), 0) FROM live
-- undo:
INSERT INTO record_block (kind, block, n)
SELECT 'transit', block, sum(n) FROM (SELECT CASE WHEN deleted_at IS NULL THEN airport_code ELSE '-' END AS code, CASE WHEN deleted_at IS NULL THEN coalesce(status, '') ELSE '*' END AS pick, CASE WHEN deleted_at IS NULL THEN id / 4096 END AS block, 1 AS n FROM transit) AS r WHERE block IS NOT NULL GROUP BY block
-- undo:
ANALYZE transit
