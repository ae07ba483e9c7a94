package store

import "time"

// Filter chooses runs. Its zero value chooses all.
type Filter struct {
	Status  string
	Project string
	Warning string // the rule of a warning that they have
	Tool    string // a tool that they called
	Text    string // stands in their id, name, project or a warning's message; the case of A to Z does not count
	Since   time.Time
	Until   time.Time // when they were started: from Since, before Until
}

// Page asks for a part of a list: at most Limit entries behind the cursor. A cursor is what a list returned, or "" for its
// beginning.
type Page struct {
	Cursor   string
	Limit    int
	Backward bool // from the list's end to its beginning; of events only
}

// Overview sums up many runs.
type Overview struct {
	Since, Until      time.Time
	Step              time.Duration    // of a bucket
	Buckets           []OverviewBucket // without gaps
	Tools             []Looping        // the most looping tools first
	Rules             []Looping        // the rules of most warnings first
	Runs              int
	Warned            int   // runs with a warning
	UsageAfterWarning Usage // since the first warning of each run, in all
	Usage             Usage // by all runs
	Slowest           []SlowStep
}

// OverviewBucket counts the runs that began in a stretch of time, by status.
type OverviewBucket struct {
	Start     time.Time
	Running   int
	Completed int
	Failed    int
	Closed    int
	Warned    int
}

// Looping is a tool or a rule with the warnings about it.
type Looping struct {
	Name     string
	Runs     int
	Warnings int
	Repeats  int // the counts of the warnings, in sum
}

// SlowStep is the longest event of a run.
type SlowStep struct {
	RunID   string
	EventID string
	Latency float64 // milliseconds
}

// MaxBuckets is how many buckets a summary may have.
const MaxBuckets = 10_000
