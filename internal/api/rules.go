package api

// Rule is the page of a rule.
type Rule struct {
	Name     string   `json:"name" doc:"Name of the rule, which is also the type of its warnings."`
	What     string   `json:"what" doc:"What fires the rule, in one sentence."`
	Why      string   `json:"why" doc:"Why it matters."`
	Try      string   `json:"try" doc:"What to try."`
	Details  string   `json:"details" doc:"Further paragraphs, separated by empty lines; may be empty."`
	Profiles []string `json:"profiles" doc:"Profiles that include the rule."`
}

// Profile is a named set of rules, settings and a policy.
type Profile struct {
	Name     string    `json:"name" doc:"Name of the profile."`
	Title    string    `json:"title" doc:"One-line description."`
	Rules    []string  `json:"rules" doc:"Names of its rules."`
	Settings []Setting `json:"settings" doc:"Its settings with a single value or a list, with their values."`
}

// Setting is a setting of a profile.
type Setting struct {
	Name  string `json:"name" doc:"Name of the setting."`
	Value any    `json:"value" doc:"Value: a number, a boolean, a string or a list of strings."`
	Doc   string `json:"doc" doc:"Description of the setting."`
}
