package scan

import (
	"cmp"
	"encoding/json"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// maxDecisions bounds the decisions in a verdict. Further ones are counted.
const maxDecisions = 10_000

// runScan is one run during a scan.
type runScan struct {
	id      string
	name    string // see report.Run
	src     *source
	session *profile.Session
	placing pipeline.Order
	late    bool  // events are out of order; the run is sorted and scanned later
	size    int64 // bytes of its events

	decisions []report.Decision
	dropped   int
	contents  *contents // nil if their content is not wanted
	steps     map[warningKey][]report.Step
	recent    [keptSteps]eventLine // lines of the latest events
	lines     map[warningKey]int   // lines of the events that the warnings name
}

// eventLine is the line of an event.
type eventLine struct{ number, line int }

type warningKey struct{ rule, subject string }

func (src *source) scanRun(id string) *runScan {
	t := &runScan{id: id, src: src, session: src.scan.Profile.NewSession(id)}
	if src.scan.Steps {
		t.contents, t.steps = new(contents), make(map[warningKey][]report.Step)
	}
	return t
}

// postpone frees the state of the run. Its events are read again and sorted later.
func (t *runScan) postpone() {
	*t = runScan{id: t.id, src: t.src, late: true, size: t.size}
}

func (t *runScan) add(e *unloop.Event) {
	d := t.session.Add(e)
	t.keepName(e)
	t.keepLines(e)
	if t.contents != nil {
		t.contents.keep(e, t.session.Run().Current())
		for k := range t.session.Grown() {
			f := &t.session.Grown()[k]
			t.steps[warningKey{f.Rule, f.Subject}] = t.contents.show(f.Evidence)
		}
	}
	if d.Action == policy.Allow {
		return
	}
	if len(t.decisions) >= maxDecisions {
		t.dropped++
		return
	}
	t.decisions = append(t.decisions, report.Decision{
		Event: t.session.Run().Current().Ref, Action: d.Action, Code: d.Code, Message: d.Message,
	})
}

// keepName keeps the name of the run, as the dashboard shows it.
func (t *runScan) keepName(e *unloop.Event) {
	switch {
	case e.Type == unloop.RunStarted && e.Name != "":
		t.name = e.Name
	case t.name == "" && e.Type == unloop.MessageSent && e.Role == unloop.RoleUser:
		t.name = pipeline.TitleOf(e.Text)
	}
}

// keepLines records the lines of the events that new or grown warnings name. Such an event is among the latest ones: the added
// event, or the start of the call that it ends.
func (t *runScan) keepLines(e *unloop.Event) {
	number := t.session.Run().Current().Ref.Number
	t.recent[number%keptSteps] = eventLine{number, e.Line}
	for k := range t.session.Grown() {
		f := &t.session.Grown()[k]
		if at := t.recent[f.Event.Number%keptSteps]; at.number == f.Event.Number {
			if t.lines == nil {
				t.lines = make(map[warningKey]int)
			}
			t.lines[warningKey{f.Rule, f.Subject}] = at.line
		}
	}
}

// finish reports the run.
func (t *runScan) finish(result *Result) error {
	run := t.session.Run()
	metrics := run.Metrics()
	verdict := report.Run{
		ID: t.id, Name: t.name, Source: t.src.name, Format: t.src.format.Name, Events: metrics.Events, Steps: run.Calls(),
		Health: t.session.Health(), Verdict: t.session.Verdict(), Metrics: metrics, Decisions: t.decisions, Dropped: t.dropped,
	}
	for _, f := range t.session.Warnings() {
		key := warningKey{f.Rule, f.Subject}
		verdict.Warnings = append(verdict.Warnings, report.Warning{Finding: f, Steps: t.steps[key], Line: t.lines[key]})
	}
	result.Runs++
	result.Worst = max(result.Worst, verdict.Worst())
	if err := t.src.scan.Verdict(&verdict); err != nil {
		return &stopError{err}
	}
	return nil
}

// contents keeps the content of the latest steps and messages of a run, to show those that show a warning.
type contents struct {
	steps    [keptSteps]kept
	messages [keptMessages]report.Step
	latest   int // place of the latest message
}

const (
	keptSteps    = 64  // steps; a run keeps 32, so each step that a warning names is here
	keptMessages = 32  // of all agents; a warning may name an older one
	shownText    = 400 // bytes of an input, an output or a message
)

type kept struct {
	number     int // of the call, from 1; 0 for none
	start, end int // numbers of its events
	step       report.Step
}

func (g *contents) keep(e *unloop.Event, now *unloop.Current) {
	if e.Role == unloop.RoleAssistant && e.Text != "" {
		g.latest = (g.latest + 1) % keptMessages
		g.messages[g.latest] = report.Step{Event: now.Ref, Time: e.Time, Agent: e.Agent, Tool: cmp.Or(e.Agent, "message"), Input: quoted(e.Text), Message: true}
	}
	if now.Step == nil {
		return
	}
	k := &g.steps[now.Step.Number%keptSteps]
	if k.number != now.Step.Number+1 {
		*k = kept{number: now.Step.Number + 1, start: now.Ref.Number, end: -1}
		k.step = report.Step{Event: now.Ref, Time: e.Time, Agent: e.Agent, Tool: now.Step.Tool, Input: clip(e.Input)}
	}
	if e.Type == unloop.ToolCallStarted {
		return
	}
	k.end = now.Ref.Number
	k.step.Failed = now.Step.Outcome == unloop.Failed
	if k.step.Output = clip(e.Output); k.step.Output == "" {
		k.step.Output = clip(e.Error)
	}
}

func clip(raw []byte) string { return string(raw[:min(len(raw), shownText)]) }

// quoted returns the beginning of a text as JSON.
func quoted(text string) string {
	raw, err := json.Marshal(text[:min(len(text), shownText)])
	if err != nil {
		return ""
	}
	return clip(raw)
}

// show returns the kept steps and messages of the events.
func (g *contents) show(evidence []unloop.EventRef) []report.Step {
	var steps []report.Step
	for _, ref := range evidence {
		for k := range g.steps {
			if at := &g.steps[k]; at.number > 0 && (at.start == ref.Number || at.end == ref.Number) && at.step.Tool != "" {
				steps = append(steps, at.step)
				break
			}
		}
		for k := range g.messages {
			if at := &g.messages[k]; at.Message && at.Event.Number == ref.Number {
				steps = append(steps, *at)
				break
			}
		}
	}
	return steps
}
