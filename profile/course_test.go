package profile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

func TestVerdict(t *testing.T) {
	type hold struct{ first, from, to int } // a finding that begins at first holds from one event to another
	for _, tc := range []struct {
		name   string
		events int
		holds  []hold
		want   policy.Verdict
	}{
		{"a run without decisions is healthy", 50, nil, policy.Verdict{Grade: policy.GradeHealthy}},
		{"a run that was nudged once and went on has repeated something", 100, []hold{{10, 14, 16}}, policy.Verdict{Grade: policy.GradeRepeated, Share: 0.07, Stretches: 1}},
		{"a run of which a third went round and that got out was looping", 100, []hold{{10, 14, 44}}, policy.Verdict{Grade: policy.GradeLooping, Share: 0.35, Stretches: 1}},
		{"a run whose short end went round is looping", 100, []hold{{82, 86, 99}}, policy.Verdict{Grade: policy.GradeLooping, Share: 0.18, Stretches: 1}},
		{"a run that went round until its end is stuck", 100, []hold{{40, 44, 99}}, policy.Verdict{Grade: policy.GradeStuck, Share: 0.6, Stretches: 1}},
		{"one decision at the end of a long run is no loop", 200, []hold{{190, 195, 196}}, policy.Verdict{Grade: policy.GradeRepeated, Share: 0.035, Stretches: 1}},
		{"stretches far apart are two", 100, []hold{{10, 12, 14}, {50, 52, 54}}, policy.Verdict{Grade: policy.GradeRepeated, Share: 0.1, Stretches: 2}},
		{"stretches close together are one, with what is between them", 100, []hold{{10, 12, 14}, {20, 22, 24}}, policy.Verdict{Grade: policy.GradeRepeated, Share: 0.15, Stretches: 1}},
		{"a stretch begins behind the one before it", 100, []hold{{10, 12, 14}, {5, 52, 54}}, policy.Verdict{Grade: policy.GradeLooping, Share: 0.45, Stretches: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c course
			for n := range tc.events {
				d := policy.Decision{}
				for _, h := range tc.holds {
					if n >= h.from && n <= h.to {
						d = policy.Decision{Action: policy.Warn, Findings: []unloop.Finding{{First: unloop.EventRef{Number: h.first}}}}
					}
				}
				c.note(n, &d)
			}
			if diff := cmp.Diff(tc.want, c.verdict()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !c.valid(tc.events) {
				t.Errorf("%+v is not valid", c)
			}
		})
	}
}

func TestAnInvalidHistoryIsRejected(t *testing.T) {
	for name, change := range map[string]func(*course){
		"no stretch with events":                func(c *course) { c.Stretches = 0 },
		"fewer stretches than none":             func(c *course) { c.Stretches = -1 },
		"more stretches than events in them":    func(c *course) { c.Stretches = 31 },
		"events of another run":                 func(c *course) { c.Events++ },
		"a decision behind the end":             func(c *course) { c.Latest = 100 },
		"a stretch before the beginning":        func(c *course) { c.Began = -2 },
		"a stretch that begins behind its end":  func(c *course) { c.Began = c.Latest + 1 },
		"a stretch longer than the longest":     func(c *course) { c.Longest = 14 },
		"a stretch longer than all":             func(c *course) { c.Longest = 31 },
		"stretches longer than the run to them": func(c *course) { c.Within = c.Latest + 2 },
	} {
		c := course{Stretches: 2, Within: 30, Longest: 15, Began: 60, Latest: 74, Events: 100}
		if !c.valid(100) {
			t.Fatalf("%+v is not valid", c)
		}
		if change(&c); c.valid(100) {
			t.Errorf("%s is valid: %+v", name, c)
		}
	}
}
