package httpd

import (
	"context"
	"net/http"
)

// Rule is the page of a rule.
type Rule struct {
	Name     string   `json:"name" doc:"The rule, as it stands in the type of a warning."`
	What     string   `json:"what" doc:"What fires it, in a sentence."`
	Why      string   `json:"why" doc:"Why it matters."`
	Try      string   `json:"try" doc:"What to try."`
	Details  string   `json:"details" doc:"Further paragraphs, with an empty line between them; empty where there are none."`
	Profiles []string `json:"profiles" doc:"The profiles that have the rule."`
}

// Profile is a named set of rules, settings and a policy.
type Profile struct {
	Name     string    `json:"name" doc:"What it is asked for by."`
	Title    string    `json:"title" doc:"What it is, in a line."`
	Rules    []string  `json:"rules" doc:"Its rules."`
	Settings []Setting `json:"settings" doc:"Its settings of one value or a list, as they stand."`
}

// Setting is a setting of a profile.
type Setting struct {
	Name  string `json:"name" doc:"Of the setting."`
	Value any    `json:"value" doc:"As it stands: a number, a truth value, a text or a list of texts."`
	Doc   string `json:"doc" doc:"What it is."`
}

type (
	rulesAnswer    struct{ Body []Rule }
	profilesAnswer struct{ Body []Profile }
)

func (s *Server) ruleRoutes() {
	op := s.operation(http.MethodGet, "/api/rules", Read, "rules", "list-rules", "List the rules",
		"What fires each rule, why that matters and what to try: what unloop explain prints.")
	query(s, op, func(context.Context, *struct{}) (*rulesAnswer, error) { return &rulesAnswer{s.Judge.Rules()}, nil })
	op = s.operation(http.MethodGet, "/api/profiles", Read, "rules", "list-profiles", "List the profiles",
		"The profiles with their rules and settings.")
	query(s, op, func(context.Context, *struct{}) (*profilesAnswer, error) {
		return &profilesAnswer{s.Judge.Profiles()}, nil
	})
}
