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
	if len(w.All()) != maxWarnings || w.Dropped != 5 {
		t.Errorf("%d warnings and %d dropped", len(w.All()), w.Dropped)
	}
	if !w.Upsert(unloop.Finding{Rule: "long_running_step", Subject: "e0", Count: 2}) {
		t.Error("a warning that is known does not grow any more")
	}
}

func TestHealthOf(t *testing.T) {
	for _, tc := range []struct {
		name      string
		penalties []int
		failed    bool
		want      Health
	}{
		{"no warnings", nil, false, Health{100, Healthy}},
		{"the last healthy score", []int{20}, false, Health{80, Healthy}},
		{"the first troubled score", []int{20, 1}, false, Health{79, Degraded}},
		{"the last troubled score", []int{30, 20}, false, Health{50, Degraded}},
		{"the first that is likely stuck", []int{30, 21}, false, Health{49, LikelyStuck}},
		{"it does not fall under 0", []int{60, 60}, false, Health{0, LikelyStuck}},
		{"a failed run loses 30 and has failed", nil, true, Health{70, Failed}},
		{"a failed run does not fall under 0 either", []int{60, 30}, true, Health{0, Failed}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var warnings []unloop.Finding
			for _, p := range tc.penalties {
				warnings = append(warnings, unloop.Finding{Count: p})
			}
			got := HealthOf(warnings, tc.failed, func(f *unloop.Finding) int { return f.Count })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReport(t *testing.T) {
	info := unloop.Finding{Rule: "long_running_step", Severity: unloop.SeverityInfo, What: "slow"}
	warning := unloop.Finding{Rule: "same_error", Severity: unloop.SeverityWarning, What: "errors", Count: 4}
	critical := unloop.Finding{Rule: "no_progress", Severity: unloop.SeverityCritical, What: "stuck", Count: 3}
	for _, tc := range []struct {
		name         string
		found, grown []unloop.Finding
		want         string
	}{
		{"nothing found", nil, nil, "allow"},
		{"what does not grow was told before", []unloop.Finding{critical}, nil, "allow"},
		{"the most severe speaks", []unloop.Finding{info, warning, critical}, []unloop.Finding{info, critical, warning}, "warn no_progress"},
		{"of equals the first", nil, []unloop.Finding{warning, {Rule: "cycle", Severity: unloop.SeverityWarning}}, "warn same_error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Report{}.Decide(nil, tc.found, tc.grown)
			got := d.Action.String()
			if d.Action != Allow {
				got += " " + d.Code
			}
			if got != tc.want || len(d.Findings) != len(tc.grown) {
				t.Errorf("%s with %d findings, want %s with %d", got, len(d.Findings), tc.want, len(tc.grown))
			}
		})
	}
}
