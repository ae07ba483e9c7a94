package profile

import (
	"math"

	"github.com/unloop-ai/unloop/policy"
)

// Bounds of the grades.
const (
	stretchGap    = 12   // events without a decision that end a stretch
	longShare     = 0.2  // share of a run's events that makes a stretch long
	longStretch   = 40   // events that make a stretch long, whatever the length of the run
	leastEndShare = 0.15 // minimum share of a run's events in stretches for the end of the run to count
)

// course is what the policy.Verdict on a run is computed from. It takes O(1) for each event. The zero value is ready to use. It is not
// safe for concurrent use.
type course struct {
	Stretches int `json:"stretches,omitempty"`
	Within    int `json:"within,omitempty"`  // events of stretches, the latest included
	Longest   int `json:"longest,omitempty"` // events of the longest stretch
	Began     int `json:"began,omitempty"`   // number of the first event of the latest stretch
	Latest    int `json:"latest,omitempty"`  // number of the latest event with a decision other than allow
	Events    int `json:"events,omitempty"`
}

// note adds the decision at the latest event of the run, whose number is given. A decision of a person is independent of how the run does, so
// it counts as none.
func (c *course) note(number int, d *policy.Decision) {
	c.Events = number + 1
	if d.Action == policy.Allow || d.Code == policy.CodePerson {
		return
	}
	if c.Stretches == 0 || number-c.Latest > stretchGap {
		c.Began = number
		for k := range d.Findings {
			c.Began = min(c.Began, d.Findings[k].First.Number)
		}
		if c.Stretches > 0 {
			c.Began = max(c.Began, c.Latest+1)
		}
		c.Stretches++
		c.Latest = c.Began - 1
	}
	c.Within += number - c.Latest
	c.Latest = number
	c.Longest = max(c.Longest, number-c.Began+1)
}

// verdict returns the verdict on the run so far.
func (c *course) verdict() policy.Verdict {
	v := policy.Verdict{Grade: policy.GradeHealthy, Stretches: c.Stretches}
	if c.Stretches == 0 {
		return v
	}
	v.Share = math.Round(1e4*float64(c.Within)/float64(c.Events)) / 1e4
	long := v.Share >= longShare || c.Longest >= longStretch
	atEnd := c.Events-1-c.Latest < stretchGap && v.Share >= leastEndShare
	switch {
	case long && atEnd:
		v.Grade = policy.GradeStuck
	case long || atEnd:
		v.Grade = policy.GradeLooping
	default:
		v.Grade = policy.GradeRepeated
	}
	return v
}

// valid reports whether a run of the given number of events can have this state. Stretches are disjoint, so all of them together have at
// most the events up to the latest decision.
func (c *course) valid(events int) bool {
	if c.Stretches == 0 {
		return *c == course{Events: events}
	}
	return c.Events == events && c.Latest < c.Events && 0 <= c.Began && c.Began <= c.Latest && c.Latest-c.Began < c.Longest &&
		c.Longest <= c.Within && c.Within <= c.Latest+1 && 0 < c.Stretches && c.Stretches <= c.Within
}

// healthOf returns the health of a run: 100 less the penalty, within the scores of the grade.
func healthOf(penalty int, grade policy.Grade) policy.Health {
	lowest, highest := grade.Scores()
	return policy.Health{Score: min(max(100-penalty, lowest), highest), Status: grade}
}
