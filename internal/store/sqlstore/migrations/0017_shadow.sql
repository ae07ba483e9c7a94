CREATE TABLE shadow_verdicts (
    run          INTEGER PRIMARY KEY,
    judge        TEXT NOT NULL,
    arrival      INTEGER NOT NULL,
    worst        INTEGER NOT NULL,
    first_event  TEXT NOT NULL,
    first_number INTEGER NOT NULL
);
