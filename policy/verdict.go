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

// The lowest scores of a Health under each grade but stuck.
const (
	leastHealthy  = 80
	leastRepeated = 50
	leastLooping  = 20
)

// Scores returns the lowest and the highest score of a Health with the grade.
func (g Grade) Scores() (lowest, highest int) {
	switch g {
	case GradeHealthy:
		return leastHealthy, 100
	case GradeRepeated:
		return leastRepeated, leastHealthy - 1
	case GradeLooping:
		return leastLooping, leastRepeated - 1
	}
	return 0, leastLooping - 1
}

// GradeOf returns the grade that has the score in its range.
func GradeOf(score int) Grade {
	for _, g := range []Grade{GradeHealthy, GradeRepeated, GradeLooping} {
		if lowest, _ := g.Scores(); score >= lowest {
			return g
		}
	}
	return GradeStuck
}

// Loops reports whether the run as a whole loops: looping or stuck.
func (g Grade) Loops() bool { return g == GradeLooping || g == GradeStuck }

// Verdict is the verdict on a run as a whole, so far. The grade depends on the share of the run within stretches that called for a
// decision, and on whether the run left the last stretch.
type Verdict struct {
	Grade     Grade   `json:"grade"`
	Share     float64 `json:"share"`     // of the run's events, those within stretches, from 0 to 1
	Stretches int     `json:"stretches"` // from the first event of a finding to the last at which it held
}

// Health is the health of a run. The score is in the range of the status: healthy from 80 to 100, repeated from 50 to 79, looping from
// 20 to 49, stuck from 0 to 19.
type Health struct {
	Score  int   `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status Grade `json:"status"` // the grade of the run's Verdict; under a profile with a published table, that of the score
}
