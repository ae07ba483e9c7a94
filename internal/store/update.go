package store

// Update is what one commit brought to one run. Those of a commit are published one after another; the arrivals of an update's
// events are consecutive, and higher than those of all updates before it.
type Update struct {
	Run         Run
	Deleted     bool       // the run is no more; nothing but its id and number is set
	Events      []Event    // new or changed, in the order of arrival
	Removed     []string   // ids of events that are no more
	Warnings    []Warning  // all of the run's, sorted by rule and subject
	Raised      []int      // which of them are new
	Grown       []int      // which of them have grown
	Decisions   []Decision // at the new events; where the run was folded anew, all behind Undone
	Invalidated *Position  // earlier decisions behind it no longer hold; nil where all hold
}
