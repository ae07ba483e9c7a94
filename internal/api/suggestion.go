package api

// Suggestions are thresholds that suit the labels of runs.
type Suggestions struct {
	Profile     string       `json:"profile" doc:"The profile that evaluates the runs."`
	Labels      int          `json:"labels" doc:"Number of labelled runs that were replayed."`
	Runs        int          `json:"runs" doc:"Number of replayed runs, with and without a label."`
	Complete    bool         `json:"complete" doc:"false: the time was over before all thresholds were tried."`
	File        string       `json:"file" doc:"Where an applied setting is written: the name of the server's configuration file, or the database of a cluster; empty for none."`
	Writable    bool         `json:"writable" doc:"Whether the server can write there."`
	Suggestions []Suggestion `json:"suggestions" doc:"The suggestions, those that change the most labelled runs first."`
}

// Suggestion is a value of a threshold and its effect. The lists have ids of runs.
type Suggestion struct {
	Rule      string   `json:"rule" doc:"The rule that the threshold belongs to."`
	Tool      string   `json:"tool" doc:"The tool that it is for; empty for all."`
	Setting   string   `json:"setting" doc:"Name of the setting."`
	Present   float64  `json:"present" doc:"Its present value."`
	Value     float64  `json:"value" doc:"The suggested value."`
	Kept      []string `json:"kept" doc:"Runs labelled loop that are still warned of."`
	Dropped   []string `json:"dropped" doc:"Runs labelled not_a_loop that are no longer warned of."`
	Remaining []string `json:"remaining" doc:"Runs labelled not_a_loop that are still warned of."`
	Caught    []string `json:"caught" doc:"Runs labelled missed_loop that are now warned of."`
	Others    []string `json:"others" doc:"Runs without a label whose warning goes or comes."`
	YAML      string   `json:"yaml" doc:"The change as a part of the configuration file."`
}

// NewSetting is a value of a setting to apply.
type NewSetting struct {
	Tool    string  `json:"tool,omitempty" required:"false" maxLength:"512" doc:"The tool that it is for. Default: all."`
	Setting string  `json:"setting" minLength:"1" maxLength:"128" doc:"Name of the setting."`
	Value   float64 `json:"value" doc:"The value."`
	Note    string  `json:"note,omitempty" required:"false" maxLength:"1000" doc:"Why, in the person's words."`
}

// Applied says where a setting was written.
type Applied struct {
	File string `json:"file" doc:"Where it was written: the name of the configuration file, which the server reads when it starts, or the database of a cluster."`
	Act  Act    `json:"act" doc:"The entry in the audit log."`
}

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
	StartedAt   *string `json:"started_at" format:"date-time" doc:"Time of its first event; null before the first event."`
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
