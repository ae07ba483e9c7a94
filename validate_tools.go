package unloop

import (
	"fmt"

	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// validateTools checks the tools and computes the size of their inputs.
func (s *state) validateTools() error {
	var c snapshot.Check
	c.Count("number of tools", len(s.Tools), maxTools)
	calls := 0
	s.InputText = 0
	for name, t := range s.Tools {
		if t == nil || t.Name != name {
			return fmt.Errorf("tool %q has another name", name)
		}
		c.Part(fmt.Sprintf("%.100q", name), t.validate(s))
		if c.Err() != nil {
			break
		}
		calls += t.Calls
		for _, in := range t.Inputs {
			s.InputText += in.size()
		}
	}
	c.Count("calls of all tools", calls, s.Calls)
	c.Count("size of all inputs", s.InputText, maxInputText)
	return c.Err()
}

func (t *Tool) validate(in *state) error {
	var c snapshot.Check
	c.That(t.Effect <= Polling, "Effect is %d, want 0 to %d", uint8(t.Effect), Polling)
	c.Count("Calls", t.Calls, in.Calls)
	c.Count("Empty", t.Empty, in.Metrics.Events)
	c.Count("MostRepeated.Count", t.MostRepeated.Count, in.Calls)
	c.Part("MostRepeated.Event", t.MostRepeated.Event.validate(in))
	c.Part("Streak", t.Streak.validate(in))
	c.Part("Errors", t.Errors.validate(in))
	c.Part("Unchanged", t.Unchanged.validate(in))
	c.Count("ChangesAtFirstError", t.ChangesAtFirstError, in.Changes)
	c.Count("ErrorsSinceAdvance", t.ErrorsSinceAdvance, t.Errors.Count)
	c.Count("length of FirstError", len(t.FirstError), 4*excerptSize) // JSON replaces a bad byte by three
	c.Count("Turn", t.Turn, in.Turn.Number)
	c.Count("TurnCalls", t.TurnCalls, t.Calls)
	c.Count("ProgressAtFirstCall", t.ProgressAtFirstCall, in.Progress)
	c.Count("Latest", t.Latest, max(0, in.Calls-1))
	c.Part("Inputs", t.validateInputs())
	return c.Err()
}

// validateInputs checks the distinct inputs and computes their shapes.
func (t *Tool) validateInputs() error {
	var c snapshot.Check
	c.Count("number of inputs", len(t.Inputs), maxInputs)
	calls, seen := 0, make(map[Hash]bool, len(t.Inputs))
	for _, in := range t.Inputs {
		if in == nil || in.Count < 1 || in.Count > t.Calls || seen[in.ArgsHash] {
			return fmt.Errorf("an input is missing, duplicate or without a count")
		}
		c.Count("length of an input", len(in.Text), fingerprint.MaxCompared)
		if c.Err() != nil {
			break
		}
		seen[in.ArgsHash] = true
		calls += in.Count
		in.Shape = fingerprint.ShapeOf(in.Text)
	}
	c.Count("calls with these inputs", calls, t.Calls)
	return c.Err()
}

func (s *Shell) validate(in *state) error {
	var c snapshot.Check
	c.Part("Failures", s.Failures.validate(in))
	c.Part("Tests", s.Tests.validate(in))
	return c.Err()
}

// validateOpen checks the calls without an outcome, which are in the order of their numbers.
func (s *state) validateOpen() error {
	var c snapshot.Check
	c.Count("number of open calls", len(s.Open), maxOpen)
	before := -1
	for k := range s.Open {
		step := &s.Open[k].Step
		c.Part(fmt.Sprintf("call %d", k), step.validate(s))
		c.That(step.Number > before, "call %d is out of order", step.Number)
		c.That(step.Outcome == Pending, "call %d has ended", step.Number)
		before = step.Number
	}
	return c.Err()
}
