ALTER TABLE runs ADD COLUMN mean_novelty DOUBLE PRECISION NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN most_called TEXT NOT NULL DEFAULT '';
UPDATE runs SET
    mean_novelty = COALESCE((SELECT AVG(CAST(value AS DOUBLE PRECISION))
        FROM json_array_elements_text(CAST(shown AS JSON) -> 'preview' -> 'novelty')), 1),
    most_called = COALESCE(CAST(shown AS JSON) -> 'preview' -> 'tools' -> 0 ->> 'name', '')
    WHERE shown <> '';
CREATE TABLE waiting_notices (
    endpoint TEXT NOT NULL,
    run      BIGINT NOT NULL,
    warning  TEXT NOT NULL,
    since    BIGINT NOT NULL,
    state    BYTEA NOT NULL,
    PRIMARY KEY (endpoint, warning)
);
CREATE INDEX waiting_notices_run ON waiting_notices (run);
