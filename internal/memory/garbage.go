package memory

import (
	"os"
	"runtime/debug"
	"sync/atomic"
)

const (
	garbagePart = 32        // the garbage is at most this part of the budget,
	maxGarbage  = 128 << 20 // and this number of bytes
)

// reserved is the allocation of LimitLater. It is never written, so it takes addresses and no memory.
var reserved atomic.Pointer[[]byte]

// outsidePart is the part of the budget for memory that the Go runtime does not manage: the database's cache, and the program itself.
const outsidePart = 16

// LimitLater limits the runtime to the budget without a sixteenth, which is for memory that the runtime does not manage. Besides, it
// lets a 32nd of the budget, at most 128 MiB, be garbage. The Go runtime collects garbage when the heap
// is twice as large as what is in use. A server that uses little then collects often. So LimitLater makes the heap larger by an allocation
// that has no content, and the limit with it. It does so only if the environment sets neither GOGC nor GOMEMLIMIT.
func LimitLater(budget int64) {
	inside := budget - budget/outsidePart
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		Limit(inside)
		return
	}
	size := min(budget/garbagePart, maxGarbage)
	if before := reserved.Load(); before == nil || int64(len(*before)) != size { // a second allocation could be written, with zeros
		room := make([]byte, size)
		reserved.Store(&room)
	}
	debug.SetMemoryLimit(inside + size)
}
