package detecttest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// Profile is a set of detectors, such as a *profile.Profile.
type Profile interface {
	// Findings begins a run and returns a function that takes its events in order. The function returns the findings at the
	// event that are new or whose count has grown.
	Findings(runID string) func(*unloop.Event) []unloop.Finding
}

// RunProfile tests the profile with all traces in dir, each in a subtest, with the settings of the profile. It fails as Run
// does, with two exceptions: findings may be of any rule, and an event with a wanted finding may have others, too.
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

// playProfile returns the differences between the findings of the profile and those that the trace wants.
func playProfile(trace *Trace, p Profile) []error {
	j := judge{trace: trace}
	add := p.Findings(trace.Name)
	for k := range trace.Entries {
		e := &trace.Entries[k]
		j.foundAll(e, add(e.Event))
	}
	return j.problems
}

// foundAll judges the findings at an event that are new or whose count has grown.
func (j *judge) foundAll(e *Entry, found []unloop.Finding) {
	reports, wanted := []string{}, false
	for k := range found {
		f := &found[k]
		reports = append(reports, fmt.Sprintf("%s, subject %q, count %d: %q", f.Rule, f.Subject, f.Count, f.What))
		if e.Want != nil && f.Rule == e.Want.Rule && strings.Contains(f.What, e.Want.What) {
			wanted = true
		}
		if flaw := j.evidenceFlaw(e, f); flaw != "" {
			j.complain(e, "%s: %s", reports[k], flaw)
		}
	}
	switch {
	case e.Want == nil && len(found) > 0:
		j.complain(e, "want nothing new, found %s", strings.Join(reports, "; "))
	case e.Want != nil && !wanted:
		j.missing(e, strings.Join(append(reports, "nothing else"), "; "))
	}
}
