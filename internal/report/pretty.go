package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// PrettyOptions are the options of Pretty.
type PrettyOptions struct {
	Color bool
	Width int // columns, at least 60; 0 means 100

	Verbose bool // also show healthy runs
}

// Pretty returns a writer for people. It writes each run with a problem immediately, with what happened, why it matters, what to
// try and the steps that prove it. Verbose also shows healthy runs, one line each. Close writes a summary, except after a single
// displayed run.
func Pretty(w io.Writer, o PrettyOptions) Writer {
	width := max(cmp.Or(o.Width, 100), 60)
	return &prettyWriter{w: w, verbose: o.Verbose, page: page{color: o.Color, width: width}, rules: make(map[string]int), statuses: make(map[policy.Grade]int)}
}

type prettyWriter struct {
	w    io.Writer
	page page
	long bool // the last run had several lines

	verbose  bool
	shown    int // number of runs
	runs     int
	statuses map[policy.Grade]int
	rules    map[string]int       // warnings by rule
	met      [policy.Halt + 1]int // number of runs by action of the policy
}

func (p *prettyWriter) Write(r *Run) error {
	p.count(r)
	if !p.verbose && healthy(r) {
		return nil
	}
	p.page.Reset()
	long := len(r.Warnings)+len(r.Decisions) > 0
	if p.shown > 0 && (long || p.long) {
		p.page.line(0)
	}
	p.long = long
	p.shown++
	p.page.verdict(r)
	warnings := gravest(r.Warnings)
	for k, w := range warnings {
		p.page.line(0)
		p.page.warning(w, shownBy(warnings[:k], w))
	}
	_, err := p.w.Write(p.page.Bytes())
	return err
}

// healthy reports whether the run has no problem.
func healthy(r *Run) bool {
	return len(r.Warnings)+len(r.Decisions) == 0 && !r.Metrics.Failed
}

func (p *prettyWriter) count(r *Run) {
	p.runs++
	p.statuses[r.Health.Status]++
	for k := range r.Warnings {
		p.rules[r.Warnings[k].Rule]++
	}
	var met [policy.Halt + 1]bool
	for _, d := range r.Decisions {
		if d.Action <= policy.Halt && !met[d.Action] {
			met[d.Action] = true
			p.met[d.Action]++
		}
	}
}

// Close writes the summary.
func (p *prettyWriter) Close() error {
	if p.runs == 0 || p.runs == 1 && p.shown == 1 {
		return nil
	}
	p.page.Reset()
	var states []string
	for _, s := range []policy.Grade{policy.GradeHealthy, policy.GradeRepeated, policy.GradeLooping, policy.GradeStuck} {
		if n := p.statuses[s]; n > 0 {
			states = append(states, fmt.Sprint(n, " ", s))
		}
	}
	if p.shown > 0 {
		p.page.line(0)
	}
	p.page.paragraph(0, span{bold, number(p.runs, "run") + ": "}, regular, strings.Join(states, ", "))
	if len(p.rules) > 0 {
		names := slices.SortedFunc(maps.Keys(p.rules), func(a, b string) int {
			return cmp.Or(p.rules[b]-p.rules[a], cmp.Compare(a, b))
		})
		for k, name := range names {
			names[k] = fmt.Sprint(plain(name), " ", p.rules[name])
		}
		p.page.paragraph(0, span{bold, "warnings: "}, regular, strings.Join(names, ", "))
	}
	p.page.paragraph(0, span{bold, "policy: "}, regular, p.fates())
	_, err := p.w.Write(p.page.Bytes())
	return err
}

