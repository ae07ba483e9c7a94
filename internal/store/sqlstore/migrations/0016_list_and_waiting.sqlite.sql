ALTER TABLE runs ADD COLUMN mean_novelty REAL NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN most_called TEXT NOT NULL DEFAULT '';
UPDATE runs SET
    mean_novelty = COALESCE((SELECT AVG(value) FROM json_each(shown, '$.preview.novelty')), 1),
    most_called = COALESCE(json_extract(shown, '$.preview.tools[0].name'), '')
    WHERE json_valid(shown);
DROP INDEX runs_list;
CREATE INDEX runs_list ON runs (started, id, name, project, status, score, health, warnings, worst, tools, agents, models, guarded_by, events,
    duration, tokens, cost, updated, mean_novelty, most_called);
CREATE TABLE waiting_notices (
    endpoint TEXT NOT NULL,
    run      INTEGER NOT NULL,
    warning  TEXT NOT NULL,
    since    INTEGER NOT NULL,
    state    BLOB NOT NULL,
    PRIMARY KEY (endpoint, warning)
);
CREATE INDEX waiting_notices_run ON waiting_notices (run);
