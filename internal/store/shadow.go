package store

import (
	"time"

	"github.com/unloop-ai/unloop/policy"
)

// NotJudged is the worst action of a run that is too long for a replay.
const NotJudged policy.Action = 255

// ShadowVerdict is what the shadow profile would have decided in a run.
type ShadowVerdict struct {
	Run         int64
	Judge       string        // the profile with its settings; a verdict of another judge is out of date
	Arrival     int64         // Run.Arrival when it was judged; after a later event the verdict is out of date
	WorstAction policy.Action // the most severe action, or NotJudged
	FirstEvent  string        // id of the event of the first decision; "" for none
	FirstNumber int           // its number in the run, from 0
}

// ShadowQuery selects verdicts of a judge. Without actions it selects the runs in which both differ.
type ShadowQuery struct {
	Judge    string
	Recorded *policy.Action // the most severe decision of the run
	Shadow   *policy.Action // that of the shadow profile
	Limit    int
}

// ShadowRun is a verdict beside what is recorded of its run.
type ShadowRun struct {
	ShadowVerdict
	ID, Name, Project string
	Started           time.Time
	Untimed           bool          // no event has a time of its own
	Recorded          policy.Action // the most severe decision of the run
}

// ShadowCount is the number of runs with the same two decisions.
type ShadowCount struct {
	Recorded, Shadow policy.Action
	Runs             int
}
