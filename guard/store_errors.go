package guard

import (
	"context"
	"sync/atomic"
)

// storeErrors counts the errors of a store. The zero value is ready to use.
type storeErrors struct {
	count    atomic.Int64
	reported atomic.Bool
}

// note counts err, and gives the first error to onError, which may be nil. An error after the caller's context was done is counted and
// not reported.
func (s *storeErrors) note(ctx context.Context, err error, onError func(error)) {
	s.count.Add(1)
	if ctx.Err() == nil && !s.reported.Swap(true) {
		reportError(onError, err)
	}
}
