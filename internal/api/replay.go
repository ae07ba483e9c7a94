package api

import (
	"encoding/json"
)

// Question is the profile and the settings that a run is replayed with.
type Question struct {
	Profile  string                     `json:"profile,omitempty" required:"false" doc:"Name of a profile. Default: the profile of the run."`
	Settings map[string]json.RawMessage `json:"settings,omitempty" required:"false" doc:"Settings of the profile to change, by name: numbers, booleans, lists, or strings as accepted by --set."`
}

// Replay is what a profile makes of a recorded run.
type Replay struct {
	RunID         string            `json:"run_id" doc:"The run's id."`
	Profile       string            `json:"profile" doc:"The profile of this replay."`
	Settings      map[string]string `json:"settings" doc:"The changed settings, as accepted by --set."`
	Events        int               `json:"events" doc:"Number of evaluated events."`
	Cut           int               `json:"events_without_content" doc:"Number of evaluated events whose content is not stored in full. A replay may find less in them than was found when they arrived."`
	HealthScore   int               `json:"health_score" minimum:"0" maximum:"100" doc:"Health score, in the range of the health's word: healthy 80 to 100, repeated 50 to 79, looping 20 to 49, stuck 0 to 19."`
	HealthStatus  string            `json:"loop_health_status" enum:"healthy,repeated,looping,stuck" doc:"Health of the run as a whole. healthy: the policy made no decision. repeated: the run repeated itself and recovered. looping: a large part of the run, or its end, is a loop. stuck: both."`
	Health        []HealthPoint     `json:"health" doc:"Health over time: the initial value and one point for each change."`
	WorstDecision string            `json:"worst_decision" enum:"allow,warn,block,halt" doc:"The most severe decision."`
	WarnedAt      *string           `json:"warned_at" format:"date-time" doc:"Time when the first warning was raised; null without warnings."`
	After         UsageTotals       `json:"usage_after_warning" doc:"Usage of the run since its first warning."`
	Warnings      []Warning         `json:"warnings" doc:"Warnings, the first raised first."`
	Decisions     []Decision        `json:"decisions" doc:"The first 10,000 decisions other than allow, in the order of the run."`
}

// HealthPoint is the health from an event on.
type HealthPoint struct {
	EventNumber int `json:"event_number" doc:"Index of the event in the run, from 0."`
	HealthScore int `json:"health_score" minimum:"0" maximum:"100" doc:"Health score from this event on."`
}
