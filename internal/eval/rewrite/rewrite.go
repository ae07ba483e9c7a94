// Package rewrite writes labelled runs as other agents and harnesses would have written them: with other names of tools, other forms of
// arguments and results, and messages elsewhere. The agents of the runs do the same work, so the verdicts of a profile should be the same.
package rewrite

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/eval"
)

// Form is how an agent or a harness writes a run. Equal runs give equal runs.
type Form struct {
	Name  string // lower case with underscores
	Title string // what differs

	call    func(*call)                // rewrites a call; nil for none
	after   func(*call) []entry        // returns entries to add behind a call; nil for none
	message func(n int, e entry) entry // rewrites message n of an agent; nil for none
}

// Find returns the form with a name.
func Find(name string) (Form, error) {
	forms := Forms()
	at := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name })
	if at < 0 {
		return Form{}, fmt.Errorf("unknown form %q", name)
	}
	return forms[at], nil
}

// Rewrite returns a copy of a run in the form. The labels of the copy are at the same events. An event that is not a JSON object is an error.
func (f Form) Rewrite(run *eval.Run) (*eval.Run, error) {
	out := &eval.Run{ID: run.ID, Source: run.Source, Outcome: run.Outcome}
	var first, last []int // where each event begins and ends
	var screen []string
	for n, text := range run.Events {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("rewrite event %d of run %s: %w", n, run.ID, err)
		}
		first = append(first, len(out.Events))
		for _, e := range f.entries(n, e, &screen) {
			text, err := encode(e)
			if err != nil {
				return nil, fmt.Errorf("rewrite event %d of run %s: %w", n, run.ID, err)
			}
			out.Events = append(out.Events, jsontext.Value(text))
		}
		last = append(last, len(out.Events)-1)
	}
	out.Labels = moved(run.Labels, first, last)
	return out, nil
}

// entries returns what the form writes for the entry number n: the entry itself, and what the form adds behind it. screen is the run's terminal.
func (f Form) entries(n int, e entry, screen *[]string) []entry {
	switch {
	case f.message != nil && e.text("kind") == "message" && e.text("role") == "assistant":
		return []entry{f.message(n, e)}
	case e.text("kind") != "tool_call":
		return []entry{e}
	}
	c := read(n, e)
	c.screen = screen
	if f.call != nil {
		f.call(c)
	}
	entries := []entry{e}
	if f.after != nil {
		entries = append(entries, f.after(c)...)
	}
	return entries
}

// moved returns labels with each position where first and last say that its event begins and ends.
func moved(l eval.Labels, first, last []int) eval.Labels {
	if l.Loop != nil {
		loop := *l.Loop
		loop.Onset, loop.End = first[loop.Onset], last[loop.End]
		l.Loop = &loop
	}
	l.Moments = slices.Clone(l.Moments)
	for k := range l.Moments {
		l.Moments[k].AfterEvent = last[l.Moments[k].AfterEvent]
	}
	if l.Stuck != nil {
		stuck := eval.Stuck{Agreed: slices.Clone(l.Stuck.Agreed), Borderline: slices.Clone(l.Stuck.Borderline)}
		for _, list := range [...][]eval.Stretch{stuck.Agreed, stuck.Borderline} {
			for k := range list {
				list[k].Onset, list[k].End = first[list[k].Onset], last[list[k].End]
			}
		}
		l.Stuck = &stuck
	}
	return l
}
