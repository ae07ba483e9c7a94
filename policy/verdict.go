package policy

import "math"

// Grade is how a run as a whole did.
type Grade string

// The grades, from good to bad.
const (
	GradeHealthy  Grade = "healthy"  // no finding called for a decision
	GradeRepeated Grade = "repeated" // it was nudged, and recovered
	GradeLooping  Grade = "looping"  // a good part of it went round, or its end did
	GradeStuck    Grade = "stuck"    // a good part of it went round, and so did its end
)

// Loops reports whether the run as a whole loops: looping or stuck.
func (g Grade) Loops() bool { return g == GradeLooping || g == GradeStuck }

// Verdict is how a run as a whole did, so far. What tells the grades apart is how much of the run went into stretches at which a
// decision was called for, and whether the run got out of the last one.
type Verdict struct {
	Grade     Grade   `json:"grade"`
	Share     float64 `json:"share"`     // of the run's events, those within stretches, from 0 to 1
	Stretches int     `json:"stretches"` // from the first event of a finding to the last at which it held
}

// Bounds of the grades.
const (
	gap      = 12   // events without a decision that end a stretch
	goodPart = 0.2  // of a run's events
	longRun  = 40   // events of a stretch, at least, to be a good part of a run whatever its length
	leastEnd = 0.15 // of a run's events, for its end to count
)

// Course keeps what a Verdict needs, in O(1) for each event. The zero value is ready. It is not safe for concurrent use.
type Course struct {
	Stretches int `json:"stretches,omitempty"`
	Within    int `json:"within,omitempty"`  // events of stretches, the latest included
	Longest   int `json:"longest,omitempty"` // events of the longest stretch
	Began     int `json:"began,omitempty"`   // number of the first event of the latest stretch
	Latest    int `json:"latest,omitempty"`  // number of the latest event at which a decision was called for
	Events    int `json:"events,omitempty"`
}

// Note takes the decision at a run's latest event, which has the number.
func (c *Course) Note(number int, d *Decision) {
	c.Events = number + 1
	if d.Action == Allow {
		return
	}
	if c.Stretches == 0 || number-c.Latest > gap {
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

// Verdict returns how the run did so far.
func (c *Course) Verdict() Verdict {
	v := Verdict{Grade: GradeHealthy, Stretches: c.Stretches}
	if c.Stretches == 0 {
		return v
	}
	v.Share = math.Round(1e4*float64(c.Within)/float64(c.Events)) / 1e4
	long := v.Share >= goodPart || c.Longest >= longRun
	atEnd := c.Events-1-c.Latest < gap && v.Share >= leastEnd
	switch {
	case long && atEnd:
		v.Grade = GradeStuck
	case long || atEnd:
		v.Grade = GradeLooping
	default:
		v.Grade = GradeRepeated
	}
	return v
}

// Valid reports whether a run can have written it.
func (c *Course) Valid() bool {
	return c.Stretches >= 0 && c.Within >= 0 && c.Within <= c.Events && c.Longest >= 0 && c.Longest <= c.Events &&
		c.Began >= 0 && c.Latest >= -1 && c.Latest < max(1, c.Events)
}
