CREATE TABLE traces (
    trace    TEXT NOT NULL,
    run      INTEGER NOT NULL,
    received INTEGER NOT NULL,
    PRIMARY KEY (trace, run)
);
CREATE INDEX traces_run ON traces (run, received);
INSERT INTO traces (trace, run, received)
    SELECT spans.trace, COALESCE(runs.number, 0), MAX(spans.received)
    FROM spans LEFT JOIN runs ON runs.number = spans.run
    GROUP BY spans.trace, COALESCE(runs.number, 0);
DROP INDEX spans_run;
ALTER TABLE spans DROP COLUMN run;
