package policy

// Grade is the verdict on a run as a whole, in one word.
type Grade string

// The grades, from good to bad.
const (
	GradeHealthy  Grade = "healthy"  // no finding called for a decision
	GradeRepeated Grade = "repeated" // there were decisions, and the run recovered
	GradeLooping  Grade = "looping"  // a large part of the run was a loop, or its end was
	GradeStuck    Grade = "stuck"    // a large part of the run was a loop, and its end was, too
)

// Loops reports whether the run as a whole loops: looping or stuck.
func (g Grade) Loops() bool { return g == GradeLooping || g == GradeStuck }

// Verdict is the verdict on a run as a whole, so far. The grade depends on the share of the run within stretches that called for a
// decision, and on whether the run left the last stretch.
type Verdict struct {
	Grade     Grade   `json:"grade"`
	Share     float64 `json:"share"`     // of the run's events, those within stretches, from 0 to 1
	Stretches int     `json:"stretches"` // from the first event of a finding to the last at which it held
}

// Health is the health of a run.
type Health struct {
	Score  int   `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status Grade `json:"status"` // the grade of the run's Verdict
}
