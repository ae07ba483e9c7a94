package pipeline

import (
	"slices"

	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// validate reports values that no fold with such a session can have.
func (s *foldState) validate(session *profile.Session) error {
	var c snapshot.Check
	c.Count("Events", s.Events, snapshot.MaxCount)
	c.That(s.Events == session.Run().Metrics().Events, "Events is %d, but the run has %d", s.Events, session.Run().Metrics().Events)
	c.That(s.Arrival >= 0 && s.Bytes >= 0, "Arrival and Bytes are %d and %d, want 0 or more", s.Arrival, s.Bytes)
	c.That(s.NamedBy <= byRequest, "NamedBy is %d, want 0 to %d", s.NamedBy, byRequest)
	c.That(slices.Contains([]string{store.Running, store.Completed, store.Failed, store.Abandoned}, s.Status), "Status is %.100q", s.Status)
	c.Count("number of tools", len(s.Tools), store.MaxTools)
	c.Count("number of agents", len(s.Agents), store.MaxAgents)
	c.Count("number of models", len(s.Models), store.MaxModels)
	c.That(slices.IsSorted(s.Tools) && slices.IsSorted(s.Agents) && slices.IsSorted(s.Models), "Tools, Agents or Models are not sorted")
	c.That(s.WorstAction <= uint8(policy.Halt), "WorstAction is %d, want 0 to %d", s.WorstAction, policy.Halt)
	c.Count("Decisions", s.Decisions, s.Events)
	c.Count("UsageAtFirstWarning.Calls", s.UsageAtFirstWarning.Calls, session.Run().Metrics().ToolCalls)
	c.That(s.MaxLatency >= 0, "MaxLatency is %v, want 0 or more", s.MaxLatency)
	c.Part("Guard", s.Guard.validate())
	c.Part("Warnings", s.validateWarnings(session))
	c.Part("Novelty", s.Novelty.validate(s.Events))
	c.Count("number of points of Health", len(s.Health), store.MaxHealth)
	c.Count("number of open calls", len(s.Open), maxOpenCalls)
	c.That(len(s.Health) > 0, "Health is empty")
	for _, point := range s.Health {
		c.Count("Health.Number", point.Number, s.Events)
		c.Count("Health.Score", point.Score, 100)
	}
	return c.Err()
}

// validateWarnings checks that each warning has its times.
func (s *foldState) validateWarnings(session *profile.Session) error {
	var c snapshot.Check
	warnings := session.Warnings()
	c.That(len(s.Warnings) == len(warnings), "there are %d of %d warnings", len(s.Warnings), len(warnings))
	for k := range warnings {
		_, known := s.Warnings[warningKey(warnings[k].Rule, warnings[k].Subject)]
		c.That(known, "a warning of %.100q is missing", warnings[k].Rule)
	}
	return c.Err()
}

// validate reports values that are inconsistent for a run with the given number of events.
func (n *novelty) validate(events int) error {
	var c snapshot.Check
	c.Count("Steps", n.Steps, events)
	c.Count("StretchSteps", n.StretchSteps, max(1, 2*n.Steps))
	c.That((n.StretchSteps == 0) == (n.Steps == 0), "StretchSteps is %d of %d steps", n.StretchSteps, n.Steps)
	c.Count("number of stretches", len(n.NovelSteps), store.MaxNovelty)
	if n.StretchSteps > 0 {
		c.That(len(n.NovelSteps) == (n.Steps+n.StretchSteps-1)/n.StretchSteps, "%d stretches of %d for %d steps", len(n.NovelSteps), n.StretchSteps, n.Steps)
	}
	for _, fresh := range n.NovelSteps {
		c.Count("NovelSteps", fresh, n.StretchSteps)
	}
	return c.Err()
}
