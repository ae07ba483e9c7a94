UPDATE runs SET
    events = COALESCE(CAST(CAST(shown AS JSON) -> 'metrics' ->> 'total_events' AS BIGINT), 0),
    duration = COALESCE(CAST(CAST(shown AS JSON) -> 'metrics' ->> 'total_duration_sec' AS DOUBLE PRECISION), 0),
    mean_latency = COALESCE(CAST(CAST(shown AS JSON) -> 'metrics' ->> 'average_latency_ms' AS DOUBLE PRECISION), 0)
    WHERE shown <> '';
CREATE TABLE search (rowid BIGINT PRIMARY KEY, words TSVECTOR NOT NULL);
CREATE INDEX search_words ON search USING gin (words);
