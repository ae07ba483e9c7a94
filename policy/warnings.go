package policy

import (
	"cmp"
	"slices"

	"github.com/unloop-ai/unloop"
)

// maxWarnings bounds the warnings of one run. Further ones are dropped and counted.
const maxWarnings = 1024

// Warnings are the findings of a run, one for each rule and subject, at most 1024. A warning is never removed. When its count
// grows, the latest finding replaces it, except for First. The zero value is ready to use. It is not safe for concurrent
// use.
type Warnings struct {
	raised  map[warningKey]*unloop.Finding
	sorted  []*unloop.Finding // of raised, by rule, then subject
	Dropped int               // findings that were dropped for lack of room
}

type warningKey struct{ rule, subject string }

// Upsert adds or updates the warning for a finding. It reports whether the finding is new or its count has grown.
func (w *Warnings) Upsert(f unloop.Finding) bool {
	key := warningKey{f.Rule, f.Subject}
	f.Next = nil // only the policy needs it, at this event
	known, ok := w.raised[key]
	if !ok {
		if len(w.raised) >= maxWarnings {
			w.Dropped++
			return false
		}
		if w.raised == nil {
			w.raised = make(map[warningKey]*unloop.Finding)
		}
		w.raised[key] = &f
		k, _ := slices.BinarySearchFunc(w.sorted, &f, byRule)
		w.sorted = slices.Insert(w.sorted, k, &f)
		return true
	}
	if f.Count <= known.Count {
		return false
	}
	f.First = known.First
	*known = f
	return true
}

// warningSize is the approximate memory of a warning with its texts and evidence, in bytes.
const warningSize = 2 << 10

// Size estimates the memory of the warnings in bytes.
func (w *Warnings) Size() int { return len(w.raised) * warningSize }

// byRule orders findings by rule, then subject.
func byRule(a, b *unloop.Finding) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
}

// All returns the warnings, sorted by rule, then subject.
func (w *Warnings) All() []unloop.Finding {
	all := make([]unloop.Finding, 0, len(w.sorted))
	for _, f := range w.sorted {
		all = append(all, *f)
	}
	return all
}

// Find returns the warning of a rule and subject, and whether there is one.
func (w *Warnings) Find(rule, subject string) (unloop.Finding, bool) {
	if f, ok := w.raised[warningKey{rule, subject}]; ok {
		return *f, true
	}
	return unloop.Finding{}, false
}

// Health is HealthOf for these warnings, without a copy of them.
func (w *Warnings) Health(failed bool, penalty func(*unloop.Finding) int) Health {
	score := 100
	for _, f := range w.sorted {
		score -= penalty(f)
	}
	return healthAt(score, failed)
}

// Health is the health of a run.
type Health struct {
	Score  int    `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status string `json:"status"` // one of the states below
}

// The states of health.
const (
	Healthy     = "Healthy"      // 80 to 100
	Degraded    = "Warning"      // 50 to 79
	LikelyStuck = "Likely stuck" // 0 to 49
	Failed      = "Failed"       // the run ended in failure
)

// failedPenalty is the penalty of a run that ended in failure.
const failedPenalty = 30

// HealthOf returns the health of a run: 100 less the penalty of each warning, less 30 if the run failed, and at least 0. The
// status of a failed run is Failed, whatever its score.
func HealthOf(warnings []unloop.Finding, failed bool, penalty func(*unloop.Finding) int) Health {
	score := 100
	for k := range warnings {
		score -= penalty(&warnings[k])
	}
	return healthAt(score, failed)
}

// healthAt returns the health for a score before the penalty of a run that failed.
func healthAt(score int, failed bool) Health {
	if failed {
		score -= failedPenalty
	}
	score = max(score, 0)
	switch {
	case failed:
		return Health{score, Failed}
	case score >= 80:
		return Health{score, Healthy}
	case score >= 50:
		return Health{score, Degraded}
	}
	return Health{score, LikelyStuck}
}
