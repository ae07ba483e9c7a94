package policy

import (
	"testing"

	"github.com/unloop-ai/unloop"
)

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
		{"a finding that does not grow is not reported again", []unloop.Finding{critical}, nil, "allow"},
		{"the most severe speaks", []unloop.Finding{info, warning, critical}, []unloop.Finding{info, critical, warning}, "warn no_progress"},
		{"ties: the first", nil, []unloop.Finding{warning, {Rule: "cycle", Severity: unloop.SeverityWarning}}, "warn same_error"},
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
