package unloop

import (
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

func (s *state) validateMessages() error {
	var c snapshot.Check
	events := s.Metrics.Events
	c.Count("MessagesSinceCall", s.MessagesSinceCall, events)
	c.Count("RestatedInARow", s.RestatedInARow, events)
	c.Amount("RestatedWeight", s.RestatedWeight, float64(events))
	c.Amount("RestatedSinceCall", s.RestatedSinceCall, float64(events))
	c.Count("NewResult", s.NewResult, events)
	c.Count("Advanced", s.Advanced, events)
	c.Count("NovelMessages", s.NovelMessages, events)
	c.Count("RepeatedMessages", s.RepeatedMessages, events)
	c.Count("AssistantWords", s.AssistantWords, snapshot.MaxCount)
	c.Count("number of speakers", len(s.Speakers), maxSpeeches)
	for _, sp := range s.Speakers {
		if sp == nil {
			return fmt.Errorf("a speaker is missing")
		}
		c.Part("speech", sp.validate(s))
	}
	return c.Err()
}

func (sp *speaker) validate(in *state) error {
	var c snapshot.Check
	c.Count("number of messages", len(sp.Messages), recentTexts)
	c.Count("Next", sp.Next, recentTexts-1)
	c.That(sp.Next == 0 || len(sp.Messages) == recentTexts, "Next is %d of %d messages", sp.Next, len(sp.Messages))
	c.Count("LastEvent", sp.LastEvent, in.Metrics.Events)
	c.Count("Event of Latest", sp.Latest.Event, in.Metrics.Events)
	c.Count("Items", sp.Latest.Items, snapshot.MaxCount)
	for k := range sp.Messages {
		c.Count("Words", sp.Messages[k].Sketch.Words, snapshot.MaxCount)
		c.Count("NovelMessages", sp.Messages[k].NovelMessages, in.NovelMessages)
		c.Part("Ref", sp.Messages[k].Ref.validate(in))
	}
	return c.Err()
}

// validateHandoffs checks the latest handoffs, oldest first.
func (s *state) validateHandoffs() error {
	var c snapshot.Check
	n := len(s.HandoffAgents)
	c.Count("Introduced", s.Introduced, s.Metrics.Events)
	c.Count("number of handoffs", n, min(recentHandoffs, s.Metrics.Handoffs))
	c.That(len(s.HandoffEvents) == n && len(s.HandoffTotals) == n, "HandoffAgents has %d entries, HandoffEvents %d and HandoffTotals %d", n, len(s.HandoffEvents), len(s.HandoffTotals))
	if c.Err() != nil {
		return c.Err()
	}
	c.That(!slices.Contains(s.HandoffAgents, ""), "a receiver has no name")
	latest := handoffTotals{}
	for k, next := range s.HandoffTotals {
		c.Part("HandoffEvents", s.HandoffEvents[k].validate(s))
		c.That(next.Words >= latest.Words && next.Outcomes >= latest.Outcomes && next.RepeatedMessages >= latest.RepeatedMessages, "HandoffTotals decreases")
		latest = next
	}
	c.Count("HandoffTotals.Words", latest.Words, s.AssistantWords)
	c.Count("HandoffTotals.Outcomes", latest.Outcomes, s.OutcomePeriods.N)
	c.Count("HandoffTotals.RepeatedMessages", latest.RepeatedMessages, s.RepeatedMessages)
	return c.Err()
}
