package unloop

import (
	"math"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// Metrics are the totals of a run.
type Metrics struct {
	Events       int
	LLMCalls     int // started
	ToolCalls    int // started
	Retries      int
	Handoffs     int
	Errors       int // events whose type ends in _failed
	FailedSteps  int // calls that failed, or whose result describes a failure: see Step.Failing
	Tokens       int64
	Cost         float64       // US dollars
	Duration     time.Duration // from the first timestamp to the last; 0 if they are out of order
	MaxLatency   float64       // milliseconds
	MeanLatency  float64       // milliseconds, over the events that carry one
	BusiestTool  string        // the tool with the most started calls; "" if none has a name
	BusiestAgent string        // the agent with the most events; "" if none has a name
	Failed       bool          // the run ended with run_failed
	Ended        bool          // the run ended with run_completed or run_failed
	ToolCallsOf  int           // started calls of BusiestTool
	EventsOf     int           // events of BusiestAgent
}

// Metrics returns the run's totals so far.
func (r *Run) Metrics() Metrics {
	m := r.s.Metrics
	if r.s.LatencyCount > 0 {
		m.MeanLatency = r.s.LatencySum / float64(r.s.LatencyCount)
	}
	if m.Duration = r.s.LastTime.Sub(r.s.FirstTime); m.Duration < 0 {
		m.Duration = 0
	}
	return m
}

// Cost returns the cost of the run so far, in US dollars.
func (r *Run) Cost() float64 { return r.s.Metrics.Cost }

// Retries returns the number of retries so far.
func (r *Run) Retries() int { return r.s.Metrics.Retries }

func (r *Run) count(e *Event) {
	m := &r.s.Metrics
	m.Events++
	m.Tokens = snapshot.SumInt64(m.Tokens, e.Tokens)
	m.Cost = snapshot.Sum(m.Cost, e.Cost)
	if e.Latency != nil {
		r.s.LatencySum = snapshot.Sum(r.s.LatencySum, *e.Latency)
		r.s.LatencyCount++
		m.MaxLatency = math.Max(m.MaxLatency, snapshot.Sum(*e.Latency, 0))
	}
	if !e.Time.IsZero() {
		if r.s.FirstTime.IsZero() {
			r.s.FirstTime = e.Time
		}
		r.s.LastTime = e.Time
		if r.s.Turn.Began.IsZero() {
			r.s.Turn.Began = e.Time
		}
	}
	switch e.Type {
	case LLMCallStarted:
		m.LLMCalls++
	case RetryTriggered:
		m.Retries++
	case RunCompleted, RunFailed:
		m.Ended, m.Failed = true, e.Type == RunFailed
	}
	if strings.HasSuffix(string(e.Type), "_failed") {
		m.Errors++
	}
	r.countAgent(e.Agent)
}

func (r *Run) countAgent(agent string) {
	if agent == "" {
		return
	}
	if r.s.Agents == nil {
		r.s.Agents = make(map[string]int)
	}
	if n, ok := r.s.Agents[agent]; ok || len(r.s.Agents) < maxAgents {
		r.s.Agents[agent] = n + 1
		if n+1 > r.s.Metrics.EventsOf {
			r.s.Metrics.EventsOf, r.s.Metrics.BusiestAgent = n+1, agent
		}
	}
}
