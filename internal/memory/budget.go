// Package memory divides the memory of a server among its parts, in bytes. It stands at the edge: the parts are told their
// shares by package app, and those that work on requests take what a request needs from a Pool.
package memory

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// part is the part of the machine's or the container's memory that a server takes unless it is told otherwise: a quarter.
const part = 4

// Default returns the budget of a server that was told none: a quarter of the memory of the machine, or of the container where
// that has less (cgroup v1 or v2), and at least least. Where neither is known it is least.
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

// Shares are what the parts of a server may take, in bytes. What they leave of the budget, five sixteenths, is for the database,
// answers, streams, and what the garbage collector has not collected yet.
type Shares struct {
	Bodies int64 // requests over HTTP, as sent and as decoded
	Calls  int64 // requests over gRPC, as sent and as decoded
	Queue  int64 // events that wait to be recorded
	Traces int64 // traces whose spans are still joined
	Runs   int64 // runs that are folded
	Guards int64 // runs of agents that ask the guard over HTTP
}

// Split divides a budget.
func Split(budget int64) Shares {
	of := budget / 16
	return Shares{Bodies: 2 * of, Calls: of, Queue: 2 * of, Traces: 2 * of, Runs: 3 * of, Guards: of}
}
