package findings

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestWarnings(t *testing.T) {
	at := func(index int) unloop.EventRef { return unloop.EventRef{ID: fmt.Sprint("e", index), Index: index} }
	finding := func(subject string, count, first, event int, what string) unloop.Finding {
		return unloop.Finding{Rule: "same_error", Subject: subject, Count: count, First: at(first), Event: at(event), What: what}
	}
	for _, tc := range []struct {
		name  string
		found []unloop.Finding
		noted []bool
		want  []unloop.Finding
	}{
		{
			"a finding is raised once",
			[]unloop.Finding{finding("a", 3, 1, 5, "3"), finding("a", 3, 1, 6, "3 still")},
			[]bool{true, false},
			[]unloop.Finding{finding("a", 3, 1, 5, "3")},
		},
		{
			"when its count grows, all but its first event moves on",
			[]unloop.Finding{finding("a", 3, 1, 5, "3"), finding("a", 4, 2, 7, "4")},
			[]bool{true, true},
			[]unloop.Finding{finding("a", 4, 1, 7, "4")},
		},
		{
			"a smaller count takes nothing back",
			[]unloop.Finding{finding("a", 6, 1, 9, "6"), finding("a", 3, 20, 24, "3"), finding("a", 7, 20, 30, "7")},
			[]bool{true, false, true},
			[]unloop.Finding{finding("a", 7, 1, 30, "7")},
		},
		{
			"each subject has a warning of its own, and they are sorted",
			[]unloop.Finding{finding("b", 3, 1, 5, "b"), finding("a", 3, 2, 6, "a")},
			[]bool{true, true},
			[]unloop.Finding{finding("a", 3, 2, 6, "a"), finding("b", 3, 1, 5, "b")},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var w Warnings
			var noted []bool
			for _, f := range tc.found {
				noted = append(noted, w.Upsert(f))
			}
			if diff := cmp.Diff(tc.noted, noted); diff != "" {
				t.Errorf("noted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, w.All()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var w Warnings
	for k := range maxWarnings + 5 {
		if noted := w.Upsert(unloop.Finding{Rule: "long_running_step", Subject: fmt.Sprint("e", k)}); noted != (k < maxWarnings) {
			t.Fatalf("finding %d: noted %t", k, noted)
		}
	}
	if len(w.All()) != maxWarnings {
		t.Errorf("%d warnings, want %d", len(w.All()), maxWarnings)
	}
	if !w.Upsert(unloop.Finding{Rule: "long_running_step", Subject: "e0", Count: 2}) {
		t.Error("a warning that is known does not grow any more")
	}
}
