package api

// OverviewUpdate is a message of the stream of all runs.
type OverviewUpdate struct {
	Type        string      `json:"type" enum:"run,deleted" doc:"Type of the message. deleted: the run was deleted; only run_id is set."`
	Run         *RunSummary `json:"run" doc:"The current state of the run."`
	Warnings    []Warning   `json:"warnings" doc:"Warnings that were raised or have grown. Messages about changes before the connection have all warnings of the run."`
	Decisions   []Decision  `json:"decisions" doc:"New decisions."`
	RunID       string      `json:"run_id" doc:"The run's id."`
	Invalidated bool        `json:"decisions_invalidated,omitzero" required:"false" doc:"true: because of a late event, earlier decisions may have changed. The list of decisions in the API has the valid ones."`
}

// RunUpdate is a message of a run's stream. The members after status are specific to unloop.
type RunUpdate struct {
	Type   string  `json:"type" enum:"update,deleted" doc:"Type of the message. deleted: the run was deleted; only run_id is set, and the stream ends."`
	Events []Event `json:"events" doc:"New and changed events, in the order of their arrival."`
	RunState
}

// RunState is what a message says beside the events, which are written for themselves.
type RunState struct {
	Metrics       *Metrics        `json:"metrics" doc:"The run's totals."`
	Warnings      []Warning       `json:"warnings" doc:"Warnings, the first raised first. With warnings=all: all warnings of the run, or the 32 that changed last if there are more; metrics counts all. With warnings=changed: those that are new or changed since the previous message."`
	Status        string          `json:"status" enum:"running,completed,failed,abandoned" doc:"Status of the run."`
	RunID         string          `json:"run_id" doc:"The run's id."`
	Decisions     []Decision      `json:"decisions" doc:"Decisions at the new events."`
	Removed       []string        `json:"removed,omitempty" doc:"Ids of events that no longer exist."`
	Invalidated   bool            `json:"decisions_invalidated,omitzero" required:"false" doc:"true: because of a late event, earlier decisions may have changed. The list of decisions in the API has the valid ones."`
	Cleared       []string        `json:"warnings_cleared,omitempty" doc:"Ids of warnings that no longer hold. Only with warnings=changed."`
	Analyses      []EventAnalysis `json:"analyses,omitempty" doc:"Earlier events whose analysis has changed because of a late event."`
	AnalysesReset bool            `json:"analyses_reset,omitzero" required:"false" doc:"true: the analyses of so many earlier events have changed that they are not listed. The list of events in the API has the valid ones."`
	Reset         bool            `json:"warnings_reset,omitzero" required:"false" doc:"true in the first message of a connection: warnings has all warnings of the run and replaces those received earlier. Only with warnings=changed."`
}
