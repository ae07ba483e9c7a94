package unloop

import (
	"fmt"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// A restored state must be one that folding can produce. An index, a length or a count that contradicts another one would
// cause a panic at a later event, and a bound that is exceeded at first would stay exceeded. Each type in a snapshot has a
// validate method, which checks every field. Those of parts take the state that they are part of.

// validate reports the first value in the state that no run can have written.
func (s *state) validate() error {
	var c snapshot.Check
	c.Part("Metrics", s.Metrics.validate())
	events := s.Metrics.Events
	c.Count("Calls", s.Calls, s.Metrics.ToolCalls)
	c.Count("LatencyCount", s.LatencyCount, events)
	c.Count("Progress", s.Progress, events)
	c.Part("CallPeriods", s.CallPeriods.validate(s.Calls))
	c.That(s.CallPeriods.N == s.Calls, "CallPeriods has %d calls of %d", s.CallPeriods.N, s.Calls)
	c.Part("OutcomePeriods", s.OutcomePeriods.validate(events))
	c.Count("Changes", s.Changes, s.OutcomePeriods.N)
	c.Count("Advances", s.Advances, s.OutcomePeriods.N)
	c.Count("StepsWithoutNovelty", s.StepsWithoutNovelty, s.OutcomePeriods.N)
	c.Part("TargetStreak", s.TargetStreak.validate(s))
	c.Part("Turn", s.Turn.validate(s))
	c.Part("Shell", s.Shell.validate(s))
	c.Part("LastNovelty", s.LastNovelty.validate(s))
	c.Part("LastUnobserved", s.LastUnobserved.validate(s))
	c.Part("Agents", s.validateAgents())
	c.Part("Recent", s.validateRecent())
	c.Part("Open", s.validateOpen())
	c.Part("Tools", s.validateTools())
	c.Part("messages", s.validateMessages())
	c.Part("handoffs", s.validateHandoffs())
	c.Part("Meter", s.Meter.validate(s))
	return c.Err()
}

func (m *Metrics) validate() error {
	var c snapshot.Check
	c.Count("Events", m.Events, snapshot.MaxCount)
	for _, part := range []struct {
		name string
		n    int
	}{
		{"LLMCalls", m.LLMCalls},
		{"ToolCalls", m.ToolCalls},
		{"Retries", m.Retries},
		{"Handoffs", m.Handoffs},
		{"Errors", m.Errors},
		{"FailedSteps", m.FailedSteps},
		{"EventsOf", m.EventsOf},
	} {
		c.Count(part.name, part.n, m.Events)
	}
	c.Count("ToolCallsOf", m.ToolCallsOf, m.ToolCalls)
	c.That(m.LLMCalls+m.ToolCalls+m.Retries+m.Handoffs <= m.Events, "Events is less than its parts")
	c.That((m.BusiestTool == "") == (m.ToolCallsOf == 0), "BusiestTool and ToolCallsOf contradict each other")
	c.That((m.BusiestAgent == "") == (m.EventsOf == 0), "BusiestAgent and EventsOf contradict each other")
	c.That(m.MaxLatency >= 0, "MaxLatency is %v, want 0 or more", m.MaxLatency)
	c.That(m.Duration == 0 && m.MeanLatency == 0, "Duration and MeanLatency are not kept")
	return c.Err()
}

func (s *state) validateAgents() error {
	var c snapshot.Check
	c.Count("number of agents", len(s.Agents), maxAgents)
	for name, n := range s.Agents {
		c.That(name != "", "an agent has no name")
		c.That(n > 0, "%q has %d events", name, n)
		c.Count("events of an agent", n, s.Metrics.Events)
	}
	return c.Err()
}

// validateRecent checks the latest steps and their excerpts. The number of a step determines its index.
func (s *state) validateRecent() error {
	var c snapshot.Check
	steps, shown := min(s.Calls, recentSteps), min(s.Calls, recentExcerpts)
	c.That(len(s.Recent) == steps, "%d steps of %d calls, want %d", len(s.Recent), s.Calls, steps)
	c.That(len(s.Excerpts) == 0 || len(s.Excerpts) == shown, "%d excerpts of %d calls, want %d", len(s.Excerpts), s.Calls, shown)
	for k := range s.Recent {
		step := &s.Recent[k]
		c.That(step.Number%recentSteps == k && step.Number >= s.Calls-recentSteps, "step %d is at index %d", step.Number, k)
		c.Part(fmt.Sprintf("step %d", k), step.validate(s))
	}
	for k := range s.Excerpts {
		x := &s.Excerpts[k]
		c.That(x.Number%recentExcerpts == k && x.Number >= s.Calls-recentExcerpts && x.Number < s.Calls, "excerpt of step %d is at index %d", x.Number, k)
		c.Count("length of an excerpt", max(len(x.Input), len(x.Output)), excerptSize)
	}
	return c.Err()
}

func (s *Step) validate(in *state) error {
	var c snapshot.Check
	c.That(s.Number >= 0 && s.Number < in.Calls, "Number is %d of %d calls", s.Number, in.Calls)
	c.That(s.Effect <= Polling, "Effect is %d, want 0 to %d", uint8(s.Effect), Polling)
	c.That(s.Outcome <= Blocked, "Outcome is %d, want 0 to %d", s.Outcome, Blocked)
	c.Part("Start", s.Start.validate(in))
	c.Part("End", s.End.validate(in))
	c.Count("RawCount", s.RawCount, in.Calls)
	c.Count("ArgsCount", s.ArgsCount, in.Calls)
	c.Count("CommandCount", s.CommandCount, in.Calls)
	c.Count("Repeats.N", s.Repeats.N, in.OutcomePeriods.N)
	c.Amount("Repeats.Weight", s.Repeats.Weight, maxWeight)
	c.Part("Effort", s.Effort.validate())
	return c.Err()
}

func (e *Effort) validate() error {
	var c snapshot.Check
	for _, share := range [...]float64{e.Alike, e.Fresh, e.Announced, e.Novelty} {
		c.Amount("a share", share, 1)
	}
	c.Amount("Wasted", e.Wasted, weightStubborn)
	c.Count("Words", e.Words, snapshot.MaxCount)
	c.Count("Said", e.Said, snapshot.MaxCount)
	c.Count("Similar", e.Similar, recentActs)
	c.That(e.Yield <= NoOp, "Yield is %d, want 0 to %d", e.Yield, NoOp)
	return c.Err()
}

func (e *EventRef) validate(in *state) error {
	var c snapshot.Check
	c.Count("Number", e.Number, max(0, in.Metrics.Events-1))
	c.That(e.Index >= -snapshot.MaxCount && e.Index <= snapshot.MaxCount, "Index is %d", e.Index)
	return c.Err()
}

func (s *Streak) validate(in *state) error {
	var c snapshot.Check
	c.Count("Count", s.Count, in.Metrics.Events)
	c.Count("Inputs", s.Inputs, s.Count)
	c.That((s.Of == 0) == (s.Count == 0), "Of and Count contradict each other")
	c.Part("First", s.First.validate(in))
	c.Part("Latest", s.Latest.validate(in))
	return c.Err()
}

func (t *Turn) validate(in *state) error {
	var c snapshot.Check
	c.Count("Number", t.Number, in.Metrics.Events)
	c.Part("Row", t.Row.validate(in))
	return c.Err()
}

// validate checks that Matches agrees with the elements that are kept, and that there are at most most elements.
func (p *periods) validate(most int) error {
	var c snapshot.Check
	c.Count("N", p.N, most)
	kept := min(p.N, MaxPeriod)
	for period := 1; period <= MaxPeriod && c.Err() == nil; period++ {
		length := p.Matches[period-1]
		c.Count("Matches", length, max(0, p.N-period))
		for k := 0; k+period < kept && k <= length && c.Err() == nil; k++ {
			same := p.Symbols[(p.N-1-k)%MaxPeriod] == p.Symbols[(p.N-1-k-period)%MaxPeriod]
			c.That(same == (k < length), "Matches contradicts Symbols with period %d", period)
		}
	}
	return c.Err()
}

func (m *meter) validate(s *state) error {
	var c snapshot.Check
	const mostEvidence = 2*mostWasted + 1/(1-talkKept)
	c.Amount("Wasted", m.Wasted, mostEvidence)
	c.Amount("Certain", m.Certain, mostEvidence)
	c.Amount("Talk", m.Talk, mostEvidence)
	c.Amount("Settled", m.Settled, askedForKnown)
	c.Amount("Answer", m.Answer, askedForKnown)
	c.Amount("Stalled", m.Stalled, 1)
	for _, x := range m.Averages {
		c.That(x >= 0 && x <= weightStubborn, "an average is %v, want 0 to %v", x, weightStubborn)
	}
	c.Count("Same", m.Same, s.Metrics.Events)
	c.Count("Said", m.Said, snapshot.MaxCount)
	c.Count("Steps", m.Steps, s.Metrics.Events)
	c.Count("Stuck", m.Stuck, m.Steps)
	c.Count("Excused", m.Excused, excusedSteps)
	c.Count("N", m.N, s.Metrics.Events)
	c.That(len(m.Acts) == min(m.N, recentActs), "Acts has %d of %d calls", len(m.Acts), m.N)
	c.Count("Count of Remaining", m.Remaining.Count, len(m.Remaining.Numbers))
	c.Count("Falls of Remaining", m.Remaining.Falls, s.Metrics.Events)
	c.Count("number of answers", len(m.Answers), recentAnswers)
	c.Count("Next", m.Next, max(0, len(m.Answers)-1))
	for k := range m.Answers {
		a := &m.Answers[k]
		c.Count("count of an answer's numbers", a.Count, len(a.Numbers))
		c.Count("count of the numbers of its last line", a.Tail.Count, len(a.Tail.Numbers))
		c.Count("Falls", a.Falls, s.Metrics.Events)
		c.Count("Advances of an answer", a.Advances, s.Metrics.Events)
		c.Count("Shrinks", a.Shrinks, s.Metrics.Events)
	}
	c.Part("First", m.First.validate(s))
	c.Part("Talked", m.Talked.validate(s))
	return c.Err()
}
