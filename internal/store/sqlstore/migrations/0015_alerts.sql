CREATE TABLE alerts (
    act      INTEGER PRIMARY KEY,
    settings BLOB NOT NULL
);
