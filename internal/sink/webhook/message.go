package webhook

import (
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
)

// message is the message in the format json. docs/webhooks.md describes it.
type message struct {
	ID       string        `json:"id"` // the same for the same endpoint, warning and level
	Type     string        `json:"type"`
	Level    string        `json:"level"`
	Version  string        `json:"version"`
	Run      about         `json:"run"`
	Warning  api.Warning   `json:"warning"` // its details are the advice
	Decision *api.Decision `json:"decision"`
}

// about is the part of a run that people need to judge a message.
type about struct {
	ID string `json:"id"`
	api.RunBasics
	URL    *string `json:"url"`
	Cost   float64 `json:"total_cost"`
	Tokens int64   `json:"total_tokens"`
	api.RunCounts
	api.RunVerdict
}

// advice are the details of the warning in a message.
type advice struct {
	Why string `json:"why"`
	Try string `json:"try"`
}

func (w *notifier) messageOf(n *sink.Notice) *message {
	r := &n.Run
	m := &message{
		ID: n.ID, Type: typeOf(n.Level), Level: n.Level, Version: w.options.Version, Warning: n.Warning, Decision: n.Decision,
		Run: about{r.ID, r.RunBasics, api.OrNull(w.urlOf(n)), r.Cost, r.Tokens, r.RunCounts, r.RunVerdict},
	}
	m.Warning.Details = api.Encode(advice{n.Why, n.Try})
	return m
}

// urlOf returns the address of the run's page; "" if it is unknown.
func (w *notifier) urlOf(n *sink.Notice) string { return sink.RunURL(w.options.URL, n.Run.ID) }

// typeOf returns the type of a message, with which a receiver distinguishes a test from a warning.
func typeOf(level string) string {
	if level == sink.Test {
		return "test"
	}
	return "warning"
}
