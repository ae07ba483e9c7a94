package api

// ShadowRuns compares the decisions of the shadow profile with the recorded ones.
type ShadowRuns struct {
	Configured bool          `json:"configured" doc:"Whether the server has a shadow profile."`
	Profile    string        `json:"profile" doc:"Name of the shadow profile; empty without one."`
	Runs       int           `json:"runs" doc:"Number of recorded runs."`
	Judged     int           `json:"judged" doc:"Number of runs that the shadow profile has judged. Runs with new events are judged again."`
	TooLong    int           `json:"too_long" doc:"Number of runs that are not judged, because they have more events than a replay takes."`
	Counts     []ShadowCount `json:"counts" doc:"The judged runs by both decisions."`
	Items      []ShadowRun   `json:"items" doc:"The 200 runs that started last of those that the query selects."`
}

// ShadowCount is the number of runs with two decisions.
type ShadowCount struct {
	Decision string `json:"decision" enum:"allow,warn,block,halt" doc:"The most severe decision that is recorded."`
	Shadow   string `json:"shadow_decision" enum:"allow,warn,block,halt" doc:"The most severe decision of the shadow profile."`
	Runs     int    `json:"runs" doc:"Number of runs."`
}

// ShadowRun is a run with both decisions.
type ShadowRun struct {
	RunID       string  `json:"run_id" doc:"The run's id."`
	Name        string  `json:"name" doc:"The run's display name."`
	Project     string  `json:"project" doc:"The run's project."`
	StartedAt   *string `json:"started_at" format:"date-time" doc:"Time of its first event; null if no event has a time."`
	Decision    string  `json:"decision" enum:"allow,warn,block,halt" doc:"The most severe decision that is recorded."`
	Shadow      string  `json:"shadow_decision" enum:"allow,warn,block,halt" doc:"The most severe decision of the shadow profile."`
	EventID     *string `json:"event_id" doc:"The event of the shadow profile's first decision; null without one."`
	EventNumber *int    `json:"event_number" doc:"Number of that event in the run, from 0; null without one."`
}

// Shadow is what the shadow profile makes of a run.
type Shadow struct {
	Configured bool    `json:"configured" doc:"Whether the server has a shadow profile."`
	Replay     *Replay `json:"replay" doc:"The warnings and decisions of the shadow profile; null without one."`
}
