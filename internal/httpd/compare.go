package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

type (
	compareQuery struct {
		A string `query:"a" required:"true" doc:"The id of the first run."`
		B string `query:"b" required:"true" doc:"The id of the second run."`
	}
	compareAnswer struct{ Body api.Comparison }
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
	c := api.Comparison{A: api.SummaryOf(a), B: api.SummaryOf(b), Deltas: deltas(a, b)}
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

func deltas(a, b *store.Run) api.MetricDeltas {
	m, n := &a.Metrics, &b.Metrics
	return api.MetricDeltas{
		Events: n.Events - m.Events, Duration: store.Round(n.Duration-m.Duration, 3), LLMCalls: n.LLMCalls - m.LLMCalls,
		ToolCalls: n.ToolCalls - m.ToolCalls, Retries: n.Retries - m.Retries, Handoffs: n.Handoffs - m.Handoffs,
		Errors: n.Errors - m.Errors, FailedSteps: n.FailedSteps - m.FailedSteps, Tokens: n.Tokens - m.Tokens, Cost: store.Round(n.Cost-m.Cost, 6), Warnings: b.Warnings - a.Warnings,
		Health: b.Health.Score - a.Health.Score,
	}
}

func (s *Server) differingWarnings(ctx context.Context, a, b *store.Run) (onlyA, onlyB []api.Warning, err error) {
	inA, err := s.Store.Warnings(ctx, a.Number)
	if err != nil {
		return nil, nil, fmt.Errorf("list warnings: %w", err)
	}
	inB, err := s.Store.Warnings(ctx, b.Number)
	if err != nil {
		return nil, nil, fmt.Errorf("list warnings: %w", err)
	}
	return api.WarningsOf(a.ID, without(inA, inB)), api.WarningsOf(b.ID, without(inB, inA)), nil
}

// without returns the warnings whose rule and subject are not among the others.
func without(warnings, others []store.Warning) []store.Warning {
	type about struct{ rule, subject string }
	known := make(map[about]bool, len(others))
	for i := range others {
		known[about{others[i].Rule, others[i].Subject}] = true
	}
	var rest []store.Warning
	for _, w := range api.InOrder(warnings) {
		if !known[about{w.Rule, w.Subject}] {
			rest = append(rest, w)
		}
	}
	return rest
}

// divergence compares the calls of both runs in order.
func (s *Server) divergence(ctx context.Context, a, b *store.Run) (*api.Divergence, error) {
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
			return &api.Divergence{Call: n, A: callA, B: callB}, nil
		}
	}
}

// sameJSON reports whether two values are equal, in any order of their members. Integers of more than 53 bits, such as ids, keep all
// their digits.
func sameJSON(a, b json.RawMessage) bool {
	return string(canonical(a)) == string(canonical(b))
}

func canonical(v json.RawMessage) jsontext.Value {
	c := append(jsontext.Value(nil), v...)
	if c.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawInts(false)) != nil {
		return jsontext.Value(v)
	}
	return c
}

// calls iterates over the tool calls of a run, one page of events at a time.
type calls struct {
	server *Server
	run    int64
	page   []store.Event
	cursor string
	ended  bool
	limit  pageSize
}

// next returns the next call, or nil after the last.
func (c *calls) next(ctx context.Context) (*api.Call, error) {
	for {
		for len(c.page) > 0 {
			e, err := store.Decode(c.page[0].Body)
			id := c.page[0].ID
			c.page = c.page[1:]
			if err != nil {
				continue // the pipeline skipped and logged it, too
			}
			if e.Type == unloop.ToolCallStarted {
				return &api.Call{EventID: id, Tool: e.ToolName(), Input: api.ObjectOrNull(e.Input)}, nil
			}
		}
		if c.ended {
			return nil, nil
		}
		var err error
		if c.page, c.cursor, err = c.server.Store.EventPage(ctx, c.run, store.Page{Cursor: c.cursor, Limit: c.limit.next()}); err != nil {
			return nil, fmt.Errorf("read events to compare: %w", err)
		}
		c.limit.saw(c.page)
		c.ended = c.cursor == ""
	}
}
