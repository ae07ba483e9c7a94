CREATE TABLE runs (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    project      TEXT NOT NULL,
    status       TEXT NOT NULL,
    profile      TEXT NOT NULL,
    started      INTEGER NOT NULL,
    ended        INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    arrival      INTEGER NOT NULL,
    metadata     BLOB,
    tools        TEXT NOT NULL,
    score        INTEGER NOT NULL,
    health       TEXT NOT NULL,
    warnings     INTEGER NOT NULL,
    worst        INTEGER NOT NULL,
    warned       INTEGER NOT NULL,
    after_calls  INTEGER NOT NULL,
    after_tokens INTEGER NOT NULL,
    after_cost   REAL NOT NULL,
    events       INTEGER NOT NULL,
    duration     REAL NOT NULL,
    llm_calls    INTEGER NOT NULL,
    tool_calls   INTEGER NOT NULL,
    retries      INTEGER NOT NULL,
    handoffs     INTEGER NOT NULL,
    errors       INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    cost         REAL NOT NULL,
    mean_latency REAL NOT NULL,
    max_latency  REAL NOT NULL,
    busiest_tool TEXT,
    busiest_agent TEXT,
    bytes        INTEGER NOT NULL
);
CREATE INDEX runs_started ON runs (started);
CREATE INDEX runs_arrival ON runs (arrival);
CREATE INDEX runs_status ON runs (status, started);
CREATE INDEX runs_project ON runs (project, started);
CREATE INDEX runs_over ON runs (updated) WHERE status <> 'running';

CREATE TABLE events (
    arrival     INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL,
    id          TEXT NOT NULL,
    at_sequence INTEGER NOT NULL,
    at_time     INTEGER NOT NULL,
    at_tie      INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    body        BLOB NOT NULL
);
CREATE UNIQUE INDEX events_id ON events (run, id);
CREATE INDEX events_order ON events (run, at_sequence, at_time, at_tie);

CREATE TABLE spans (
    trace    TEXT NOT NULL,
    id       TEXT NOT NULL,
    run      INTEGER NOT NULL,
    received INTEGER NOT NULL,
    body     BLOB NOT NULL,
    PRIMARY KEY (trace, id)
);
CREATE INDEX spans_run ON spans (run, received);

CREATE TABLE warnings (
    run      INTEGER NOT NULL,
    id       TEXT NOT NULL,
    rule     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    severity TEXT NOT NULL,
    tool     TEXT NOT NULL,
    count    INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    message  TEXT NOT NULL,
    details  BLOB,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    PRIMARY KEY (run, id)
);
CREATE INDEX warnings_rule ON warnings (rule, run);

CREATE TABLE decisions (
    run         INTEGER NOT NULL,
    at_sequence INTEGER NOT NULL,
    at_time     INTEGER NOT NULL,
    at_tie      INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    event_id    TEXT NOT NULL,
    action      INTEGER NOT NULL,
    code        TEXT NOT NULL,
    message     TEXT NOT NULL,
    PRIMARY KEY (run, at_sequence, at_time, at_tie, number)
);

CREATE TABLE checkpoints (
    run         INTEGER NOT NULL,
    at_sequence INTEGER NOT NULL,
    at_time     INTEGER NOT NULL,
    at_tie      INTEGER NOT NULL,
    events      INTEGER NOT NULL,
    state       BLOB NOT NULL,
    PRIMARY KEY (run, at_sequence, at_time, at_tie)
);

CREATE TABLE deliveries (
    warning  TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    level    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (warning, endpoint, level)
);

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
);
