// Package findings keeps the findings of a run, one for each rule and subject, and checks those that come from a snapshot. Detectors
// make the findings. A profile.Session adds them, and shows the kept ones as warnings.
package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// maxWarnings bounds the warnings of one run. Further ones are dropped.
const maxWarnings = 1024

// Warnings are the findings of a run, one for each rule and subject, at most 1024. A warning is never removed. When its count
// grows, the latest finding replaces it, except for First. The zero value is ready to use. It is not safe for concurrent
// use.
type Warnings struct {
	raised map[warningKey]*unloop.Finding
	sorted []*unloop.Finding // of raised, by rule, then subject
}

type warningKey struct{ rule, subject string }

// Upsert adds or updates the warning for a finding. It reports whether the finding is new or its count has grown.
func (w *Warnings) Upsert(f unloop.Finding) bool {
	key := warningKey{f.Rule, f.Subject}
	f.Next = nil // only the policy needs it, at this event
	known, ok := w.raised[key]
	if !ok {
		if len(w.raised) >= maxWarnings {
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

// Penalty returns the sum of the penalties of the warnings.
func (w *Warnings) Penalty(penalty func(*unloop.Finding) int) int {
	sum := 0
	for _, f := range w.sorted {
		sum += penalty(f)
	}
	return sum
}

// Restore replaces the warnings by those that All returned. On an error, which invalid values or too many warnings cause, w is
// unchanged. Of several warnings with the same rule and subject, the last is kept.
func (w *Warnings) Restore(all []unloop.Finding) error {
	var c snapshot.Check
	c.Count("number of warnings", len(all), maxWarnings)
	raised := make(map[warningKey]*unloop.Finding, min(len(all), maxWarnings))
	for k := range all {
		f := all[k]
		c.Part(fmt.Sprintf("warning %d", k), Validate(&f))
		if c.Err() != nil {
			return c.Err()
		}
		raised[warningKey{f.Rule, f.Subject}] = &f
	}
	w.raised, w.sorted = raised, slices.SortedFunc(maps.Values(raised), byRule)
	return nil
}

// Named returns the finding whose What equals the message of a decision, else the first. There must be one.
func Named(all []unloop.Finding, message string) unloop.Finding {
	k := slices.IndexFunc(all, func(f unloop.Finding) bool { return f.What == message })
	return all[max(k, 0)]
}

// Validate checks the numbers of a finding. Any text is valid.
func Validate(f *unloop.Finding) error {
	var c snapshot.Check
	c.Count("Count", f.Count, snapshot.MaxCount)
	c.Count("Period", f.Period, snapshot.MaxCount)
	c.Count("Workers", f.Workers, snapshot.MaxCount)
	c.Count("Event.Number", f.Event.Number, snapshot.MaxCount)
	c.Count("First.Number", f.First.Number, snapshot.MaxCount)
	for k := range f.Evidence {
		c.Count("Evidence.Number", f.Evidence[k].Number, snapshot.MaxCount)
	}
	return c.Err()
}
