package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestTable(t *testing.T) {
	rows := []Row{
		{Rule: "time", Levels: []Level{{From: 0, Action: Halt, Code: "time_over"}}},
		{Rule: "same", Levels: []Level{{From: 4, Action: Warn, Code: "same_warn"}, {From: 8, Action: Halt, Code: "same_halt"}}},
		{Rule: "calls", Levels: []Level{{From: 3, Action: Warn, Code: "calls_warn"}, {From: 5, Action: Block, Code: "calls_block"}, {From: 7, Action: Halt, Code: "calls_halt"}}},
	}
	found := func(rule string, count int, score float64) unloop.Finding {
		return unloop.Finding{Rule: rule, Count: count, Score: score, What: rule + " happened"}
	}
	for _, tc := range []struct {
		name      string
		found     []unloop.Finding
		strongest bool
		want      string
	}{
		{"nothing found, nothing done", nil, false, "allow"},
		{"a rule that has no row", []unloop.Finding{found("cycle", 9, 0)}, false, "allow"},
		{"under the first level", []unloop.Finding{found("calls", 2, 0)}, false, "allow"},
		{"at the first level", []unloop.Finding{found("calls", 3, 0)}, false, "warn calls_warn"},
		{"one below the second level", []unloop.Finding{found("calls", 4, 0)}, false, "warn calls_warn"},
		{"at the second level", []unloop.Finding{found("calls", 5, 0)}, false, "block calls_block"},
		{"far over the last level", []unloop.Finding{found("calls", 70, 0)}, false, "halt calls_halt"},
		{"a finding without a count needs none", []unloop.Finding{found("time", 0, 0)}, false, "halt time_over"},
		{"a first row under its level leaves it to the next", []unloop.Finding{found("same", 3, 0), found("calls", 5, 0)}, false, "block calls_block"},
		{"the first row that acts decides, whatever comes behind", []unloop.Finding{found("calls", 7, 0), found("same", 4, 0)}, false, "warn same_warn"},
		{"unless the strongest does", []unloop.Finding{found("calls", 7, 0), found("same", 4, 0)}, true, "halt calls_halt"},
		{"ties: the first row", []unloop.Finding{found("calls", 7, 0), found("same", 8, 0)}, true, "halt same_halt"},
		{"results that still change are only warned of", []unloop.Finding{found("calls", 7, 0.5)}, false, "warn calls_warn"},
		{"results that stay are not excused", []unloop.Finding{found("calls", 7, 1)}, false, "halt calls_halt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Table{Rows: rows, Strongest: tc.strongest}.Decide(nil, tc.found, nil)
			got := d.Action.String()
			if d.Action != Allow {
				got += " " + d.Code
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
	t.Run("the decision has the finding that decided", func(t *testing.T) {
		calls := found("calls", 5, 0)
		want := Decision{Action: Block, Code: "calls_block", Message: "calls happened", Count: 5, Rule: "calls", Findings: []unloop.Finding{calls}}
		got := Table{Rows: rows}.Decide(nil, []unloop.Finding{found("cycle", 9, 0), found("same", 1, 0), calls}, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
