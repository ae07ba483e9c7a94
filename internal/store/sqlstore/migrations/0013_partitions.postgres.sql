CREATE TABLE servers (
    name    TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    works   BOOLEAN NOT NULL,
    expires TIMESTAMPTZ NOT NULL
);
CREATE TABLE partitions (
    id       INTEGER PRIMARY KEY,
    owner    TEXT NOT NULL,
    epoch    BIGINT NOT NULL,
    stream   TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    arrival  BIGINT NOT NULL,
    number   BIGINT NOT NULL,
    flushed  BIGINT NOT NULL
);
