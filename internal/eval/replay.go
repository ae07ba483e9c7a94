package eval

import (
	"context"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// replay is one run under one profile.
type replay struct {
	session *profile.Session
	flags   []flagged
	stop    bool  // a decision was block or halt
	all     Usage // of the whole run
	after   Usage // after the first block or halt

	opinions Opinions
}

// flagged is a decision other than allow.
type flagged struct {
	index  int
	action policy.Action
}

// add folds an event. The reviewer may be nil.
func (t *replay) add(ctx context.Context, ask Reviewer, labels *Labels, e *unloop.Event) {
	d := t.session.Add(e)
	if d.Question != nil && ask != nil {
		d = t.answer(ctx, ask, labels, e, d)
	}
	if d.Action != policy.Allow {
		t.flags = append(t.flags, flagged{e.Index, d.Action})
	}
	stops := !t.stop && d.Action >= policy.Block
	t.all.add(e)
	// A call that is stopped at its start does not run.
	if t.stop || stops && e.Type == unloop.ToolCallStarted {
		t.after.add(e)
	}
	t.stop = t.stop || stops
}

// first returns the index of the first decision that is at least as severe as least, among the events from one index to another, both
// included.
func (t *replay) first(from, to int, least policy.Action) (index int, ok bool) {
	for _, f := range t.flags {
		if f.index >= from && f.index <= to && f.action >= least {
			return f.index, true
		}
	}
	return 0, false
}

// Usage is the usage of a run, or of a part of it.
type Usage struct {
	Calls  int     `json:"calls"` // started calls
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"` // US dollars
}

// add adds the usage of an event.
func (u *Usage) add(e *unloop.Event) {
	if e.Type == unloop.ToolCallStarted {
		u.Calls++
	}
	u.Tokens = snapshot.SumInt64(u.Tokens, e.Tokens)
	u.Cost += e.Cost
}

// plus adds the usage of another run.
func (u *Usage) plus(more Usage) {
	u.Calls += more.Calls
	u.Tokens = snapshot.SumInt64(u.Tokens, more.Tokens)
	u.Cost += more.Cost
}
