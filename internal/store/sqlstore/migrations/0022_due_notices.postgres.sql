ALTER TABLE deliveries ADD COLUMN due BYTEA;
ALTER TABLE deliveries ADD COLUMN holder TEXT NOT NULL DEFAULT '';
INSERT INTO deliveries (warning, endpoint, level, at, run, due)
    SELECT warning, endpoint, COALESCE(CAST(convert_from(state, 'UTF8') AS JSON) -> 'decision' ->> 'Action', 'raised'), since, run, state
    FROM waiting_notices
    ON CONFLICT (warning, endpoint, level) DO NOTHING;
DROP TABLE waiting_notices;
CREATE INDEX deliveries_due ON deliveries (endpoint, holder, at) WHERE due IS NOT NULL;
