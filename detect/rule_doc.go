package detect

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/unloop-ai/unloop"
)

//go:embed doc.go
var source string

// RuleDoc is the documentation of a rule, from the package comment.
type RuleDoc struct {
	Rule string
	When string // what fires it, in one sentence
	Why  string // why it matters
	Try  string // what to try
	More string // further paragraphs, separated by empty lines; "" if there are none
}

// ruleDocs are the documentations by rule. They are parsed at first use: most starts of the program need none.
var ruleDocs = sync.OnceValue(func() map[string]RuleDoc { return parseRuleDocs(source) })

// Explain returns the documentation of a rule. It returns false if there is no such rule.
func Explain(rule string) (RuleDoc, bool) {
	doc, ok := ruleDocs()[rule]
	return doc, ok
}

// Rules returns the names of all rules, sorted.
func Rules() []string { return slices.Sorted(maps.Keys(ruleDocs())) }

// parseRuleDocs parses the sections of the package comment: a heading, then paragraphs.
func parseRuleDocs(source string) map[string]RuleDoc {
	_, comment, _ := strings.Cut(source, "/*")
	comment, _, _ = strings.Cut(comment, "*/")
	found := make(map[string]RuleDoc)
	for _, section := range strings.Split(comment, "\n# ")[1:] {
		rule, body, _ := strings.Cut(section, "\n")
		doc := RuleDoc{Rule: rule}
		for _, paragraph := range strings.Split(strings.TrimSpace(body), "\n\n") {
			text := strings.Join(strings.Fields(paragraph), " ")
			switch {
			case strings.HasPrefix(text, "Why: "):
				doc.Why = sentence(text[len("Why: "):])
			case strings.HasPrefix(text, "Try: "):
				doc.Try = sentence(text[len("Try: "):])
			case doc.When == "":
				doc.When = text
			default:
				doc.More = strings.TrimPrefix(doc.More+"\n\n"+text, "\n\n")
			}
		}
		found[rule] = doc
	}
	return found
}

// sentence returns s with an upper-case first letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// finding returns a finding of a rule at the latest event of the run. Its field What is formatted from format and args.
func finding(r *unloop.Run, rule, subject string, count int, format string, args ...any) unloop.Finding {
	doc := ruleDocs()[rule]
	at := r.Current().Ref
	return unloop.Finding{
		Rule: rule, Severity: unloop.SeverityWarning, Subject: subject, Count: count,
		Event: at, First: at, What: fmt.Sprintf(format, args...), Why: doc.Why, Try: doc.Try,
	}
}

// currentStart reports whether the latest event is the start of a call of a named tool, and returns its step.
func currentStart(r *unloop.Run) (*unloop.Step, bool) {
	now := r.Current()
	return now.Step, now.Step != nil && now.Type == unloop.ToolCallStarted && now.Step.Tool != ""
}

// recent is the number of calls that detectors look back over: as many as a run keeps.
const recent = 32

// evidence collects the events that show a finding, latest first. Method add returns false when it is full.
type evidence []unloop.EventRef

func (e *evidence) add(ref unloop.EventRef) bool {
	*e = append(*e, ref)
	return len(*e) < unloop.MaxEvidence
}

// latest returns the n latest events.
func (e evidence) latest(n int) evidence { return e[:min(n, len(e))] }

// attach sets Evidence and First of f, oldest first. If there are no events, because the steps were evicted or have no start,
// the event of f is its evidence.
func (e evidence) attach(f *unloop.Finding) {
	if len(e) == 0 {
		e.add(f.Event)
	}
	slices.Reverse(e)
	f.Evidence, f.First = e, e[0]
}

// latestSteps yields the last n steps that the run keeps, the latest first.
func latestSteps(r *unloop.Run, n int) iter.Seq[*unloop.Step] {
	return func(yield func(*unloop.Step) bool) {
		for k := range n {
			if s := r.StepAt(k); s == nil || !yield(s) {
				return
			}
		}
	}
}

// callsThat collects the starts of the calls for which ok holds, among the last window calls.
func callsThat(r *unloop.Run, window int, ok func(*unloop.Step) bool) evidence {
	var e evidence
	for s := range latestSteps(r, window) {
		if ok(s) && !e.add(s.Start) {
			break
		}
	}
	return e
}

// currentOutcome reports whether the latest event is the captured outcome of a call that ran, and returns its step.
func currentOutcome(r *unloop.Run) (*unloop.Step, bool) {
	step := r.Current().Step
	return step, step != nil && step.NormalizedResult != 0 && (step.Outcome == unloop.Completed || step.Outcome == unloop.Failed)
}

// stepsThat collects the ends of the steps with a captured outcome for which ok holds, among the last window calls.
func stepsThat(r *unloop.Run, window int, ok func(*unloop.Step) bool) evidence {
	var e evidence
	for s := range latestSteps(r, window) {
		if s.NormalizedResult|s.ResultHash != 0 && ok(s) && !e.add(s.End) {
			break
		}
	}
	return e
}

// joinSorted sorts names and joins them with |, each once.
func joinSorted(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "|")
}
