UPDATE runs SET status = 'abandoned' WHERE status = 'closed';
UPDATE runs SET health = CASE health WHEN 'Likely stuck' THEN 'stuck' WHEN 'Warning' THEN 'repeated' ELSE 'healthy' END;
ALTER TABLE runs ADD COLUMN guarded_by TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN stop_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN stop_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN stop_cost REAL NOT NULL DEFAULT 0;
ALTER TABLE decisions ADD COLUMN by_guard INTEGER NOT NULL DEFAULT 0;
