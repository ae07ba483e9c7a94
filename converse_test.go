package unloop

import (
	"encoding/json"
	"fmt"
	"testing"
)

// talked returns the evidence that answers repeat each other, after rounds of a question, the new answer of a person and, if acts, a call that
// acts on it. The last message says something else.
func talked(rounds int, acts bool, question func(n int) string) float64 {
	r := NewRun("r", measured)
	for n := range rounds {
		r.Add(&Event{Type: MessageSent, Role: RoleAssistant, Text: question(n)})
		r.Add(&Event{Type: MessageSent, Role: RoleUser, Text: "near " + cities[n]})
		if acts {
			e := call("choose_seat", fmt.Sprintf(`{"near":%q}`, cities[n]), fmt.Sprintf(`{"seat":"%d%c"}`, 4+3*n, 'A'+rune(n)))
			r.Add(&Event{Type: ToolCallStarted, Tool: e.Tool, Input: e.Input})
			r.Add(&Event{Type: ToolCallCompleted, Tool: e.Tool, Output: e.Output})
		}
	}
	r.Add(&Event{Type: MessageSent, Role: RoleAssistant, Text: "All seats are booked, and the tickets come by mail within two days."})
	return r.Meter().Talk
}

func TestQuestionThatComesAgainAfterItsAnswer(t *testing.T) {
	again := func(n int) string {
		return fmt.Sprintf("About %s:\n- the row of seats near the door\n- the row of seats near the wing\nWhich of them?", cities[n])
	}
	other := func(n int) string {
		return fmt.Sprintf("Which of them is %s for you?", cities[n])
	}
	for name, c := range map[string]struct {
		question func(n int) string
		acts     bool
		least    float64
		most     float64
	}{
		"the same choices, whatever the person says":   {again, false, 2, 4},
		"the same choices, after a call for each":      {again, true, 0, 0.1},
		"another question each time, in similar words": {other, false, 0, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := talked(6, c.acts, c.question); got < c.least || got > c.most {
				t.Errorf("%.2f messages without novelty, want %v to %v", got, c.least, c.most)
			}
		})
	}
}

// What a person has just named is news to a tool, although its answer is that of others.
func TestACallAboutWhatAPersonNamesIsNoWaste(t *testing.T) {
	for name, c := range map[string]struct {
		says      func(n int) string
		requested bool
	}{
		"the person names it":             {func(n int) string { return "And " + cities[n] + "." }, true},
		"the person names something else": {func(n int) string { return "And " + cities[n+1] + "." }, false},
		"the person named it before":      {func(int) string { return "And Lima, Oslo, Cairo, Quito and Hanoi." }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			for n := range 5 {
				r.Add(&Event{Type: MessageSent, Role: RoleUser, Text: c.says(n)})
				r.Add(&Event{Type: ToolCallStarted, Tool: "find_depot", Input: fmt.Appendf(nil, `{"country":"any","city":%q}`, cities[n])})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "find_depot", Output: json.RawMessage(`{"depot":"north","state":"open","opens":"early in the morning"}`)})
			}
			if got := r.StepAt(0).Effort; got.Requested != c.requested || got.Requested && got.Wasted > 0 {
				t.Errorf("requested = %t, want %t; wasted %.2f", got.Requested, c.requested, got.Wasted)
			}
		})
	}
}
