package httpd

import (
	"encoding/json"
	"slices"

	"github.com/unloop-ai/unloop/internal/store"
)

// Warning is a warning on the wire. What stands behind created_at is unloop's own.
type Warning struct {
	ID        string          `json:"warning_id" doc:"The same for the same run, rule and subject."`
	RunID     string          `json:"run_id" doc:"Of the run."`
	EventID   *string         `json:"event_id" doc:"The culprit: the latest event that belongs to it."`
	Type      string          `json:"type" doc:"The rule, such as same_call_same_result."`
	Severity  string          `json:"severity" enum:"info,warning,critical" doc:"How much it matters."`
	Message   string          `json:"message" doc:"What happened, in a sentence."`
	Details   json.RawMessage `json:"details" doc:"An object: why it matters (why), what to try (try), the events that prove it (evidence), and what else is known."`
	CreatedAt string          `json:"created_at" format:"date-time" doc:"When it was raised."`
	UpdatedAt string          `json:"updated_at" format:"date-time" doc:"When it grew last."`
	Subject   string          `json:"subject" doc:"The tool, the agents or the event that it is about; empty for the run as a whole."`
	Tool      *string         `json:"tool" doc:"The tool that it is about; null where it is about something else."`
	Count     *int            `json:"count" doc:"How often; it grows with the loop. Null where the rule has no count."`
}

func warningOf(run string, w *store.Warning) Warning {
	return Warning{
		ID: w.ID, RunID: run, EventID: orNull(w.EventID), Type: w.Rule, Severity: w.Severity, Message: w.Message,
		Details: objectOrNull(w.Details), CreatedAt: timestamp(w.Created), UpdatedAt: timestamp(w.Updated), Subject: w.Subject,
		Tool: orNull(w.Tool), Count: orNull(w.Count),
	}
}

// inOrder sorts warnings: the first raised first.
func inOrder(warnings []store.Warning) []store.Warning {
	sorted := slices.Clone(warnings) // whoever else has them may be reading
	slices.SortStableFunc(sorted, func(a, b store.Warning) int { return a.Created.Compare(b.Created) })
	return sorted
}

func warningsOf(run string, warnings []store.Warning) []Warning {
	all := make([]Warning, 0, len(warnings))
	for i := range warnings {
		all = append(all, warningOf(run, &warnings[i]))
	}
	return all
}

// Decision is a moment at which the profile's policy would not have said allow.
type Decision struct {
	RunID       string `json:"run_id" doc:"Of the run."`
	EventID     string `json:"event_id" doc:"At which it was decided."`
	EventNumber int    `json:"event_number" doc:"Of the event in the run, from 0."`
	Action      string `json:"action" enum:"allow,warn,block,halt" doc:"What the policy decided."`
	Code        string `json:"code" doc:"The rule, or the stage of a ladder, that decided."`
	Message     string `json:"message" doc:"For the agent and its owner."`
}

func decisionsOf(run string, decisions []store.Decision) []Decision {
	all := make([]Decision, 0, len(decisions))
	for i := range decisions {
		d := &decisions[i]
		all = append(all, Decision{run, d.EventID, d.Number, d.Action.String(), d.Code, d.Message})
	}
	return all
}
