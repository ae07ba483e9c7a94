package detecttest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// Profile is several detectors under one name, such as a *profile.Profile.
type Profile interface {
	// Findings begins a run. What it returns takes the run's next event and returns the findings at it that are new or have grown.
	Findings(runID string) func(*unloop.Event) []unloop.Finding
}

// RunProfile plays all traces in dir against a profile, each as a subtest, with the profile's settings. It fails as Run does; but a
// finding may be of any rule, and at an event at which one is wanted there may be others beside it.
func RunProfile(t *testing.T, dir string, p Profile) {
	t.Helper()
	traces, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		t.Run(strings.TrimSuffix(filepath.Base(trace.Name), ".trace"), func(t *testing.T) {
			for _, problem := range playProfile(trace, p) {
				t.Error(problem)
			}
		})
	}
}

// playProfile returns what is wrong with what the profile finds in the trace.
func playProfile(trace *Trace, p Profile) []error {
	j := judge{trace: trace}
	add := p.Findings(trace.Name)
	for k := range trace.Entries {
		e := &trace.Entries[k]
		j.foundAll(e, add(e.Event))
	}
	return j.problems
}

// foundAll judges the findings at an event that are new or have grown.
func (j *judge) foundAll(e *Entry, found []unloop.Finding) {
	told, wanted := []string{}, false
	for k := range found {
		f := &found[k]
		told = append(told, fmt.Sprintf("%s, subject %q, count %d: %q", f.Rule, f.Subject, f.Count, f.What))
		if e.Want != nil && f.Rule == e.Want.Rule && strings.Contains(f.What, e.Want.What) {
			wanted = true
		}
		if flaw := j.evidenceFlaw(e, f); flaw != "" {
			j.complain(e, "%s: %s", told[k], flaw)
		}
	}
	switch {
	case e.Want == nil && len(found) > 0:
		j.complain(e, "want nothing new, found %s", strings.Join(told, "; "))
	case e.Want != nil && !wanted:
		j.missing(e, strings.Join(append(told, "nothing else"), "; "))
	}
}
