package pipeline

import (
	"encoding/json"
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

// fold is what a run's events come to, up to the furthest that was added. A checkpoint is its JSON.
type fold struct {
	session *profile.Session
	grew    bool            // any warning may be new or have grown since they were last looked at
	grown   map[string]bool // keys of those that are, beside that
	s       foldState

	unjudged int   // events at which the profile panicked
	cause    error // of the latest
}

// foldState is what a fold keeps beside its watch.
type foldState struct {
	Furthest            store.Position
	Events              int
	Arrival             int64     // the highest
	Received            time.Time // the latest
	Bytes               int64
	Name                string
	NamedBy             nameSource
	Status              string
	Started             time.Time
	Ended               time.Time
	Last                time.Time // when the latest event happened
	Tools               []string
	Warnings            map[string]warningTimes // by warning
	WorstAction         uint8                   // a policy.Action
	Decisions           int
	FirstWarningAt      time.Time
	UsageAtFirstWarning store.Usage // when the first warning was raised
	Novelty             novelty
	Health              []store.HealthAt // never written over: rows share it
	SlowestEvent        string           // the id of the event that took longest
	MaxLatency          float64          // for how long, in milliseconds
}

// warningTimes says when a warning was raised and grew last.
type warningTimes struct{ Created, Updated time.Time }

func newFold(p *profile.Profile, id string) *fold {
	f := &fold{session: p.NewSession(id), s: foldState{Furthest: store.Start, Status: store.Running}}
	f.s.Health = []store.HealthAt{{Number: 0, Score: f.session.Health().Score}}
	return f
}

// placement says where an event stands, and when it arrived.
type placement struct {
	at       store.Position
	arrival  int64
	received time.Time
	size     int // of the body, in bytes
}

func placementOf(e *store.Event) placement {
	return placement{e.Position, e.Arrival, e.Received, len(e.Body)}
}

// rowOverhead is about what an event takes in a store beside its body, in bytes: its row, its id twice, its places in indexes.
const rowOverhead = 220

// add folds the run's next event.
func (f *fold) add(e *unloop.Event, as placement) policy.Decision {
	happened := e.Time.UTC()
	if e.Time.IsZero() {
		happened = as.received
	}
	d := f.judge(e)
	s := &f.s
	s.Arrival = max(s.Arrival, as.arrival)
	if as.received.After(s.Received) {
		s.Received = as.received
	}
	if s.Events == 0 {
		s.Started = happened
	}
	s.Events++
	s.Bytes += int64(as.size + rowOverhead)
	s.Last = happened
	if as.at.Compare(s.Furthest) > 0 {
		s.Furthest = as.at
	}
	f.note(e, happened)
	f.warn(happened)
	f.preview(e)
	s.WorstAction = max(s.WorstAction, uint8(d.Action))
	if d.Action != policy.Allow {
		s.Decisions++
	}
	return d
}

// judge has the profile judge an event. A panic costs the run the verdict at that event, and the other runs nothing: the event is
// recorded, for it would come again and again otherwise.
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

// nameSource says what named a run, the later the better.
type nameSource uint8

const (
	unnamed nameSource = iota
	byAgent            // the first of a trace
	byEnd
	byStart
)

// setName names the run, if that is better than the name it has.
func (s *foldState) setName(name string, by nameSource) {
	if name != "" && by > s.NamedBy {
		s.Name, s.NamedBy = name, by
	}
}

// note takes what an event says of the run as a whole.
func (f *fold) note(e *unloop.Event, happened time.Time) {
	s := &f.s
	if e.SpanID != "" { // nothing says that a run of spans has begun
		s.setName(e.Agent, byAgent)
	}
	switch e.Type {
	case unloop.RunStarted:
		s.setName(e.Name, byStart)
		s.Status, s.Ended = store.Running, time.Time{}
	case unloop.RunCompleted:
		s.setName(e.Name, byEnd)
		s.Status, s.Ended = store.Completed, happened
	case unloop.RunFailed:
		s.setName(e.Name, byEnd)
		s.Status, s.Ended = store.Failed, happened
	case unloop.ToolCallStarted:
		s.Status, s.Ended = store.Running, time.Time{}
		if name := e.ToolName(); name != "" && len(s.Tools) < store.MaxTools {
			if k, known := slices.BinarySearch(s.Tools, name); !known {
				s.Tools = slices.Insert(slices.Clip(s.Tools), k, name) // a new array, for rows share the old one
			}
		}
	case unloop.LLMCallStarted, unloop.MessageSent, unloop.HandoffStarted:
		s.Status, s.Ended = store.Running, time.Time{}
	}
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

// usageAfterWarning returns what the run took since its first warning.
func (f *fold) usageAfterWarning() store.Usage {
	if f.s.FirstWarningAt.IsZero() {
		return store.Usage{}
	}
	now := f.usage()
	return store.Usage{
		Calls: now.Calls - f.s.UsageAtFirstWarning.Calls, Tokens: difference(now.Tokens, f.s.UsageAtFirstWarning.Tokens), Cost: store.Finite(now.Cost - f.s.UsageAtFirstWarning.Cost),
	}
}

// difference takes b from a; where an int64 does not hold that, it is the nearest that it does.
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
	return store.MetricsOf(&m, f.s.Last.Sub(f.s.Started))
}

// checkpointVersion is another whenever a fold keeps what it did not before.
const checkpointVersion = 2

// checkpoint is the JSON of a fold.
type checkpoint struct {
	Version  int              `json:"version"`
	Settings fingerprint.Hash `json:"settings"` // of the profile, under which it holds
	Fold     foldState        `json:"fold"`
	Watch    json.RawMessage  `json:"watch,omitempty"`
}

// checkpoint returns what restore reads. A fold at which the profile panicked has none: its state may be that of an event that was
// left half way, and a program without that fault folds the run anew.
func (f *fold) checkpoint(settings fingerprint.Hash) ([]byte, error) {
	if f.unjudged > 0 {
		return nil, f.cause
	}
	watch, err := f.session.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("write a checkpoint: %w", err)
	}
	head, err := json.Marshal(checkpoint{Version: checkpointVersion, Settings: settings, Fold: f.s})
	if err != nil {
		return nil, fmt.Errorf("write a checkpoint: %w", err)
	}
	// The library would read the watch again, which is most of a checkpoint.
	return append(append(append(head[:len(head)-1], `,"watch":`...), watch...), '}'), nil
}

// restore returns the fold of a checkpoint; nil where it does not hold under the profile as it is now set, or is damaged.
func restore(p *profile.Profile, settings fingerprint.Hash, state []byte) *fold {
	var c checkpoint
	if json.Unmarshal(state, &c) != nil || c.Version != checkpointVersion || c.Settings != settings {
		return nil
	}
	watch, err := p.Restore(c.Watch)
	if err != nil || c.Fold.validate(watch) != nil {
		return nil
	}
	return &fold{session: watch, grew: true, s: c.Fold}
}
