package unloop

import "slices"

// handoffTotals are totals of a run at a handoff.
type handoffTotals struct{ Words, Outcomes, RepeatedMessages int }

// countHandoff records a handoff. Its agent receives control.
func (r *Run) countHandoff(e *Event) {
	r.s.Metrics.Handoffs++
	if e.Agent == "" {
		return
	}
	r.s.Introduced = 0
	if r.s.Agents[e.Agent] == 1 { // it is its first event
		r.s.Introduced = r.current.Ref.Number
	}
	if len(r.s.HandoffAgents) == recentHandoffs {
		r.s.HandoffAgents = slices.Delete(r.s.HandoffAgents, 0, 1)
		r.s.HandoffEvents = slices.Delete(r.s.HandoffEvents, 0, 1)
		r.s.HandoffTotals = slices.Delete(r.s.HandoffTotals, 0, 1)
	}
	r.s.HandoffAgents = append(r.s.HandoffAgents, e.Agent)
	r.s.HandoffEvents = append(r.s.HandoffEvents, r.current.Ref)
	r.s.HandoffTotals = append(r.s.HandoffTotals, handoffTotals{r.s.AssistantWords, r.s.OutcomePeriods.N, r.s.RepeatedMessages})
}

// Handoffs returns the agents that received control last and the events of the handoffs, oldest first: at most 6. The
// slices are valid until the next Add.
func (r *Run) Handoffs() (agents []string, at []EventRef) {
	return r.s.HandoffAgents, r.s.HandoffEvents
}

// Introduced returns the number of the latest handoff's event if the agent that received control was new to the run, else 0. What was said to
// other agents before is new to it.
func (r *Run) Introduced() int { return r.s.Introduced }

// SinceHandoffs returns totals since the first handoff that Handoffs returns: words of assistants, their messages that are
// nearly equal to an earlier one, and captured outcomes of calls. The run must keep NeedTexts and NeedOutcomes.
func (r *Run) SinceHandoffs() (words, again, outcomes int) {
	if len(r.s.HandoffTotals) == 0 {
		return 0, 0, 0
	}
	then := &r.s.HandoffTotals[0]
	return r.s.AssistantWords - then.Words, r.s.RepeatedMessages - then.RepeatedMessages, r.s.OutcomePeriods.N - then.Outcomes
}