// fates returns the number of runs with actions of the policy, or "" if there are none.
func (p *prettyWriter) fates() string {
	var parts []string
	for _, m := range []struct {
		action policy.Action
		verb   string
	}{{policy.Warn, "nudged "}, {policy.Block, "blocked calls in "}, {policy.Halt, "halted "}} {
		if n := p.met[m.action]; n > 0 {
			parts = append(parts, m.verb+number(n, "run"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "would have " + strings.Join(parts, ", ")
}

// verdict writes a line about the run, and a line about the actions of the policy. The source is not cut, since people
// copy it: it has a line of its own if the first one has no room.
func (p *page) verdict(r *Run) {
	mark, look := "✗", red
	switch r.Health.Status {
	case policy.GradeHealthy:
		mark, look = "✓", green
	case policy.GradeRepeated:
		mark, look = "▲", yellow
	}
	state := fmt.Sprintf("%s %-8s %3d/100  ", mark, plain(string(r.Health.Status)), r.Health.Score)
	id, source := fit(plain(r.ID), p.width-columns(state)), plain(r.Source)
	facts := []string{number(r.Steps, "step"), number(r.Events, "event")}
	if c := cost(r.Metrics.Cost); c != "" {
		facts = append(facts, c)
	}
	if r.Metrics.Failed {
		facts = append(facts, "failed")
	}
	about := "  " + strings.Join(facts, ", ")
	room := p.width - columns(state) - columns(id)
	beside := columns(about)+2+columns(source) <= room
	switch {
	case beside:
		about += "  " + source
	case room > 10:
		about = fit(about, room)
	default:
		about = ""
	}
	p.line(0, span{look, state}, span{bold, id}, span{faint, strings.TrimRight(about, " ")})
	if name := plain(r.Name); name != "" && name != plain(r.ID) && len(r.Warnings)+len(r.Decisions) > 0 {
		p.line(2, span{regular, fit(`"`+name+`"`, p.width-2)})
	}
	if !beside && source != "" {
		p.line(2, span{faint, fitEnd(source, maxLines*p.width)})
	}
	if len(r.Decisions) > 0 {
		p.paragraph(2, span{}, regular, "The policy "+fate(r)+".")
	}
}

// verbs say what each action would have done.
var verbs = [...]string{policy.Warn: "nudged", policy.Block: "blocked", policy.Halt: "halted"}

// fate returns what the policy would have done, and at which event first.
func fate(r *Run) string {
	var parts []string
	for action := policy.Warn; action <= policy.Halt; action++ {
		k := slices.IndexFunc(r.Decisions, func(d Decision) bool { return d.Action == action })
		if k >= 0 {
			at := " at "
			if len(parts) == 0 {
				at += "event "
			}
			parts = append(parts, verbs[action]+at+label(r.Decisions[k].Event))
		}
	}
	if len(parts) == 0 {
		return "would have done nothing"
	}
	return "would have " + strings.Join(parts, ", ")
}

// shownBy returns the first of the warnings whose steps contain those of w, or nil.
func shownBy(warnings []*Warning, w *Warning) *Warning {
	for _, shown := range warnings {
		events := make(map[unloop.EventRef]bool, len(shown.Steps))
		for k := range shown.Steps {
			events[shown.Steps[k].Event] = true
		}
		if !slices.ContainsFunc(w.Steps, func(s Step) bool { return !events[s.Event] }) {
			return shown
		}
	}
	return nil
}

// warning writes what happened, why it matters, what to try, and the steps, unless the warning shown above it has the same steps.
func (p *page) warning(w, shown *Warning) {
	mark, look := "▲ ", yellow
	switch w.Severity {
	case unloop.SeverityCritical:
		mark, look = "✗ ", red
	case unloop.SeverityInfo:
		mark, look = "● ", blue
	}
	p.paragraph(2, span{look, mark}, bold, plain(w.What))
	at := label(w.Event)
	if w.First != w.Event {
		at = label(w.First) + " to " + at
	}
	p.paragraph(4, span{}, faint, fmt.Sprintf("%s, %s, %s", plain(w.Rule), plain(string(w.Severity)), at))
	p.paragraph(4, span{faint, "Why: "}, regular, plain(w.Why))
	p.paragraph(4, span{faint, "Try: "}, regular, plain(w.Try))
	switch {
	case len(w.Steps) > 0 && shown != nil:
		p.paragraph(4, span{faint, "Steps: "}, regular, "among those of "+plain(shown.Rule)+" above")
		return
	case len(w.Steps) > 0:
		if hidesSteps(w) {
			p.paragraph(4, span{faint, "Steps: "}, regular, fmt.Sprint("the latest ", len(w.Steps)))
		}
		p.line(0)
		p.steps(w.Steps)
		return
	}
	var events []string
	for _, e := range w.Evidence {
		events = append(events, label(e))
	}
	if len(events) > 1 {
		p.paragraph(4, span{faint, "Events: "}, regular, strings.Join(events, ", "))
	}
}

// hidesSteps reports whether the warning counts more steps than the run kept of its evidence. The count of a pattern is its number of rounds,
// and messages are shown by their first and their latest.
func hidesSteps(w *Warning) bool {
	shown := len(w.Steps)
	if shown < 2 || w.Steps[0].Message {
		return false
	}
	return w.Count*max(1, w.Period) > shown
}

func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// cost formats US dollars, or returns "" for no cost.
func cost(dollars float64) string {
	switch {
	case dollars <= 0:
		return ""
	case dollars < 0.01:
		return "under $0.01"
	}
	return fmt.Sprintf("$%.2f", dollars)
}
