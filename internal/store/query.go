package store

import "time"

// Filter selects runs. The zero value selects all runs.
type Filter struct {
	Status  string
	Project string
	Warning string // the rule of one of their warnings
	Tool    string // a tool that they called
	Text    string // a part of their id, name, project or the message of a warning; A to Z match in either case
	Since   time.Time
	Until   time.Time // start time: from Since, inclusive, to Until, exclusive
}

// Page selects a part of a list: at most Limit entries after the cursor. A cursor comes from an earlier part of the list, and ""
// is the beginning.
type Page struct {
	Cursor   string
	Limit    int
	Backward bool // from the end of the list to its beginning; for events only
}

// Overview summarizes many runs.
type Overview struct {
	Since, Until      time.Time
	Step              time.Duration    // of a bucket
	Buckets           []OverviewBucket // without gaps
	Tools             []Looping        // the most looping tools first
	Rules             []Looping        // the rules with the most warnings first
	Runs              int
	Guarded           int   // runs with a guard that acts
	Warned            int   // runs with a warning
	UsageAfterWarning Usage // usage after the first warning of each run, in total
	Wasted            Usage // usage of observed runs after the profile would have stopped them
	Avoided           Usage // estimate of what the stops by guards avoided
	Usage             Usage // usage of all runs
	Slowest           []SlowStep
}

// OverviewBucket counts the runs that started in an interval, by status.
type OverviewBucket struct {
	Start     time.Time
	Running   int
	Completed int
	Failed    int
	Abandoned int
	Warned    int
}

// Looping is a tool or a rule with the warnings about it.
type Looping struct {
	Name     string
	Runs     int
	Warnings int
	Repeats  int // sum of the counts of the warnings
}

// SlowStep is the longest event of a run.
type SlowStep struct {
	RunID   string
	EventID string
	Latency float64 // milliseconds
}

// MaxBuckets is the maximum number of buckets in an overview.
const MaxBuckets = 10_000
