package policy

import "github.com/unloop-ai/unloop"

// The codes of an Escalation.
const (
	CodeCycleWarning       = "cycle_warning"
	CodeCycleWarningStrong = "cycle_warning_strong"
	CodeLoopDetected       = "LOOP_DETECTED"
)

// maxPatterns bounds the patterns that an Escalation remembers. Beyond it, a new pattern begins anew each time.
const maxPatterns = 1024

// Escalation is the policy of the profile cycles: the first detection of a pattern warns, the second warns harder, the third
// halts. A pattern that was broken off and comes back, perhaps turned round, goes on from where it was.
type Escalation struct {
	detections detections
}

// detections counts how often each pattern was detected.
type detections map[unloop.Hash]int

// State returns what a snapshot must hold.
func (e *Escalation) State() any { return &e.detections }

// Decide counts a detection of the cycle that was found.
func (e *Escalation) Decide(r *unloop.Run, found, _ []unloop.Finding) Decision {
	if len(found) == 0 {
		return Decision{}
	}
	f := &found[0]
	d := Decision{
		Action: Warn, Code: CodeCycleWarning, Message: f.What, Count: f.Count, Rule: f.Rule, Subject: f.Subject, Findings: found[:1],
	}
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
