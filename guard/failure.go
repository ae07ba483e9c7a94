package guard

import (
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/policy"
)

// CodeFailed is the code of the decisions of a guard that failed.
const CodeFailed = "guard_failed"

// ErrFailed says that a guard decides nothing more. What Failed returns wraps it.
var ErrFailed = errors.New("guard failed")

// Failed returns why the guard decides nothing more, or nil. A panic of a detector, of a policy or of the run's own state fails the
// guard that it happens in, and no other: from then on all decisions are Allow with the code CodeFailed, and Snapshot returns this
// error. The agent goes on without its guard. A new guard, or one that is restored from an earlier snapshot, works again.
func (g *Guard) Failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// fail notes a panic. The lock is held.
func (g *Guard) fail(cause any) {
	g.failed = fmt.Errorf("%w at event %d: %v", ErrFailed, g.next-1, cause)
}

// failedDecision is what a guard that failed decides about everything.
func (g *Guard) failedDecision(tool string) Decision {
	return Decision{Action: policy.Allow, Code: CodeFailed, tool: tool, prefix: g.profile.MessagePrefix()}
}
