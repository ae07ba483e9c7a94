package store

import "errors"

// ErrCursor means that a cursor is not from the list.
var ErrCursor = errors.New("invalid cursor: it is not from this list")

// ErrInUse means that another server writes to the database.
var ErrInUse = errors.New("another server uses the database: stop it, or name another database")

// ErrFenced means that another server has written to the database since this one started, so the state in memory is stale.
var ErrFenced = errors.New("another server has written to the database since this server started; restart this server")

// ErrPartition means that a partition cannot be written through the view that a server opened: another server owns it now, or a commit
// failed. Its owner opens it again, at the position that the database has.
var ErrPartition = errors.New("the partition must be opened again")

// ErrShared means that a database of a cluster was opened by a single server, or the other way round.
var ErrShared = errors.New("a cluster and a single server cannot use the same database")

// ErrMoved means that the database file or its write-ahead log was deleted or replaced while the store had it open. Earlier
// records may be in the deleted file.
var ErrMoved = errors.New("the database file was deleted or replaced while the server used it; nothing is recorded until the server restarts")

// ErrBuckets means that the step of an overview is not positive, or so short that there are more than MaxBuckets buckets.
var ErrBuckets = errors.New("the step must be positive and give at most 10,000 buckets")

// ErrDuplicate means that the run of an event already has the event's id, where that is not expected. Nothing was written.
var ErrDuplicate = errors.New("a run already has an event with the same id")
