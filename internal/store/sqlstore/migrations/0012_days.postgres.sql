ALTER TABLE events RENAME TO events_undated;
ALTER INDEX events_pkey RENAME TO events_undated_arrival;
ALTER INDEX events_id RENAME TO events_undated_id;
ALTER INDEX events_order RENAME TO events_undated_order;
CREATE TABLE events (LIKE events_undated INCLUDING DEFAULTS) PARTITION BY RANGE (run);
CREATE UNIQUE INDEX events_id ON events (run, id);
CREATE INDEX events_order ON events (run, at_sequence, at_time, at_tie);
ALTER TABLE events ATTACH PARTITION events_undated FOR VALUES FROM (MINVALUE) TO (4294967296);

ALTER TABLE search RENAME TO search_rowid;
DROP INDEX search_words;
CREATE TABLE search (run BIGINT NOT NULL, arrival BIGINT NOT NULL, words TSVECTOR NOT NULL) PARTITION BY RANGE (run);
CREATE TABLE search_undated PARTITION OF search FOR VALUES FROM (MINVALUE) TO (4294967296);
INSERT INTO search (run, arrival, words) SELECT rowid >> 36, rowid & 68719476735, words FROM search_rowid;
DROP TABLE search_rowid;
CREATE UNIQUE INDEX search_event ON search (run, arrival);
CREATE INDEX search_words ON search USING gin (words);
