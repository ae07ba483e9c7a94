// Package sinktest has a store of notices in memory, for tests of package sink and of notifiers.
package sinktest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/unloop-ai/unloop/internal/store"
)

// key identifies a notice.
type key struct{ endpoint, warning, level string }

// Records is a store of notices, of the runs and warnings that were published, and of nothing else. It outlives a sink, as a database does.
// Its zero value is empty.
type Records struct {
	mu       sync.Mutex
	notices  map[key]store.Notice
	runs     map[string]store.Run
	warnings map[int64]map[string]store.Warning
	muted    map[string]bool
	err      error
	unmarked error // of MarkSent
	written  int
}

// Sink is the part of a sink that a pipeline uses.
type Sink interface {
	Notices(u *store.Update) []store.Notice
	Publish(u *store.Update)
}

// Publish writes the notices and the warnings of an update, as a pipeline does, and publishes it.
func (r *Records) Publish(s Sink, u *store.Update) {
	r.Write(s, u)
	s.Publish(u)
}

// Write does what Publish does, and then the server is killed.
func (r *Records) Write(s Sink, u *store.Update) {
	u.Notices = s.Notices(u)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notices == nil {
		r.notices, r.runs, r.warnings = make(map[key]store.Notice), make(map[string]store.Run), make(map[int64]map[string]store.Warning)
	}
	if u.Deleted {
		r.delete(u.Run.Number)
		return
	}
	r.runs[u.Run.ID] = u.Run
	if r.warnings[u.Run.Number] == nil {
		r.warnings[u.Run.Number] = make(map[string]store.Warning)
	}
	for _, w := range u.Warnings {
		r.warnings[u.Run.Number][w.ID] = w
	}
	for _, n := range u.Notices {
		r.written++
		k := key{n.Endpoint, n.Warning, n.Level}
		if _, has := r.notices[k]; !has {
			r.notices[k] = n
		}
	}
}

func (r *Records) delete(run int64) {
	maps.DeleteFunc(r.runs, func(_ string, x store.Run) bool { return x.Number == run })
	maps.DeleteFunc(r.notices, func(_ key, n store.Notice) bool { return n.Run == run })
	delete(r.warnings, run)
}

// DeleteWarning deletes a warning, as folding its run again may.
func (r *Records) DeleteWarning(run int64, warning string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.warnings[run], warning)
}

// Mute makes nobody be notified of a warning.
func (r *Records) Mute(warning string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.muted = map[string]bool{warning: true}
}

// Give gives all due notices to another holder.
func (r *Records) Give(holder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, n := range r.notices {
		n.Holder = holder
		r.notices[k] = n
	}
}

// Fail makes all calls fail with an error; nil for none.
func (r *Records) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// FailMarks makes MarkSent fail with an error; nil for none.
func (r *Records) FailMarks(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unmarked = err
}

// Due returns the due notices: ENDPOINT WARNING LEVEL.
func (r *Records) Due() (due []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, n := range r.notices {
		if n.State != nil {
			due = append(due, k.endpoint+" "+k.warning+" "+k.level)
		}
	}
	slices.Sort(due)
	return due
}

// Written returns the number of notices that were written, also those that were there.
func (r *Records) Written() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// DueWarnings is that of sink.Records.
func (r *Records) DueWarnings(_ context.Context, endpoint, holder string, limit int) (first []store.DueWarning, total int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.notices), func(a, b store.Notice) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Warning, b.Warning))
	})
	for _, n := range all {
		d := store.DueWarning{Endpoint: endpoint, Run: n.Run, Warning: n.Warning}
		for id, run := range r.runs {
			if run.Number == n.Run {
				d.RunID = id
			}
		}
		if n.Endpoint == endpoint && n.Holder == holder && n.State != nil && !slices.Contains(first, d) {
			first = append(first, d)
		}
	}
	return first[:min(limit, len(first))], len(first), r.err
}

// DueLevels is that of sink.Records.
func (r *Records) DueLevels(_ context.Context, d store.DueWarning, holder string) (due []store.Notice, silenced bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.notices {
		if n.Endpoint == d.Endpoint && n.Run == d.Run && n.Warning == d.Warning && n.Holder == holder && n.State != nil {
			due = append(due, n)
		}
	}
	return due, r.muted[d.Warning], r.err
}

// SentLevels is that of sink.Records.
func (r *Records) SentLevels(_ context.Context, endpoint, warning string) (levels []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, n := range r.notices {
		if k.endpoint == endpoint && k.warning == warning && n.State == nil {
			levels = append(levels, k.level)
		}
	}
	return levels, r.err
}

// MarkSent is that of sink.Records.
func (r *Records) MarkSent(_ context.Context, notices []store.Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notices {
		if r.err == nil && r.unmarked == nil {
			n.State = nil
			r.notices[key{n.Endpoint, n.Warning, n.Level}] = n
		}
	}
	return cmp.Or(r.err, r.unmarked)
}

// DropNotices is that of sink.Records.
func (r *Records) DropNotices(_ context.Context, notices []store.Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notices {
		k := key{n.Endpoint, n.Warning, n.Level}
		if r.err == nil && r.notices[k].State != nil {
			delete(r.notices, k)
		}
	}
	return r.err
}

// DropDue is that of sink.Records.
func (r *Records) DropDue(_ context.Context, endpoint string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.notices, func(k key, n store.Notice) bool { return k.endpoint == endpoint && n.State != nil })
	return r.err
}

// Run is that of sink.Records.
func (r *Records) Run(_ context.Context, id string) (*store.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, has := r.runs[id]
	if !has {
		return nil, r.err
	}
	return &run, r.err
}

// Warnings is that of sink.Records.
func (r *Records) Warnings(_ context.Context, run int64) ([]store.Warning, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.warnings[run])), r.err
}
