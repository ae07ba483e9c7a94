package pipeline

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// maxDecisions bounds the decisions of one run that are recorded.
const maxDecisions = 10_000

// fold is the state of a run after its events up to Furthest. A checkpoint is its JSON.
type fold struct {
	session  *profile.Session
	settings fingerprint.Hash // of the profile
	grew     bool             // any warning may be new or have grown since the warnings were last read
	grown    map[string]bool  // keys of the warnings that did so, if grew is false
	s        foldState

	grade    policy.Grade // at the latest event; "" after a restore
	joined   string       // the id of the event that started the call that the latest event ended
	byGuard  bool         // the decision at the latest event is the guard's
	untitled bool         // content is not stored, so no message names the run
	unjudged int          // events at which the profile panicked
	cause    error        // of the latest
}

// foldState is the state of a fold besides its session.
type foldState struct {
	Furthest            store.Position
	Events              int
	Arrival             int64     // highest arrival
	Received            time.Time // latest time of arrival
	Bytes               int64
	Name                string
	NamedBy             nameSource
	Status              string
	Started             time.Time
	Ended               time.Time
	Last                time.Time // time of the latest event
	Tools               []string
	Agents              []string
	Models              []string
	Warnings            map[string]warningTimes // by warning
	WorstAction         uint8                   // a policy.Action
	Decisions           int
	FirstWarningAt      time.Time
	UsageAtFirstWarning store.Usage // the usage when the first warning was raised
	Novelty             novelty
	Health              []store.HealthAt // never overwritten, because rows share it
	SlowestEvent        string           // the id of the event with the highest latency
	MaxLatency          float64          // in milliseconds
	Guard               guardState
	Timed               bool       // an event has a time of its own
	Open                []openCall `json:",omitempty"` // oldest first
}

// warningTimes are the times at which a warning was raised and at which it last grew.
type warningTimes struct{ Created, Updated time.Time }

func newFold(p *profile.Profile, id string) *fold {
	f := &fold{session: p.NewSession(id), s: foldState{Furthest: store.Start, Status: store.Running}}
	f.s.Health = []store.HealthAt{{Number: 0, Score: f.session.Health().Score}}
	return f
}

// placement is the position of an event and its arrival.
type placement struct {
	at       store.Position
	arrival  int64
	received time.Time
	size     int // of the body, in bytes
}

func placementOf(e *store.Event) placement {
	return placement{e.Position, e.Arrival, e.Received, len(e.Body)}
}

// rowOverhead is the approximate size in bytes of an event in a store besides its body: its row, its id twice, and its index
// entries.
const rowOverhead = 220

// add folds the run's next event.
func (f *fold) add(e *unloop.Event, as placement) policy.Decision {
	s := &f.s
	happened := f.timeOf(e, as.received)
	d := f.guarded(e, f.judge(e))
	f.joined = f.join(e)
	s.Arrival = max(s.Arrival, as.arrival)
	if as.received.After(s.Received) {
		s.Received = as.received
	}
	if s.Events == 0 || !s.Timed && !e.Time.IsZero() {
		s.Started = happened
	}
	s.Timed = s.Timed || !e.Time.IsZero()
	s.Events++
	s.Bytes += int64(as.size + rowOverhead)
	s.Last = happened
	if as.at.Compare(s.Furthest) > 0 {
		s.Furthest = as.at
	}
	f.apply(e, happened)
	f.warn(happened)
	f.preview(e)
	s.WorstAction = max(s.WorstAction, uint8(d.Action))
	if d.Action != policy.Allow {
		s.Decisions++
	}
	return d
}

// timeOf returns the time of an event. An event without one happened at the time of the one before it. In a run without any times, it
// happened when it arrived: an import of an old run must not end today.
func (f *fold) timeOf(e *unloop.Event, received time.Time) time.Time {
	switch {
	case !e.Time.IsZero():
		return e.Time.UTC()
	case f.s.Timed:
		return f.s.Last
	}
	return received
}

// judge evaluates an event under the profile. If the profile panics, the run gets no verdict at that event, and other runs are
// not affected. The event is recorded, because otherwise its sender would send it again.
func (f *fold) judge(e *unloop.Event) (d policy.Decision) {
	defer func() {
		if cause := recover(); cause != nil {
			f.unjudged++
			f.cause = fmt.Errorf("judge event %s: %v\n%s", e.ID, cause, debug.Stack())
			d = policy.Decision{}
		}
	}()
	return f.session.Add(e)
}

// nameSource is the source of the name of a run. A higher source replaces a lower one.
type nameSource uint8

const (
	byMessage nameSource = iota // the first message of the user, or no name yet
	byAgent                     // the first agent of a trace
	byEnd                       // the event that ends the run
	byStart                     // the event that starts the run
	byRequest                   // the first message of the user in a trace
)

