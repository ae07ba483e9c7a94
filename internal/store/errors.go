package store

import "errors"

// ErrCursor says that a cursor is none that the list has given out.
var ErrCursor = errors.New("this is no cursor of this list")

// ErrInUse says that another server writes to the database.
var ErrInUse = errors.New("another server uses the database")

// ErrFenced says that another server wrote to the database since this one began, so that what this one remembers does not hold.
var ErrFenced = errors.New("another server has used the database in the meantime; start this one again")

// ErrMoved says that the database's file, or its write-ahead log, was deleted or replaced while the store had it open. What was
// recorded before may be in the file that is gone.
var ErrMoved = errors.New("the database file was deleted or replaced under the server, which records nothing until it is started again")

// ErrBuckets says that a summary was asked for with a step that is not above zero, or so short that it has more than MaxBuckets
// buckets.
var ErrBuckets = errors.New("the step does not fit the time")
