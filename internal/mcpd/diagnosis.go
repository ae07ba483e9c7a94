package mcpd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// diagnosis is the answer to whether a run loops.
type diagnosis struct {
	ID            string    `json:"run_id" jsonschema:"the run's id"`
	Name          string    `json:"name" jsonschema:"display name; the run's id if it has no other"`
	Status        string    `json:"status" jsonschema:"running, completed, failed or abandoned"`
	HealthScore   int       `json:"health_score" jsonschema:"0 to 100, in the range of loop_health_status: healthy 80 to 100, repeated 50 to 79, looping 20 to 49, stuck 0 to 19"`
	HealthStatus  string    `json:"loop_health_status" jsonschema:"how the run does as a whole: healthy, repeated (and recovered), looping or stuck"`
	Verdict       string    `json:"verdict" jsonschema:"whether it loops, in one sentence"`
	WarningCount  int       `json:"warning_count" jsonschema:"number of warnings"`
	Warnings      []Warning `json:"warnings" jsonschema:"the most significant first"`
	WorstDecision string    `json:"worst_decision" jsonschema:"the most severe decision so far: allow, warn, block or halt; guarded_by says whether a guard carried it out"`
	GuardedBy     *string   `json:"guarded_by" jsonschema:"the guard that carries out decisions in this run; null: the run is observed, and decisions say what a guard would have done"`
}

func diagnose(run *Run, warnings []Warning) *diagnosis {
	d := &diagnosis{
		ID: run.ID, Name: run.Name, Status: run.Status, HealthScore: run.HealthScore, HealthStatus: run.HealthStatus,
		WarningCount: len(warnings), Warnings: bySignificance(warnings), WorstDecision: run.WorstDecision,
		GuardedBy: run.GuardedBy,
	}
	d.Verdict = d.verdict()
	return d
}

// bySignificance sorts by severity, then by the score, then by the count.
func bySignificance(warnings []Warning) []Warning {
	warnings = append([]Warning{}, warnings...)
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(rank(b.Severity), rank(a.Severity)), cmp.Compare(b.number("score"), a.number("score")),
			cmp.Compare(b.number("count"), a.number("count")))
	})
	return warnings
}

func rank(severity string) int {
	return slices.Index([]string{string(unloop.SeverityInfo), string(unloop.SeverityWarning), string(unloop.SeverityCritical)}, severity)
}

// number returns a detail, or 0 if it is not a number.
func (w *Warning) number(detail string) float64 {
	n, ok := w.Details[detail].(json.Number)
	if !ok {
		return 0
	}
	f, _ := n.Float64() // the decoder accepted the number; one out of range becomes the largest
	return f
}

// words returns a detail, or "" if it is not a string.
func (w *Warning) words(detail string) string {
	s, _ := w.Details[detail].(string)
	return s
}

// proof returns the ids of the supporting events, without the culprit.
func (w *Warning) proof() (ids []string) {
	all, _ := w.Details["evidence"].([]any)
	for _, one := range all {
		event, _ := one.(map[string]any)
		id, _ := event["event_id"].(string)
		if id != "" && (w.EventID == nil || id != *w.EventID) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *diagnosis) verdict() string {
	if len(d.Warnings) == 0 {
		return d.verdictWithoutWarnings()
	}
	first := strings.TrimSuffix(d.Warnings[0].Message, ".")
	health := strings.ToUpper(d.HealthStatus[:min(1, len(d.HealthStatus))]) + d.HealthStatus[min(1, len(d.HealthStatus)):]
	switch n := len(d.Warnings) - 1; n {
	case 0:
		return fmt.Sprintf("%s: %s.", health, first)
	case 1:
		return fmt.Sprintf("%s: %s, and there is another warning.", health, first)
	default:
		return fmt.Sprintf("%s: %s, and there are %d further warnings.", health, first, n)
	}
}

func (d *diagnosis) verdictWithoutWarnings() string {
	switch {
	case d.GuardedBy != nil && d.WorstDecision != policy.Allow.String(): // the guard may use another profile
		return "The server found no loop, but " + decided(d.WorstDecision, d.GuardedBy) + "."
	case d.Status == store.Failed:
		return "The run failed. No loop was found in it."
	}
	return "No loop was found."
}

// text returns the diagnosis as text for an agent that fixes the loop.
func (d *diagnosis) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nRun %s", d.Verdict, d.ID)
	if d.Name != d.ID {
		fmt.Fprintf(&b, " (%s)", d.Name)
	}
	fmt.Fprintf(&b, ": %s, health %d of 100", d.Status, d.HealthScore)
	if d.WorstDecision != "" && d.WorstDecision != policy.Allow.String() {
		fmt.Fprintf(&b, "; %s", decided(d.WorstDecision, d.GuardedBy))
	}
	b.WriteString(".\n")
	for i := range d.Warnings {
		d.Warnings[i].write(&b, i+1)
	}
	return b.String()
}

// decided says what the guard of the run did, or what one would have done in an observed run.
func decided(action string, guardedBy *string) string {
	did := map[string]string{"warn": "nudged", "block": "blocked a call of", "halt": "halted"}[action]
	if guardedBy != nil {
		return fmt.Sprintf("its guard (%s) %s it", *guardedBy, did)
	}
	return fmt.Sprintf("it is observed: a guard would have %s it", did)
}

func (w *Warning) write(b *strings.Builder, number int) {
	fmt.Fprintf(b, "\n%d. %s (%s)", number, w.Type, w.Severity)
	if w.EventID != nil {
		fmt.Fprintf(b, ", culprit event %s", *w.EventID)
	}
	b.WriteString("\n")
	for _, line := range []struct{ label, text string }{
		{"What", w.Message},
		{"Why", w.words("why")},
		{"Try", w.words("try")},
		{"First error", w.words("first_error")},
		{"Changed between the calls", w.words("changed")},
		{"Further events", strings.Join(w.proof(), ", ")},
	} {
		if line.text != "" {
			fmt.Fprintf(b, "   %s: %s\n", line.label, line.text)
		}
	}
}
