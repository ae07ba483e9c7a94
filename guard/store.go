package guard

import "context"

// Store keeps the snapshots of runs, so that guards in several processes can judge one run. It also counts what projects use. It is
// safe for concurrent use. Packages guard/redisstore and guard/pgstore have one each; package guard/guardtest tests that a Store
// conforms.
//
// A Store returns as soon as the context is done. A call that fails may have been carried out.
type Store interface {
	// Load returns the latest snapshot of the run, and the zero Saved for an unknown run.
	Load(ctx context.Context, run RunKey) (Saved, error)

	// Save replaces the snapshot of the run and adds c.Use to the usage of the project in the current hour, both or neither.
	//
	// If the stored snapshot has another version than c.Version, Save changes nothing and returns it with the Status Conflict. A run
	// that the store does not have takes any version: it has expired, or the store has lost it.
	//
	// If a limit is reached, Save changes nothing and returns the stored snapshot with the Status OverLimit. The limit of calls is
	// reached if the calls with c.Use would exceed it. The limits of tokens and cost are reached if the usage so far is not below them.
	//
	// No two saves of a run return the same version. Save keeps no reference to c.Data.
	Save(ctx context.Context, run RunKey, c Change) (Saved, error)
}

// RunKey identifies a run in a Store.
type RunKey struct {
	Project string // "" for a run without a project, whose usage is not counted
	ID      string
}

// Change is a change of a run in a Store.
type Change struct {
	Version int64  // of the snapshot that the change was made from; 0 for a new run
	Data    []byte // the snapshot
	Use     Usage  // added to the usage of the project
	Limits  Usage  // the limits of the project in an hour; 0 means no limit
}

// Usage is what a project uses in one hour of the store's clock, from minute 0 to minute 59.
type Usage struct {
	Calls  int64   // calls that were allowed to run
	Tokens int64   // tokens of model calls
	Cost   float64 // US dollars, counted in millionths
}

// Saved is a snapshot in a Store.
type Saved struct {
	Status  Status
	Version int64  // 0 if the run is unknown
	Data    []byte // nil if the run is unknown, and after a Save with the Status Done
	Used    Usage  // by the project in the current hour; set if Change.Use or Change.Limits is, and there was no conflict
}

// Status is the outcome of Store.Save.
type Status int

// The outcomes of Store.Save.
const (
	Done Status = iota
	Conflict
	OverLimit
)
