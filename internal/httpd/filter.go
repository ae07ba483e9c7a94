package httpd

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// RunFilter are the query parameters that choose runs. It is embedded, so that huma finds it only under an exported name.
type RunFilter struct {
	Status   string   `query:"status" enum:"running,completed,failed,abandoned" doc:"Only runs with this status."`
	Health   []string `query:"health" enum:"healthy,repeated,looping,stuck" doc:"Only runs whose health is one of these, separated by commas."`
	Decision []string `query:"decision" enum:"allow,warn,block,halt" doc:"Only runs whose most severe decision is one of these, separated by commas. warn,block,halt: runs with a loop."`
	Guard    string   `query:"guard" enum:"guarded,observed" doc:"guarded: only runs with a guard that carries out decisions; observed: only the others."`
	Project  string   `query:"project" doc:"Only runs of this project."`
	Warning  string   `query:"warning" doc:"Only runs with a warning of this rule."`
	Tool     string   `query:"tool" doc:"Only runs that called this tool."`
	Agent    string   `query:"agent" doc:"Only runs in which this agent acted."`
	Model    string   `query:"model" doc:"Only runs that called this model."`
	Metadata string   `query:"metadata" doc:"Only runs with this member of their metadata, NAME=VALUE. The value is a text, number or boolean."`
	Text     string   `query:"text" maxLength:"1024" doc:"Only runs with this text in their id, name, project, tools, agents, models, rules or a warning's message, or with all its words in one event. Ignores case. It finds the latest 1,000 runs by their events."`
	Since    string   `query:"since" doc:"Only runs that started at this time or later: RFC 3339, or a duration before now, such as 24h."`
	Until    string   `query:"until" doc:"Only runs that started before this time: RFC 3339, or a duration before now, such as 24h."`
}

// filter returns the filter of the store, or the problem of an invalid parameter.
func (q *RunFilter) filter(now time.Time) (f store.Filter, err error) {
	f = store.Filter{
		Status: q.Status, Health: q.Health, Project: store.Text(q.Project), Warning: store.Text(q.Warning), Tool: store.Text(q.Tool),
		Agent: store.Text(q.Agent), Model: store.Text(q.Model), Label: store.Text(q.Metadata), Text: store.Text(q.Text),
	}
	if q.Metadata != "" && !strings.Contains(q.Metadata, "=") {
		return f, problem(http.StatusBadRequest, "metadata", "want NAME=VALUE, such as prompt=v2")
	}
	for _, name := range q.Decision {
		f.Decisions = append(f.Decisions, decisionOf(name))
	}
	if q.Guard != "" {
		guarded := q.Guard == "guarded"
		f.Guarded = &guarded
	}
	if f.Since, err = moment("since", q.Since, now); err != nil {
		return f, err
	}
	f.Until, err = moment("until", q.Until, now)
	return f, err
}

// decisionOf returns the action of a name that the query's enumeration allows.
func decisionOf(name string) policy.Action {
	actions := []policy.Action{policy.Allow, policy.Warn, policy.Block, policy.Halt}
	return actions[max(0, slices.IndexFunc(actions, func(a policy.Action) bool { return a.String() == name }))]
}

// values returns the parameters that are set, for the next page. Its times are those of f, because now is later then.
func (q *RunFilter) values(f *store.Filter) url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"status": q.Status, "health": strings.Join(q.Health, ","), "decision": strings.Join(q.Decision, ","), "guard": q.Guard, "project": q.Project,
		"warning": q.Warning, "tool": q.Tool, "agent": q.Agent, "model": q.Model, "metadata": q.Metadata, "text": q.Text,
		"since": stable(q.Since, f.Since), "until": stable(q.Until, f.Until),
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}
