package guard

import (
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/policy"
)

// CodeFailed is the code of the decisions of a guard that has failed.
const CodeFailed = "guard_failed"

// ErrFailed means that a guard no longer evaluates calls. The error that Failed returns wraps it.
var ErrFailed = errors.New("guard failed")

// Failed returns why the guard has failed, or nil. A guard fails if a detector, a policy or the state of its run panics. All later
// decisions of the guard are Allow with the code CodeFailed, so the agent continues without protection, and Snapshot returns this error.
// Other guards are not affected. To recover, use a new guard or restore an earlier snapshot.
func (g *Guard) Failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// fail records a panic. The caller holds the lock.
func (g *Guard) fail(cause any) {
	g.failed = fmt.Errorf("%w at event %d: %v", ErrFailed, g.next-1, cause)
}

// failedDecision is the decision of a failed guard.
func (g *Guard) failedDecision(tool string) Decision {
	return Decision{Action: policy.Allow, Code: CodeFailed, tool: tool, prefix: g.profile.MessagePrefix()}
}

// caught turns a panic in code of the application into an error. It is deferred.
func caught(doing string, err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%s: panic: %v", doing, cause)
	}
}

// reportError gives an error to a function of the application, which may be nil. A panic there has no effect.
func reportError(onError func(error), err error) {
	if onError == nil {
		return
	}
	defer func() { _ = recover() }()
	onError(err)
}
