package api

import (
	"encoding/json"

	"github.com/unloop-ai/unloop/internal/store"
)

// Analysis is the stored analysis of an event. Its members have the names of the stored ones.
type Analysis struct {
	Call         string `json:"call,omitempty" required:"false" doc:"Identity of the call within its run: equal for calls of the same tool with the same arguments, as far as the arguments decide the result. For an assistant's message: identity of the text without volatile parts."`
	Result       string `json:"result,omitempty" required:"false" doc:"Identity of the call's result within its run, without volatile parts such as times and ids. Absent if the result was not captured."`
	CallEvent    string `json:"call_event_id,omitempty" required:"false" doc:"Id of the event that started the call that this event ends. Absent if the event ends no call, or a call without a known start."`
	Novel        *bool  `json:"novel,omitempty" required:"false" doc:"Whether the result is new in the run. Absent if that is unknown."`
	Failing      bool   `json:"failing,omitzero" required:"false" doc:"true: the call completed, and its result describes a failure, such as an exit status. A profile that does not read results does not tell."`
	Repeats      int    `json:"repeats,omitzero" required:"false" minimum:"0" doc:"Number of times that the call had this result, this time included. Absent if it is the first time or unknown. For an assistant's message: the number of nearly equal messages among the latest 6 of the agent."`
	RepeatsEvent string `json:"repeats_event_id,omitempty" required:"false" doc:"Id of the latest earlier event that this one repeats; for a message, of the earliest. Absent if the run does not remember it."`
}

// EventAnalysis is the new analysis of an earlier event.
type EventAnalysis struct {
	EventID  string    `json:"event_id" doc:"The event's id."`
	Analysis *Analysis `json:"analysis" doc:"The event's analysis, which replaces the earlier one."`
}

// analysisOf decodes a stored analysis; nil for none.
func analysisOf(stored []byte) *Analysis {
	var a *Analysis
	if len(stored) == 0 || json.Unmarshal(stored, &a) != nil {
		return nil // a newer program may have written it
	}
	return a
}

// AnalysesOf returns the analyses that have changed.
func AnalysesOf(changed []store.Reanalyzed) (all []EventAnalysis) {
	for k := range changed {
		all = append(all, EventAnalysis{changed[k].EventID, analysisOf(changed[k].Analysis)})
	}
	return all
}
