package pipeline

import (
	"bytes"
	"context"
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxReportedAnalyses bounds the changed analyses that one update carries. If more change, the update only has a flag.
const maxReportedAnalyses = 4096

// reanalyzed collects the stored events whose analysis a refold changed.
type reanalyzed struct {
	changed   []store.Reanalyzed // not written yet
	reported  []store.Reanalyzed // for the sinks, at most maxReportedAnalyses
	truncated bool               // there were more, so reported is empty
}

func (r *reanalyzed) note(e *store.Event, analysis []byte) {
	changed := store.Reanalyzed{Arrival: e.Arrival, Run: e.Run, EventID: e.ID, Analysis: analysis}
	r.changed = append(r.changed, changed)
	if len(r.reported) == maxReportedAnalyses {
		r.reported, r.truncated = nil, true
	}
	if !r.truncated {
		r.reported = append(r.reported, changed)
	}
}

// addStored folds an event of the store, keeps it, and records its analysis if it differs from the stored one. whole is the event if it is
// in memory with its whole content, else nil. An event that cannot be decoded is not folded.
func (t *runChange) addStored(p *Pipeline, whole *unloop.Event, e *store.Event) {
	event := whole
	if event == nil {
		event = p.decode(e)
	}
	var analysis []byte
	if event != nil {
		if _, analysis = t.add(p, event, placementOf(e)); !bytes.Equal(analysis, e.Analysis) {
			t.note(e, analysis)
		}
	}
	t.keepStored(event, e, analysis)
}

// writeAnalyses writes the analyses that a slice of a refold changed. This bounds the memory of a long refold. Until the refold
// is recorded, the analyses before and after the slice can be inconsistent. The mark of the run stays, so a crash repeats the
// refold.
func (p *Pipeline) writeAnalyses(ctx context.Context, r *refold) error {
	if r.runChange == nil || len(r.changed) == 0 {
		return nil
	}
	_, err := p.commit(ctx, &store.Batch{Analyses: r.changed})
	r.changed = nil
	return err
}

var maskers = sync.Pool{New: func() any { return new(fingerprint.Masker) }}

// analyze returns the stored form of the analysis of the event that was just added to the fold. It reads the state of the fold and
// does not change it, so equal events in equal order give equal analyses.
func (f *fold) analyze(e *unloop.Event) []byte {
	a := store.Analysis{CallEvent: f.joined}
	current := f.session.Run().Current()
	switch {
	case e.Type == unloop.MessageSent && e.Role != unloop.RoleUser:
		analyzeMessage(&a, e, current.Text)
	case current.Step != nil:
		f.analyzeCall(&a, e, current.Step)
	}
	return a.JSON()
}

func (f *fold) analyzeCall(a *store.Analysis, e *unloop.Event, step *unloop.Step) {
	a.Call = step.Question
	if step.Outcome != unloop.Completed && step.Outcome != unloop.Failed || e.Output == nil && e.Error == nil {
		return
	}
	if step.NormalizedResult == 0 { // no detector of the profile reads results, so the novelty is unknown
		a.Result = masked(e.Output, e.Error)
		return
	}
	a.Result, a.Novelty = step.NormalizedResult, store.NotNovel
	a.Failing = step.Failing && step.Outcome == unloop.Completed
	if step.Novel {
		a.Novelty = store.Novel
	}
	if step.Repeats.N > 1 {
		a.Repeats, a.RepeatsEvent = step.Repeats.N, f.earlier(step)
	}
}

// earlier returns the id of the latest earlier event at which an equal call had the same result; "" if the run does not remember it.
func (f *fold) earlier(step *unloop.Step) string {
	run := f.session.Run()
	latest := unloop.EventRef{Number: -1}
	for k := 0; ; k++ {
		s := run.StepAt(k)
		if s == nil {
			return store.Key(latest.ID)
		}
		if s.Number != step.Number && s.Question == step.Question && s.NormalizedResult == step.NormalizedResult && s.End.Number > latest.Number {
			latest = s.End
		}
	}
}

// analyzeMessage compares exact texts by a hash without volatile parts. Similar texts are known if the profile compares messages.
func analyzeMessage(a *store.Analysis, e *unloop.Event, text *unloop.Text) {
	if e.Text != "" {
		a.Call = masked([]byte(e.Text), nil)
	} else if e.Output != nil {
		a.Call = masked(e.Output, nil)
	}
	switch {
	case text == nil || text.Similar == 0: // too short to compare
	case text.Similar == 1:
		a.Novelty = store.Novel
	default:
		a.Novelty, a.Repeats, a.RepeatsEvent = store.NotNovel, text.Similar, store.Key(text.First.ID)
	}
}

// masked hashes an output and an error without their volatile parts.
func masked(output, failure []byte) unloop.Hash {
	m := maskers.Get().(*fingerprint.Masker)
	defer maskers.Put(m)
	return fingerprint.Join(m.Masked(output), m.Masked(failure))
}
