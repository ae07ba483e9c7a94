package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
)

// checkpointEvery is the number of events between two checkpoints of a run. It bounds the events that a late event causes to be
// folded again.
const checkpointEvery = 4096

// checkpointVersion changes whenever the state of a fold gains or loses a field.
const checkpointVersion = 8

// checkpoint is the JSON of a fold.
type checkpoint struct {
	Version  int              `json:"version"`
	Settings fingerprint.Hash `json:"settings"` // hash of the profile's settings under which the checkpoint is valid
	Fold     foldState        `json:"fold"`
	Session  json.RawMessage  `json:"session,omitempty"`
}

// checkpoint returns the JSON of the fold. It returns an error after a panic of the profile, because the panic can leave the state
// incomplete. A version of the program without the fault then folds the run again.
func (f *fold) checkpoint() ([]byte, error) {
	if f.unjudged > 0 {
		return nil, f.cause
	}
	session, err := f.session.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("write a checkpoint: %w", err)
	}
	head, err := json.Marshal(checkpoint{Version: checkpointVersion, Settings: f.settings, Fold: f.s})
	if err != nil {
		return nil, fmt.Errorf("write a checkpoint: %w", err)
	}
	// The library would read the session again, which is most of a checkpoint.
	return append(append(append(head[:len(head)-1], `,"session":`...), session...), '}'), nil
}

// restore returns the fold of a checkpoint. It returns nil if the checkpoint is damaged or has other settings than the profile.
func restore(j *judge, state []byte) *fold {
	var c checkpoint
	if json.Unmarshal(state, &c) != nil || c.Version != checkpointVersion || c.Settings != j.settings {
		return nil
	}
	session, err := j.profile.Restore(c.Session)
	if err != nil || c.Fold.validate(session) != nil {
		return nil
	}
	return &fold{session: session, settings: j.settings, grew: true, s: c.Fold}
}

// resume restores the run's fold from its latest checkpoint whose position is valid.
func (p *Pipeline) resume(ctx context.Context, r *run, valid func(store.Position) bool) error {
	known, err := p.opts.Store.Checkpoints(ctx, r.row.Number)
	if err != nil {
		return err
	}
	r.fold, r.checkpoints = nil, nil
	for _, c := range known {
		if !valid(c.Position) {
			break
		}
		f := restore(p.judge.Load(), c.State)
		if f == nil {
			r.current = false
			r.fold, r.checkpoints = nil, nil
			break
		}
		p.configure(f)
		r.fold = f
		c.State = nil
		r.checkpoints = append(r.checkpoints, c)
	}
	if r.fold == nil {
		r.fold = p.newFold(r.row.ID)
	}
	return nil
}

// eventsSinceCheckpoint returns the number of folded events after the last checkpoint.
func (r *run) eventsSinceCheckpoint() int {
	if n := len(r.checkpoints); n > 0 {
		return r.fold.s.Events - r.checkpoints[n-1].Events
	}
	return r.fold.s.Events
}

// checkpoint adds a checkpoint of the current state and drops all but the last two.
func (t *runChange) checkpoint() {
	state, err := t.fold.checkpoint()
	if err != nil {
		return // a checkpoint only saves time
	}
	t.addCheckpoint(state)
	for len(t.checkpoints) > 2 {
		t.dropCheckpoint(0)
	}
}

// addCheckpoint adds a checkpoint of the current state, which is given.
func (t *runChange) addCheckpoint(state []byte) {
	c := store.Checkpoint{Run: t.row.Number, Position: t.fold.s.Furthest, Events: t.fold.s.Events, State: state}
	t.checkpointsMade = append(t.checkpointsMade, c)
	c.State = nil
	t.checkpoints = append(t.checkpoints, c)
}

// dropCheckpoint drops the checkpoint with the index. The commit deletes it from the store, unless the commit made it.
func (t *runChange) dropCheckpoint(k int) {
	c := t.checkpoints[k]
	t.checkpoints = slices.Delete(t.checkpoints, k, k+1)
	if at := slices.IndexFunc(t.checkpointsMade, func(m store.Checkpoint) bool { return m.Position == c.Position }); at >= 0 {
		t.checkpointsMade = slices.Delete(t.checkpointsMade, at, at+1)
		return
	}
	t.pruned = append(t.pruned, c)
}

// keepState writes the state of the run after each commit if content is not stored whole. Loading the run then needs no fold of
// events whose content is missing. The new state replaces the previous one, except for the periodic checkpoints.
func (t *runChange) keepState(p *Pipeline) error {
	n := len(t.checkpoints)
	if p.opts.Content == FullContent || t.row.Refold != nil || t.fold.s.Events == 0 || n > 0 && t.checkpoints[n-1].Position == t.fold.s.Furthest {
		return nil
	}
	state, err := t.fold.checkpoint()
	if err != nil {
		return err
	}
	before := 0
	if n > 1 {
		before = t.checkpoints[n-2].Events
	}
	if n > 0 && t.checkpoints[n-1].Events-before < checkpointEvery {
		t.dropCheckpoint(n - 1)
	}
	t.addCheckpoint(state)
	for len(t.checkpoints) > 3 {
		t.dropCheckpoint(0)
	}
	return nil
}
