CREATE TABLE acts (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    who     TEXT NOT NULL,
    action  TEXT NOT NULL,
    run     INTEGER NOT NULL,
    run_id  TEXT NOT NULL,
    warning TEXT NOT NULL,
    rule    TEXT NOT NULL,
    tool    TEXT NOT NULL,
    project TEXT NOT NULL,
    value   TEXT NOT NULL,
    note    TEXT NOT NULL
);
CREATE TABLE labels (
    run   INTEGER PRIMARY KEY,
    label TEXT NOT NULL,
    note  TEXT NOT NULL,
    who   TEXT NOT NULL,
    at    INTEGER NOT NULL
);
CREATE INDEX labels_at ON labels (at);
CREATE TABLE acknowledgements (
    run     INTEGER NOT NULL,
    warning TEXT NOT NULL,
    who     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (run, warning)
);
CREATE TABLE mutes (
    act INTEGER PRIMARY KEY
);
