// Package memory divides the memory of a server among its parts, in bytes. Package app gives each part its share. Parts that
// process requests take the memory of each request from a Pool.
package memory

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// part is the divisor of the default budget: a quarter of the memory of the machine or the container.
const part = 4

// Default returns the default budget: a quarter of the memory of the machine, or of the container if that is less (cgroup v1 or
// v2), and at least least. If neither is known it is least.
func Default(least int64) int64 {
	known := uint64(1) << 62
	for _, limit := range []memlimit.Provider{memlimit.FromSystem, memlimit.FromCgroup} {
		if bytes, err := limit(); err == nil && bytes > 0 {
			known = min(known, bytes)
		}
	}
	if known == 1<<62 {
		return least
	}
	return max(least, int64(known/part))
}

// Limit makes the budget the soft limit of the Go runtime, unless the environment sets GOMEMLIMIT.
func Limit(budget int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(budget)
	}
}

// Shares are the shares of the parts of a server in bytes. The rest of the budget, two sixteenths, is for the database, requests
// to the proxy for model APIs, and uncollected garbage.
type Shares struct {
	Bodies  int64 // requests over HTTP, as sent and as decoded
	Answers int64 // answers over HTTP that clients have not read
	Updates int64 // updates that streams have not sent
	Calls   int64 // requests over gRPC, as sent and as decoded
	Queue   int64 // events that wait to be recorded
	Traces  int64 // traces in memory
	Runs    int64 // runs in memory
	Guards  int64 // runs of guards over HTTP
}

// Split divides a budget.
func Split(budget int64) Shares {
	of := budget / 16
	return Shares{Bodies: 2 * of, Answers: 2 * of, Updates: of, Calls: of, Queue: 2 * of, Traces: 2 * of, Runs: 3 * of, Guards: of}
}
