ALTER TABLE events ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX events_changed ON events (run, changed) WHERE changed > 0;
CREATE TABLE reindex (arrival INTEGER PRIMARY KEY);
