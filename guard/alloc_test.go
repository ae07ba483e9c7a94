package guard

import (
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// A call of a healthy run allocates the ids of its two events, besides what the session itself allocates: nothing on average, or buffers
// under the race detector, which takes some out of their pool.
func TestACallAllocatesTheIDsOfItsEventsOnly(t *testing.T) {
	calls := benchCalls(600)
	for _, name := range profile.Names() {
		if name == "looplens" || name == "loopguard" {
			continue // they warn about every call of this run
		}
		t.Run(name, func(t *testing.T) {
			p, err := profile.New(name)
			if err != nil {
				t.Fatal(err)
			}
			g, w := New(p, Options{Now: benchClock}), p.NewSession("")
			own := allocations(calls, func(c *benchCall) { callOnce(g, c) })
			session := allocations(calls, func(c *benchCall) {
				w.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: c.call.Tool, Input: c.call.Args})
				w.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: c.call.Tool, Input: c.call.Args, Output: c.outcome.Result})
			})
			if own > session+5 { // both are rounded, and the pool differs from time to time
				t.Errorf("a call allocates %v times, a session %v times", own, session)
			}
		})
	}
}

// allocations returns how often one of the later calls allocates on average.
func allocations(calls []benchCall, do func(*benchCall)) float64 {
	next := 0
	call := func() {
		do(&calls[next])
		next++
	}
	for range len(calls) / 2 {
		call()
	}
	return testing.AllocsPerRun(len(calls)/2-1, call)
}
