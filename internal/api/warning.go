package api

import (
	"encoding/json"
	"slices"

	"github.com/unloop-ai/unloop/internal/store"
)

// Warning is a warning. The members after created_at are unloop's own.
type Warning struct {
	ID        string          `json:"warning_id" doc:"The warning's id. The same run, rule and subject always give the same id."`
	RunID     string          `json:"run_id" doc:"The run's id."`
	EventID   *string         `json:"event_id" doc:"The culprit event: the latest event that belongs to the warning."`
	Type      string          `json:"type" doc:"Name of the rule, such as same_call_same_result."`
	Severity  string          `json:"severity" enum:"info,warning,critical" doc:"Severity of the warning."`
	Message   string          `json:"message" doc:"What happened, in one sentence."`
	Details   json.RawMessage `json:"details" doc:"An object with why it matters (why), what to try (try), the ids of supporting events (evidence), and further details of the rule."`
	CreatedAt string          `json:"created_at" format:"date-time" doc:"Time when it was raised."`
	UpdatedAt string          `json:"updated_at" format:"date-time" doc:"Time when it last grew."`
	Subject   string          `json:"subject" doc:"The tool, agents or event that it concerns; empty for the whole run."`
	Tool      *string         `json:"tool" doc:"The tool that it concerns; null if it concerns something else."`
	Count     *int            `json:"count" doc:"Number of repeats; it grows with the loop. Null if the rule has no count."`
}

// WarningOf returns a warning of the run with the id.
func WarningOf(run string, w *store.Warning) Warning {
	return Warning{
		ID: w.ID, RunID: run, EventID: OrNull(w.EventID), Type: w.Rule, Severity: w.Severity, Message: w.Message,
		Details: ObjectOrNull(w.Details), CreatedAt: Timestamp(w.Created), UpdatedAt: Timestamp(w.Updated), Subject: w.Subject,
		Tool: OrNull(w.Tool), Count: OrNull(w.Count),
	}
}

// InOrder returns a copy of the warnings, the first raised first.
func InOrder(warnings []store.Warning) []store.Warning {
	sorted := slices.Clone(warnings) // other goroutines may be reading them
	slices.SortStableFunc(sorted, func(a, b store.Warning) int { return a.Created.Compare(b.Created) })
	return sorted
}

// WarningsOf returns warnings of the run with the id; never nil.
func WarningsOf(run string, warnings []store.Warning) []Warning {
	all := make([]Warning, 0, len(warnings))
	for i := range warnings {
		all = append(all, WarningOf(run, &warnings[i]))
	}
	return all
}

// Decision is a decision of the profile's policy other than allow.
type Decision struct {
	RunID       string `json:"run_id" doc:"The run's id."`
	EventID     string `json:"event_id" doc:"Id of the event at which the decision was made."`
	EventNumber int    `json:"event_number" doc:"Index of the event in the run, from 0."`
	Action      string `json:"action" enum:"allow,warn,block,halt" doc:"The decision."`
	ByGuard     bool   `json:"by_guard" doc:"true: a guard made the decision and carried it out. false: nobody acted; the profile would have made it."`
	Code        string `json:"code" doc:"The rule, or the level of a ladder, that made the decision."`
	Message     string `json:"message" doc:"Message for the agent and its owner."`
}

// DecisionsOf returns decisions of the run with the id; never nil.
func DecisionsOf(run string, decisions []store.Decision) []Decision {
	all := make([]Decision, 0, len(decisions))
	for i := range decisions {
		d := &decisions[i]
		all = append(all, Decision{run, d.EventID, d.Number, d.Action.String(), d.ByGuard, d.Code, d.Message})
	}
	return all
}
