ALTER TABLE runs ADD COLUMN refold TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_refold ON runs (number) WHERE refold <> '';
