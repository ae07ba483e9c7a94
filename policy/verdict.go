package policy

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
