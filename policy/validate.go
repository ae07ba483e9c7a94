package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// maxNext bounds the targets that a ladder blocks. Findings of package detect have at most unloop.MaxPeriod of them.
const maxNext = 1024

// Validate reports the first value that no Ladder can have written.
func (s *ladderState) Validate() error {
	var c snapshot.Check
	c.Count("Rung", s.Level, len(levels)-1)
	c.Count("Held", s.Held, snapshot.MaxCount)
	c.Count("News", s.Novelty, noveltyPerLevel-1)
	c.Count("number of targets", len(s.Next), maxNext)
	c.Part("Told", validateFinding(&s.Finding))
	return c.Err()
}

// Validate reports the first value that no Escalation can have written.
func (d detections) Validate() error {
	var c snapshot.Check
	c.Count("number of patterns", len(d), maxPatterns)
	for _, n := range d {
		c.That(n > 0, "a pattern was detected %d times", n)
		c.Count("detections of a pattern", n, snapshot.MaxCount)
	}
	return c.Err()
}

// Restore replaces the warnings by those that All returned. On an error, which invalid values or too many warnings cause, w is
// unchanged. Of several warnings with the same rule and subject, the last is kept.
func (w *Warnings) Restore(all []unloop.Finding) error {
	var c snapshot.Check
	c.Count("number of warnings", len(all), maxWarnings)
	raised := make(map[warningKey]*unloop.Finding, min(len(all), maxWarnings))
	for k := range all {
		f := all[k]
		c.Part(fmt.Sprintf("warning %d", k), validateFinding(&f))
		if c.Err() != nil {
			return c.Err()
		}
		raised[warningKey{f.Rule, f.Subject}] = &f
	}
	w.raised, w.sorted = raised, slices.SortedFunc(maps.Values(raised), byRule)
	return nil
}

// validateFinding checks the numbers of a finding. Any text is valid.
func validateFinding(f *unloop.Finding) error {
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
