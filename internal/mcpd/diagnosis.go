package mcpd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// diagnosis is the answer to whether a run loops.
type diagnosis struct {
	summary
	Verdict  string   `json:"verdict" doc:"Whether it loops, in one sentence."`
	Warnings []titled `json:"warnings" doc:"The most significant first."`
}

func diagnose(run *api.RunSummary, warnings []api.Warning) *diagnosis {
	d := &diagnosis{summary: summaryOf(run), Warnings: listOf(bySignificance(warnings), titledOf).Result}
	d.WarningCount = len(warnings)
	d.Verdict = d.verdict()
	return d
}

// bySignificance returns the warnings sorted by severity, then by the score, then by the count. It decodes the details of each once.
func bySignificance(warnings []api.Warning) []api.Warning {
	type weighed struct {
		warning *api.Warning
		details details
	}
	all := make([]weighed, 0, len(warnings))
	for i := range warnings {
		all = append(all, weighed{&warnings[i], detailsOf(&warnings[i])})
	}
	slices.SortStableFunc(all, func(a, b weighed) int {
		return cmp.Or(
			cmp.Compare(rank(b.warning.Severity), rank(a.warning.Severity)),
			cmp.Compare(b.details.Score, a.details.Score),
			cmp.Compare(b.details.Count, a.details.Count),
		)
	})
	sorted := make([]api.Warning, 0, len(all))
	for _, w := range all {
		sorted = append(sorted, *w.warning)
	}
	return sorted
}

// rank returns the place of a severity, from 0 for the least; -1 for an unknown one.
func rank(severity string) int {
	return slices.Index([]string{string(unloop.SeverityInfo), string(unloop.SeverityWarning), string(unloop.SeverityCritical)}, severity)
}

// details are the details of a warning that the tools read.
type details struct {
	Score      float64 `json:"score"`
	Count      float64 `json:"count"`
	Why        string  `json:"why"`
	Try        string  `json:"try"`
	FirstError string  `json:"first_error"`
	Changed    string  `json:"changed"`
	Evidence   []struct {
		EventID string `json:"event_id"`
	} `json:"evidence"`
}

// detailsOf returns the details of a warning. Those of another type than expected are left out.
func detailsOf(w *api.Warning) (d details) {
	_ = json.Unmarshal(w.Details, &d) // reads the others nevertheless
	return d
}

// furtherEvents returns the ids of the supporting events, without the culprit.
func (d *details) furtherEvents(culprit *string) (ids []string) {
	for _, e := range d.Evidence {
		if e.EventID != "" && (culprit == nil || e.EventID != *culprit) {
			ids = append(ids, e.EventID)
		}
	}
	return ids
}

func (d *diagnosis) verdict() string {
	if len(d.Warnings) == 0 {
		return d.verdictWithoutWarnings()
	}
	first := strings.TrimSuffix(d.Warnings[0].Message, ".")
	health := capitalized(d.HealthStatus)
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
	fmt.Fprintf(&b, "%s\n\nRun %s", d.Verdict, d.RunID)
	if d.Name != d.RunID {
		fmt.Fprintf(&b, " (%s)", d.Name)
	}
	fmt.Fprintf(&b, ": %s, health %d of 100", d.Status, d.HealthScore)
	if d.WorstDecision != "" && d.WorstDecision != policy.Allow.String() {
		fmt.Fprintf(&b, "; %s", decided(d.WorstDecision, d.GuardedBy))
	}
	b.WriteString(".\n")
	for i := range d.Warnings {
		writeWarning(&b, i+1, &d.Warnings[i].Warning)
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

func writeWarning(b *strings.Builder, number int, w *api.Warning) {
	d := detailsOf(w)
	fmt.Fprintf(b, "\n%d. %s (%s)", number, w.Type, w.Severity)
	if w.EventID != nil {
		fmt.Fprintf(b, ", culprit event %s", *w.EventID)
	}
	b.WriteString("\n")
	for _, line := range []struct{ label, text string }{
		{"What", w.Message},
		{"Why", d.Why},
		{"Try", d.Try},
		{"First error", d.FirstError},
		{"Changed between the calls", d.Changed},
		{"Further events", strings.Join(d.furtherEvents(w.EventID), ", ")},
	} {
		if line.text != "" {
			fmt.Fprintf(b, "   %s: %s\n", line.label, line.text)
		}
	}
}
