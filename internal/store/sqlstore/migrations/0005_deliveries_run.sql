ALTER TABLE deliveries ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET run = COALESCE((SELECT MIN(run) FROM warnings WHERE warnings.id = deliveries.warning), 0);
DELETE FROM deliveries WHERE run = 0;
CREATE INDEX deliveries_run ON deliveries (run);
