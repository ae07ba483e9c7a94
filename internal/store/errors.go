package store

import "errors"

// ErrCursor means that a cursor is not from the list.
var ErrCursor = errors.New("this is no cursor of this list")

// ErrInUse means that another server writes to the database.
var ErrInUse = errors.New("another server uses the database")

// ErrFenced means that another server has written to the database since this one started, so the state in memory is stale.
var ErrFenced = errors.New("another server has used the database in the meantime; start this one again")

// ErrMoved means that the database file or its write-ahead log was deleted or replaced while the store had it open. Earlier
// records may be in the deleted file.
var ErrMoved = errors.New("the database file was deleted or replaced under the server, which records nothing until it is started again")

// ErrBuckets means that the step of an overview is not positive, or so short that there are more than MaxBuckets buckets.
var ErrBuckets = errors.New("the step does not fit the time")

// ErrDoubled means that the run of an event already has the event's id, where that is not expected. Nothing was written.
var ErrDoubled = errors.New("a run already has an event with the same id")
