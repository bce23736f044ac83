-- What revision 0006 makes, a statement after each line "undo:", which says how it is removed again.
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_id
CREATE INDEX ix_scheduledbus_by_id ON scheduledbus (id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_airport_code
CREATE INDEX ix_scheduledbus_by_airport_code ON scheduledbus (airport_code COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_airport_name
CREATE INDEX ix_scheduledbus_by_airport_name ON scheduledbus (airport_name COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_name
CREATE INDEX ix_scheduledbus_by_company_name ON scheduledbus (company_name COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_address
CREATE INDEX ix_scheduledbus_by_company_address ON scheduledbus (company_address COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_company_phone1
CREATE INDEX ix_scheduledbus_by_company_phone1 ON scheduledbus (company_phone1 COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_city
CREATE INDEX ix_scheduledbus_by_city ON scheduledbus (city COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_state
CREATE INDEX ix_scheduledbus_by_state ON scheduledbus (state COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_zip_code
CREATE INDEX ix_scheduledbus_by_zip_code ON scheduledbus (zip_code COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_created_at
CREATE INDEX ix_scheduledbus_by_created_at ON scheduledbus (created_at) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_updated_at
CREATE INDEX ix_scheduledbus_by_updated_at ON scheduledbus (updated_at) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_by_version
CREATE INDEX ix_scheduledbus_by_version ON scheduledbus (version) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_scheduledbus_deleted
CREATE INDEX ix_scheduledbus_deleted ON scheduledbus (deleted_at) WHERE deleted_at IS NOT NULL
-- undo: DROP VIEW IF EXISTS scheduledbus_live
CREATE VIEW scheduledbus_live AS SELECT id, search_text FROM scheduledbus WHERE deleted_at IS NULL
-- undo: DROP TABLE IF EXISTS scheduledbus_search
CREATE VIRTUAL TABLE scheduledbus_search USING fts5(search_text, content='scheduledbus_live', content_rowid='id', tokenize='trigram case_sensitive 1', columnsize=0)
-- undo: DROP TABLE IF EXISTS scheduledbus_search_terms
CREATE VIRTUAL TABLE scheduledbus_search_terms USING fts5vocab(scheduledbus_search, row)
-- undo: DROP TRIGGER IF EXISTS scheduledbus_search_insert
CREATE TRIGGER scheduledbus_search_insert AFTER INSERT ON scheduledbus WHEN NEW.deleted_at IS NULL BEGIN
INSERT INTO scheduledbus_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE NEW.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS scheduledbus_search_delete
CREATE TRIGGER scheduledbus_search_delete AFTER DELETE ON scheduledbus WHEN OLD.deleted_at IS NULL BEGIN
INSERT INTO scheduledbus_search (scheduledbus_search, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE OLD.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS scheduledbus_search_update
CREATE TRIGGER scheduledbus_search_update AFTER UPDATE OF search_text, deleted_at ON scheduledbus WHEN OLD.search_text IS NOT NEW.search_text OR (OLD.deleted_at IS NULL) IS NOT (NEW.deleted_at IS NULL) BEGIN
INSERT INTO scheduledbus_search (scheduledbus_search, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE OLD.deleted_at IS NULL;
INSERT INTO scheduledbus_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE NEW.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_insert
CREATE TRIGGER scheduledbus_count_insert AFTER INSERT ON scheduledbus WHEN 1 BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', NEW.airport_code, '', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', NEW.airport_code, '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '-', '*', 1 WHERE NOT (NEW.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_block (kind, block, n) SELECT 'scheduledbus', NEW.id / 4096, 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
END
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_delete
CREATE TRIGGER scheduledbus_count_delete AFTER DELETE ON scheduledbus WHEN 1 BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', OLD.airport_code, '', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', OLD.airport_code, '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '-', '*', -1 WHERE NOT (OLD.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_block (kind, block, n) SELECT 'scheduledbus', OLD.id / 4096, -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
END
-- undo: DROP TRIGGER IF EXISTS scheduledbus_count_update
CREATE TRIGGER scheduledbus_count_update AFTER UPDATE OF airport_code, deleted_at ON scheduledbus WHEN OLD.airport_code IS NOT NEW.airport_code OR (OLD.deleted_at IS NULL) IS NOT (NEW.deleted_at IS NULL) BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', OLD.airport_code, '', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', OLD.airport_code, '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '-', '*', -1 WHERE NOT (OLD.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_block (kind, block, n) SELECT 'scheduledbus', OLD.id / 4096, -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', NEW.airport_code, '', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', NEW.airport_code, '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '*', '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'scheduledbus', '-', '*', 1 WHERE NOT (NEW.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_block (kind, block, n) SELECT 'scheduledbus', NEW.id / 4096, 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
END
-- undo:
INSERT INTO scheduledbus_search (scheduledbus_search) VALUES ('rebuild')
-- undo:
DELETE FROM record_count WHERE kind = 'scheduledbus'
-- undo:
DELETE FROM record_block WHERE kind = 'scheduledbus'
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
WITH pairs AS MATERIALIZED (
    SELECT airport_code AS code, '' AS choice, count(*) AS n FROM scheduledbus WHERE deleted_at IS NULL GROUP BY 1, 2)
SELECT 'scheduledbus', code, choice, n FROM pairs
UNION ALL SELECT 'scheduledbus', code, '*', sum(n) FROM pairs GROUP BY code
UNION ALL SELECT 'scheduledbus', '*', choice, sum(n) FROM pairs GROUP BY choice
UNION ALL SELECT 'scheduledbus', '*', '*', coalesce(sum(n), 0) FROM pairs
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
SELECT 'scheduledbus', '-', '*', count(*) FROM scheduledbus WHERE deleted_at IS NOT NULL
-- undo:
INSERT INTO record_block (kind, block, n)
SELECT 'scheduledbus', id / 4096, count(*) FROM scheduledbus WHERE deleted_at IS NULL GROUP BY 2
-- undo:
ANALYZE scheduledbus
-- undo: DROP INDEX IF EXISTS ix_transit_by_id
CREATE INDEX ix_transit_by_id ON transit (id) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_airport_code
CREATE INDEX ix_transit_by_airport_code ON transit (airport_code COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_airport_name
CREATE INDEX ix_transit_by_airport_name ON transit (airport_name COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_name
CREATE INDEX ix_transit_by_company_name ON transit (company_name COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_address
CREATE INDEX ix_transit_by_company_address ON transit (company_address COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone1
CREATE INDEX ix_transit_by_company_phone1 ON transit (company_phone1 COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_city
CREATE INDEX ix_transit_by_city ON transit (city COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_state
CREATE INDEX ix_transit_by_state ON transit (state COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_zip_code
CREATE INDEX ix_transit_by_zip_code ON transit (zip_code COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_created_at
CREATE INDEX ix_transit_by_created_at ON transit (created_at) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_updated_at
CREATE INDEX ix_transit_by_updated_at ON transit (updated_at) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_version
CREATE INDEX ix_transit_by_version ON transit (version) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone2
CREATE INDEX ix_transit_by_company_phone2 ON transit (company_phone2 COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_phone3
CREATE INDEX ix_transit_by_company_phone3 ON transit (company_phone3 COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_company_link
CREATE INDEX ix_transit_by_company_link ON transit (company_link COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_route_name
CREATE INDEX ix_transit_by_route_name ON transit (route_name COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_place
CREATE INDEX ix_transit_by_place ON transit (place COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_description
CREATE INDEX ix_transit_by_description ON transit (description COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_by_status
CREATE INDEX ix_transit_by_status ON transit (status COLLATE NOCASE) WHERE deleted_at IS NULL
-- undo: DROP INDEX IF EXISTS ix_transit_deleted
CREATE INDEX ix_transit_deleted ON transit (deleted_at) WHERE deleted_at IS NOT NULL
-- undo: DROP VIEW IF EXISTS transit_live
CREATE VIEW transit_live AS SELECT id, search_text FROM transit WHERE deleted_at IS NULL
-- undo: DROP TABLE IF EXISTS transit_search
CREATE VIRTUAL TABLE transit_search USING fts5(search_text, content='transit_live', content_rowid='id', tokenize='trigram case_sensitive 1', columnsize=0)
-- undo: DROP TABLE IF EXISTS transit_search_terms
CREATE VIRTUAL TABLE transit_search_terms USING fts5vocab(transit_search, row)
-- undo: DROP TRIGGER IF EXISTS transit_search_insert
CREATE TRIGGER transit_search_insert AFTER INSERT ON transit WHEN NEW.deleted_at IS NULL BEGIN
INSERT INTO transit_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE NEW.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS transit_search_delete
CREATE TRIGGER transit_search_delete AFTER DELETE ON transit WHEN OLD.deleted_at IS NULL BEGIN
INSERT INTO transit_search (transit_search, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE OLD.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS transit_search_update
CREATE TRIGGER transit_search_update AFTER UPDATE OF search_text, deleted_at ON transit WHEN OLD.search_text IS NOT NEW.search_text OR (OLD.deleted_at IS NULL) IS NOT (NEW.deleted_at IS NULL) BEGIN
INSERT INTO transit_search (transit_search, rowid, search_text) SELECT 'delete', OLD.id, OLD.search_text WHERE OLD.deleted_at IS NULL;
INSERT INTO transit_search (rowid, search_text) SELECT NEW.id, NEW.search_text WHERE NEW.deleted_at IS NULL;
END
-- undo: DROP TRIGGER IF EXISTS transit_count_insert
CREATE TRIGGER transit_count_insert AFTER INSERT ON transit WHEN 1 BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', NEW.airport_code, coalesce(NEW.status, ''), 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', NEW.airport_code, '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', coalesce(NEW.status, ''), 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '-', '*', 1 WHERE NOT (NEW.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_block (kind, block, n) SELECT 'transit', NEW.id / 4096, 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
END
-- undo: DROP TRIGGER IF EXISTS transit_count_delete
CREATE TRIGGER transit_count_delete AFTER DELETE ON transit WHEN 1 BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', OLD.airport_code, coalesce(OLD.status, ''), -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', OLD.airport_code, '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', coalesce(OLD.status, ''), -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '-', '*', -1 WHERE NOT (OLD.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_block (kind, block, n) SELECT 'transit', OLD.id / 4096, -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
END
-- undo: DROP TRIGGER IF EXISTS transit_count_update
CREATE TRIGGER transit_count_update AFTER UPDATE OF airport_code, status, deleted_at ON transit WHEN OLD.airport_code IS NOT NEW.airport_code OR OLD.status IS NOT NEW.status OR (OLD.deleted_at IS NULL) IS NOT (NEW.deleted_at IS NULL) BEGIN
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', OLD.airport_code, coalesce(OLD.status, ''), -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', OLD.airport_code, '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', coalesce(OLD.status, ''), -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', '*', -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '-', '*', -1 WHERE NOT (OLD.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_block (kind, block, n) SELECT 'transit', OLD.id / 4096, -1 WHERE OLD.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + -1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', NEW.airport_code, coalesce(NEW.status, ''), 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', NEW.airport_code, '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', coalesce(NEW.status, ''), 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '*', '*', 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_count (kind, airport_code, choice, n) SELECT 'transit', '-', '*', 1 WHERE NOT (NEW.deleted_at IS NULL) ON CONFLICT DO UPDATE SET n = n + 1;
INSERT INTO record_block (kind, block, n) SELECT 'transit', NEW.id / 4096, 1 WHERE NEW.deleted_at IS NULL ON CONFLICT DO UPDATE SET n = n + 1;
END
-- undo:
INSERT INTO transit_search (transit_search) VALUES ('rebuild')
-- undo:
DELETE FROM record_count WHERE kind = 'transit'
-- undo:
DELETE FROM record_block WHERE kind = 'transit'
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
WITH pairs AS MATERIALIZED (
    SELECT airport_code AS code, coalesce(status, '') AS choice, count(*) AS n FROM transit WHERE deleted_at IS NULL GROUP BY 1, 2)
SELECT 'transit', code, choice, n FROM pairs
UNION ALL SELECT 'transit', code, '*', sum(n) FROM pairs GROUP BY code
UNION ALL SELECT 'transit', '*', choice, sum(n) FROM pairs GROUP BY choice
UNION ALL SELECT 'transit', '*', '*', coalesce(sum(n), 0) FROM pairs
-- undo:
INSERT INTO record_count (kind, airport_code, choice, n)
SELECT 'transit', '-', '*', count(*) FROM transit WHERE deleted_at IS NOT NULL
-- undo:
INSERT INTO record_block (kind, block, n)
SELECT 'transit', id / 4096, count(*) FROM transit WHERE deleted_at IS NULL GROUP BY 2
-- undo:
ANALYZE transit