// setName sets the name of the run, unless the current name has a better source.
func (s *foldState) setName(name string, by nameSource) {
	if name != "" && by > s.NamedBy {
		s.Name, s.NamedBy = name, by
	}
}

// apply updates the facts about the run as a whole with an event.
func (f *fold) apply(e *unloop.Event, happened time.Time) {
	s := &f.s
	s.Agents, s.Models = withName(s.Agents, e.Agent, store.MaxAgents), withName(s.Models, e.Model, store.MaxModels)
	if e.SpanID != "" { // nothing says that a run of spans has begun
		s.setName(e.Agent, byAgent)
	}
	switch e.Type {
	case unloop.RunStarted:
		s.setName(e.Name, byStart)
		s.Status, s.Ended = store.Running, time.Time{}
	case unloop.RunCompleted:
		s.setName(e.Name, byEnd)
		s.Status, s.Ended = store.Completed, s.endAt(happened)
	case unloop.RunFailed:
		s.setName(e.Name, byEnd)
		s.Status, s.Ended = store.Failed, s.endAt(happened)
	case unloop.ToolCallStarted:
		s.Status, s.Ended = store.Running, time.Time{}
		s.Tools = withName(s.Tools, e.ToolName(), store.MaxTools)
	case unloop.MessageSent:
		s.Status, s.Ended = store.Running, time.Time{}
		if e.Role == unloop.RoleUser && !f.untitled {
			f.title(e)
		}
	case unloop.LLMCallStarted, unloop.HandoffStarted:
		s.Status, s.Ended = store.Running, time.Time{}
	}
}

// title names the run after a message of its user, unless the run has a better name.
func (f *fold) title(e *unloop.Event) {
	s := &f.s
	switch {
	case e.SpanID != "" && s.NamedBy < byStart:
		s.setName(TitleOf(e.Text), byRequest)
	case s.Name == "":
		s.Name = TitleOf(e.Text)
	}
}

// endAt returns the end of a run whose last event happened at a time. No run ends before it began, although a clock may have been set back.
func (s *foldState) endAt(happened time.Time) time.Time {
	if happened.Before(s.Started) {
		return s.Started
	}
	return happened
}

// withName returns the sorted names with another one, if there is room for it.
func withName(names []string, name string, most int) []string {
	if name == "" || len(names) == most {
		return names
	}
	k, known := slices.BinarySearch(names, name)
	if known {
		return names
	}
	return slices.Insert(slices.Clip(names), k, name) // a new array, because rows share the old one
}

func (f *fold) warn(happened time.Time) {
	grown := f.session.Grown()
	if len(grown) == 0 {
		return
	}
	if f.s.Warnings == nil {
		f.s.Warnings = make(map[string]warningTimes)
	}
	if f.grown == nil {
		f.grown = make(map[string]bool)
	}
	if f.s.FirstWarningAt.IsZero() {
		f.s.FirstWarningAt = happened
		f.s.UsageAtFirstWarning = f.usage()
	}
	for k := range grown {
		key := warningKey(grown[k].Rule, grown[k].Subject)
		r, known := f.s.Warnings[key]
		if !known {
			r.Created = happened
		}
		r.Updated = happened
		f.s.Warnings[key] = r
		f.grown[key] = true
	}
}

func warningKey(rule, subject string) string { return rule + "\x00" + subject }

func (f *fold) usage() store.Usage {
	m := f.session.Run().Metrics()
	return store.Usage{Calls: m.ToolCalls, Tokens: m.Tokens, Cost: m.Cost}
}

// usageAfterWarning returns the usage since the first warning.
func (f *fold) usageAfterWarning() store.Usage {
	if f.s.FirstWarningAt.IsZero() {
		return store.Usage{}
	}
	return f.usageSince(f.s.UsageAtFirstWarning)
}

// usageSince returns the usage since then, the usage at an earlier event.
func (f *fold) usageSince(then store.Usage) store.Usage {
	now := f.usage()
	return store.Usage{
		Calls: now.Calls - then.Calls, Tokens: difference(now.Tokens, then.Tokens), Cost: store.Finite(now.Cost - then.Cost),
	}
}

// difference returns a - b, limited to the range of int64.
func difference(a, b int64) int64 {
	switch d := a - b; {
	case b < 0 && d < a:
		return math.MaxInt64
	case b > 0 && d > a:
		return math.MinInt64
	default:
		return d
	}
}

func (f *fold) metrics() store.Metrics {
	m := f.session.Run().Metrics()
	if !f.s.Timed {
		return store.MetricsOf(&m, 0) // times of arrival say nothing of the run
	}
	return store.MetricsOf(&m, f.s.Last.Sub(f.s.Started))
}
