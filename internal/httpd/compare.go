package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// Comparison says how two runs differ.
type Comparison struct {
	A        RunSummary   `json:"a" doc:"The first run."`
	B        RunSummary   `json:"b" doc:"The second run."`
	Deltas   MetricDeltas `json:"deltas" doc:"Differences: the second run's value minus the first run's."`
	OnlyA    []Warning    `json:"warnings_only_in_a" doc:"Warnings of the first run without a warning of the same rule and subject in the second."`
	OnlyB    []Warning    `json:"warnings_only_in_b" doc:"Warnings of the second run without a warning of the same rule and subject in the first."`
	Diverged *Divergence  `json:"diverged" doc:"The first tool call at which the runs differ; null if all calls are equal."`
}

// MetricDeltas are differences of totals.
type MetricDeltas struct {
	Events    int     `json:"total_events" doc:"Difference in events."`
	Duration  float64 `json:"total_duration_sec" doc:"Difference in duration, in seconds."`
	LLMCalls  int     `json:"total_llm_calls" doc:"Difference in model calls."`
	ToolCalls int     `json:"total_tool_calls" doc:"Difference in tool calls."`
	Retries   int     `json:"total_retries" doc:"Difference in retries."`
	Handoffs  int     `json:"total_handoffs" doc:"Difference in handoffs."`
	Errors    int     `json:"total_errors" doc:"Difference in errors."`
	Tokens    int64   `json:"total_tokens" doc:"Difference in tokens."`
	Cost      float64 `json:"estimated_cost" doc:"Difference in cost, in US dollars."`
	Warnings  int     `json:"warnings_count" doc:"Difference in warnings."`
	Health    int     `json:"health_score" doc:"Difference in health score."`
}

// Divergence is where the tool calls of two runs part.
type Divergence struct {
	Call int   `json:"call" doc:"Index of the tool call, from 0. All earlier calls have equal tools and arguments."`
	A    *Call `json:"a" doc:"The call of the first run; null if the run has no more calls."`
	B    *Call `json:"b" doc:"The call of the second run; null if the run has no more calls."`
}

// Call is a tool call.
type Call struct {
	EventID string          `json:"event_id" doc:"Id of the event that starts the call."`
	Tool    string          `json:"tool" doc:"Name of the tool."`
	Input   json.RawMessage `json:"input" doc:"Arguments of the call."`
}

type (
	compareQuery struct {
		A string `query:"a" required:"true" doc:"The id of the first run."`
		B string `query:"b" required:"true" doc:"The id of the second run."`
	}
	compareAnswer struct{ Body Comparison }
)

func (s *Server) compareRoutes() {
	op := s.operation(http.MethodGet, "/api/compare", Read, "runs", "compare", "Compare two runs",
		"Differences of their totals, the warnings that only one run has, and the first tool call at which they differ.")
	query(s, op, s.compare)
}

func (s *Server) compare(ctx context.Context, q *compareQuery) (*compareAnswer, error) {
	a, err := s.comparable(ctx, "a", q.A)
	if err != nil {
		return nil, err
	}
	b, err := s.comparable(ctx, "b", q.B)
	if err != nil {
		return nil, err
	}
	c := Comparison{A: summaryOf(a), B: summaryOf(b), Deltas: deltas(a, b)}
	if c.OnlyA, c.OnlyB, err = s.differingWarnings(ctx, a, b); err != nil {
		return nil, err
	}
	if c.Diverged, err = s.divergence(ctx, a, b); err != nil {
		return nil, err
	}
	return &compareAnswer{c}, nil
}

func (s *Server) comparable(ctx context.Context, field, id string) (*store.Run, error) {
	run, err := s.Store.Run(ctx, store.Text(id))
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	if run == nil {
		return nil, problem(http.StatusNotFound, field, "there is no run with this id")
	}
	return run, nil
}

func deltas(a, b *store.Run) MetricDeltas {
	m, n := &a.Metrics, &b.Metrics
	return MetricDeltas{
		Events: n.Events - m.Events, Duration: round(n.Duration-m.Duration, 3), LLMCalls: n.LLMCalls - m.LLMCalls,
		ToolCalls: n.ToolCalls - m.ToolCalls, Retries: n.Retries - m.Retries, Handoffs: n.Handoffs - m.Handoffs,
		Errors: n.Errors - m.Errors, Tokens: n.Tokens - m.Tokens, Cost: round(n.Cost-m.Cost, 6), Warnings: b.Warnings - a.Warnings,
		Health: b.Health.Score - a.Health.Score,
	}
}

func (s *Server) differingWarnings(ctx context.Context, a, b *store.Run) (onlyA, onlyB []Warning, err error) {
	inA, err := s.Store.Warnings(ctx, a.Number)
	if err != nil {
		return nil, nil, fmt.Errorf("list warnings: %w", err)
	}
	inB, err := s.Store.Warnings(ctx, b.Number)
	if err != nil {
		return nil, nil, fmt.Errorf("list warnings: %w", err)
	}
	return warningsOf(a.ID, without(inA, inB)), warningsOf(b.ID, without(inB, inA)), nil
}

// without returns the warnings whose rule and subject none of the others has.
func without(warnings, others []store.Warning) []store.Warning {
	type about struct{ rule, subject string }
	known := make(map[about]bool, len(others))
	for i := range others {
		known[about{others[i].Rule, others[i].Subject}] = true
	}
	var rest []store.Warning
	for _, w := range inOrder(warnings) {
		if !known[about{w.Rule, w.Subject}] {
			rest = append(rest, w)
		}
	}
	return rest
}

// divergence goes through both runs' calls side by side.
func (s *Server) divergence(ctx context.Context, a, b *store.Run) (*Divergence, error) {
	callsA, callsB := calls{server: s, run: a.Number}, calls{server: s, run: b.Number}
	for n := 0; ; n++ {
		callA, err := callsA.next(ctx)
		if err != nil {
			return nil, err
		}
		callB, err := callsB.next(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case callA == nil && callB == nil:
			return nil, nil
		case callA == nil || callB == nil || callA.Tool != callB.Tool || !sameJSON(callA.Input, callB.Input):
			return &Divergence{n, callA, callB}, nil
		}
	}
}

// sameJSON reports whether two values are the same, whatever the order of their members.
func sameJSON(a, b json.RawMessage) bool {
	return string(canonical(a)) == string(canonical(b))
}

func canonical(v json.RawMessage) jsontext.Value {
	c := append(jsontext.Value(nil), v...)
	if c.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return jsontext.Value(v)
	}
	return c
}

// calls goes through a run's tool calls, a page of events at a time.
type calls struct {
	server *Server
	run    int64
	page   []store.Event
	cursor string
	ended  bool
	pace   pageSize
}

// next returns the next call, or nil behind the last.
func (c *calls) next(ctx context.Context) (*Call, error) {
	for {
		for len(c.page) > 0 {
			e, err := store.Decode(c.page[0].Body)
			id := c.page[0].ID
			c.page = c.page[1:]
			if err != nil {
				continue // the pipeline left it out too, and has said so
			}
			if e.Type == unloop.ToolCallStarted {
				return &Call{id, e.ToolName(), objectOrNull(e.Input)}, nil
			}
		}
		if c.ended {
			return nil, nil
		}
		var err error
		if c.page, c.cursor, err = c.server.Store.EventPage(ctx, c.run, store.Page{Cursor: c.cursor, Limit: c.pace.next()}); err != nil {
			return nil, fmt.Errorf("read events to compare: %w", err)
		}
		c.pace.saw(c.page)
		c.ended = c.cursor == ""
	}
}
