package policy

import (
	"cmp"
	"slices"

	"github.com/unloop-ai/unloop"
)

// maxWarnings bounds the warnings of one run; further ones are counted and dropped.
const maxWarnings = 1024

// Warnings are a run's findings, each raised once for its rule and subject. A warning is never withdrawn: when its count
// grows, message, culprit and evidence move on.
type Warnings struct {
	raised  map[warningKey]*unloop.Finding
	Dropped int // findings for which there was no room
}

type warningKey struct{ rule, subject string }

// Upsert takes a finding and reports whether it is new or has grown.
func (w *Warnings) Upsert(f unloop.Finding) bool {
	key := warningKey{f.Rule, f.Subject}
	f.Next = nil // it is for the policy, at the moment
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
		return true
	}
	if f.Count <= known.Count {
		return false
	}
	f.First = known.First
	*known = f
	return true
}

// warningSize is about what a warning takes in memory, in bytes, with its texts and evidence.
const warningSize = 2 << 10

// Size estimates the bytes that the warnings take in memory.
func (w *Warnings) Size() int { return len(w.raised) * warningSize }

// All returns the warnings, sorted by rule, then subject.
func (w *Warnings) All() []unloop.Finding {
	all := make([]unloop.Finding, 0, len(w.raised))
	for _, f := range w.raised {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b unloop.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return all
}

// Health says how well a run does: 100 is well, 0 is stuck.
type Health struct {
	Score  int    `json:"score"`
	Status string `json:"status"`
}

// The states of health.
const (
	Healthy     = "Healthy"      // 80 to 100
	Degraded    = "Warning"      // 50 to 79
	LikelyStuck = "Likely stuck" // 0 to 49
	Failed      = "Failed"       // the run ended in failure
)

// failedPenalty is what a run loses that ended in failure.
const failedPenalty = 30

// HealthOf takes the penalty of each warning from 100, and 30 from a failed run, and stays within 0 to 100.
func HealthOf(warnings []unloop.Finding, failed bool, penalty func(*unloop.Finding) int) Health {
	score := 100
	for k := range warnings {
		score -= penalty(&warnings[k])
	}
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
