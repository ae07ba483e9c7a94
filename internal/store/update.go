package store

// Update is the change of one run by one commit. The updates of a commit are published one after another. The arrivals of the
// events in an update are consecutive, and higher than those of all earlier updates.
type Update struct {
	Run         Run
	Deleted     bool         // the run was deleted; only its id and number are set
	Events      []Event      // new or changed, in the order of arrival
	Analyses    []Reanalyzed // earlier events with a new analysis; Reset means that there may be more
	Reset       bool         // analyses of any earlier events may have changed: the store has the valid ones
	Removed     []string     // ids of deleted events
	Warnings    []Warning    // all warnings of the run, sorted by rule and subject
	Raised      []int        // indexes of the new warnings
	Grown       []int        // indexes of the warnings whose count has grown
	Decisions   []Decision   // at the new events; after a refold, all after Invalidated
	Notices     []Notice     // that were written with it
	Invalidated *Position    // earlier decisions after this position are invalid; nil if all are valid
}
