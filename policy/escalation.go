package policy

import (
	"encoding/json"

	"github.com/unloop-ai/unloop"
)

// The codes of the decisions of an Escalation.
const (
	CodeCycleWarning       = "cycle_warning"
	CodeCycleWarningStrong = "cycle_warning_strong"
	CodeLoopDetected       = "LOOP_DETECTED"
)

// maxPatterns bounds the patterns that an Escalation remembers. Beyond it, each detection of a new pattern is the first.
const maxPatterns = 1024

// Escalation is the policy of the profile cycles. The first detection of a pattern warns, the second warns more strongly, and
// every further one halts. The count of a pattern does not expire, and rotations of a pattern share a count. Detections
// come from rules that set Finding.Period. The zero value is ready to use.
type Escalation struct {
	detections detections
}

// detections counts the detections of each pattern.
type detections map[unloop.Hash]int

// Snapshot returns the counts of the patterns as JSON.
func (e *Escalation) Snapshot() ([]byte, error) { return json.Marshal(e.detections) }

// Restore replaces the counts by those that Snapshot returned. On an error, the counts are unchanged.
func (e *Escalation) Restore(data []byte) error { return restore(&e.detections, data) }

// Decide counts a detection of the cycle in the first finding. It ignores the others.
func (e *Escalation) Decide(r *unloop.Run, found, _ []unloop.Finding) Decision {
	if len(found) == 0 {
		return Decision{}
	}
	f := &found[0]
	d := decisionOn(f, Warn, CodeCycleWarning, found[:1])
	switch e.detect(r.CallPeriods().Pattern(f.Period)) {
	case 1:
	case 2:
		d.Code = CodeCycleWarningStrong
	default:
		d.Action, d.Code = Halt, CodeLoopDetected
	}
	return d
}

func (e *Escalation) detect(pattern unloop.Hash) int {
	if e.detections == nil {
		e.detections = make(detections)
	}
	if n, ok := e.detections[pattern]; ok || len(e.detections) < maxPatterns {
		e.detections[pattern] = n + 1
		return n + 1
	}
	return 1
}
