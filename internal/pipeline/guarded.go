package pipeline

import (
	"encoding/json"
	"math"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/names"
	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// guardState is the state that a run's guard has reported, and the usage that the first stop of the run avoided or would have avoided.
type guardState struct {
	By       string
	Shadow   bool
	Stopped  bool        // by the guard; in an observed run, the profile would have stopped it
	Repeats  int         // the count of the decision that stopped it
	Estimate store.Usage // what the stop by the guard is taken to have avoided
	AtStop   store.Usage // of an observed run: the usage at its first stop
}

// acts reports whether a guard carries out its decisions in the run.
func (g *guardState) acts() bool { return g.By != "" && !g.Shadow }

// guarded returns the decision at the latest event. In a run with a guard that acts it is the guard's: what the server's own profile
// would have decided did not happen.
func (f *fold) guarded(e *unloop.Event, own policy.Decision) policy.Decision {
	g := &f.s.Guard
	report, reported := e.GuardReport()
	if reported {
		before := g.acts()
		g.By, g.Shadow = names.Shorten(report.By, maxGuardName), report.Shadow
		if g.acts() != before { // what was decided until now was not carried out, or was
			f.s.WorstAction, g.Stopped, g.Estimate, g.AtStop = 0, false, store.Usage{}, store.Usage{}
		}
	}
	f.byGuard = false
	d := own
	if g.acts() {
		d = policy.Decision{}
		if action, known := policy.ActionOf(report.Action); known && action != policy.Allow {
			f.byGuard = true
			d = policy.Decision{
				Action: action, Code: report.Code, Message: report.Message, Count: report.Count, Rule: report.Rule, Subject: report.Subject,
			}
		}
	}
	f.noteStop(e, &d, report.Span)
	return d
}

// maxGuardName is the maximum number of bytes of the name of a guard.
const maxGuardName = 128

// noteStop notes what the run had used at its first stop. An override takes the stop back: a person let the agent continue.
func (f *fold) noteStop(e *unloop.Event, d *policy.Decision, span int) {
	g := &f.s.Guard
	if e.Type == unloop.Override {
		g.Stopped, g.Repeats, g.Estimate, g.AtStop = false, 0, store.Usage{}, store.Usage{}
	}
	if g.Stopped || d.Action < policy.Block {
		return
	}
	g.Stopped, g.Repeats, g.AtStop = true, d.Count, f.usage()
	if g.acts() {
		g.Estimate = atPace(g.AtStop, float64(span)/float64(f.s.Events+1))
	}
}

// atPace returns what a part of the run would use at the run's own pace.
func atPace(u store.Usage, part float64) store.Usage {
	part = min(part, 1)
	return store.Usage{
		Calls: int(math.Round(float64(u.Calls) * part)), Tokens: int64(math.Round(float64(u.Tokens) * part)), Cost: store.Finite(u.Cost * part),
	}
}

// usageAfterStop returns what the first stop of the guard is taken to have avoided. In an observed run it is what the run used after
// the profile would have stopped it.
func (f *fold) usageAfterStop() store.Usage {
	g := &f.s.Guard
	switch {
	case !g.Stopped:
		return store.Usage{}
	case g.acts():
		return g.Estimate
	}
	return f.usageSince(g.AtStop)
}

// shownGuard returns what the row of the run shows of its guard.
func (g *guardState) shownGuard() store.Guard {
	shown := store.Guard{Stopped: g.Stopped, Repeats: g.Repeats}
	if g.Shadow {
		shown.ShadowedBy = g.By
		return shown
	}
	shown.By = g.By
	return shown
}

func (g *guardState) validate() error {
	var c snapshot.Check
	c.That(len(g.By) <= maxGuardName, "By has %d bytes", len(g.By))
	c.That(g.AtStop.Calls >= 0 && g.Estimate.Calls >= 0, "AtStop.Calls and Estimate.Calls are %d and %d, want 0 or more", g.AtStop.Calls, g.Estimate.Calls)
	return c.Err()
}

// bareReport returns the guard's report in the metadata of an event, without its message, which quotes content. Other metadata is
// omitted.
func bareReport(e *unloop.Event) json.RawMessage {
	report, reported := e.GuardReport()
	if !reported {
		return nil
	}
	report.Message = ""
	return report.Metadata()
}
