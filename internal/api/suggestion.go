package api

// Suggestions are thresholds that suit the labels of runs.
type Suggestions struct {
	Profile     string       `json:"profile" doc:"The profile that evaluates the runs."`
	Labels      int          `json:"labels" doc:"Number of labelled runs that were replayed."`
	Runs        int          `json:"runs" doc:"Number of replayed runs, with and without a label."`
	Complete    bool         `json:"complete" doc:"false: the time ended before all thresholds were tried."`
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
	Others    []string `json:"others" doc:"Runs without a label that gain or lose a warning."`
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
