package store

import (
	"time"

	"github.com/unloop-ai/unloop/policy"
)

// Filter selects runs. The zero value selects all runs.
type Filter struct {
	Status    string
	Health    []string        // allowed states of health
	Decisions []policy.Action // allowed actions for the most severe decision
	Project   string
	Warning   string // the rule of one of their warnings
	Tool      string // a tool that they called
	Agent     string // an agent that acted in them
	Model     string // a model that they called
	Label     string // a member of their metadata, NAME=VALUE, as LabelsOf writes it
	Guarded   *bool  // whether a guard acts in them; nil for either
	Text      string // see Store.Runs
	Since     time.Time
	Until     time.Time // start time: from Since, inclusive, to Until, exclusive
}

// The keys by which a list of runs can be sorted.
const (
	ByStart    = "started"
	ByName     = "name" // or the id of a run without one
	ByProject  = "project"
	ByStatus   = "status"
	ByHealth   = "health"   // the score
	ByDecision = "decision" // the most severe
	ByWarnings = "warnings"
	ByEvents   = "events"
	ByTokens   = "tokens"
	ByCost     = "cost"
	ByDuration = "duration"
	ByUpdate   = "updated"
)

// Order is the order of a list of runs. The zero value is the latest started first.
type Order struct {
	Key       string // one of the above; "" is ByStart
	Ascending bool
}

// Page selects a part of a list: at most Limit entries after the cursor. A cursor comes from an earlier part of the list, and ""
// is the beginning.
type Page struct {
	Cursor   string
	Limit    int
	Backward bool // from the end of the list to its beginning; for events only
}

// OverviewQuery says which runs an overview summarizes, and how.
type OverviewQuery struct {
	Filter               // with Since and Until, the period
	Step   time.Duration // of a bucket
	By     string        // what the groups are of: ByProjects, ByAgents, ByModels, or ByMetadata and a name; "" for no groups
}

// The groups of an overview.
const (
	ByProjects = "project"
	ByAgents   = "agent"
	ByModels   = "model"
	ByMetadata = "metadata." // and the name of a member
)

// Overview summarizes many runs.
type Overview struct {
	Since, Until time.Time
	Step         time.Duration    // of a bucket
	Buckets      []OverviewBucket // without gaps
	Tools        []Looping        // the most looping tools first
	Rules        []Looping        // the rules with the most warnings first
	Totals       Totals
	Previous     Totals     // of the period of equal length before
	Groups       []Group    // those with the most runs first, at most MaxGroups
	Metadata     []Metadata // the members by which runs can be grouped, sorted by name
	Slowest      []SlowStep
}

// Totals are the totals of runs. A run without a duration or a latency does not count in them.
type Totals struct {
	Runs              int
	Warned            int   // runs with a warning
	Looping           int   // runs with a decision other than allow
	Guarded           int   // runs with a guard that acts
	UsageAfterWarning Usage // usage after the first warning of each run, in total
	Wasted            Usage // usage of observed runs after the profile would have stopped them
	Avoided           Usage // estimate of what the stops by guards avoided
	Usage             Usage
	MedianDuration    float64 // seconds
	LongDuration      float64 // seconds; 95 % of the runs are not longer
	Latency           float64 // mean of the mean latencies of the runs, in milliseconds
}

// Group are the totals of the runs with the same project, agent, model or value. A run with several agents or models is in several
// groups.
type Group struct {
	Name   string
	Totals Totals
}

// Metadata is a member of the runs' metadata with some of its values, sorted.
type Metadata struct {
	Name   string
	Values []string
}

// MaxGroups is the maximum number of groups of an overview.
const MaxGroups = 50

// OverviewBucket summarizes the runs that started in an interval.
type OverviewBucket struct {
	Start     time.Time
	Running   int
	Completed int
	Failed    int
	Abandoned int
	Totals    Totals
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
	Run     string // name of the run
	EventID string
	Step    string  // the tool or model that the event calls, else its type; "" if the event is unknown
	Latency float64 // milliseconds
}

// MaxBuckets is the maximum number of buckets in an overview.
const MaxBuckets = 10_000
