package unloop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// TestText checks how many nearly equal messages the agent sent before the last one, and the event of the first.
func TestText(t *testing.T) {
	const (
		plan  = "I will now look at the parser and fix the failing test, attempt "
		other = "The tokenizer may be at fault, since it drops the last byte of its input."
	)
	type text struct {
		Alike    int
		First    string
		Restated int
	}
	for _, tc := range []struct {
		name, lines string
		want        text
	}{
		{"said once", "say " + plan + "1", text{1, "e1", 0}},
		{"numbers, case and marks do not count", "say " + plan + "1\nsay " + strings.ToUpper(plan) + "2!", text{2, "e1", 1}},
		{"something else in between", "say " + plan + "1\nsay " + other + "\nsay " + plan + "2", text{2, "e1", 1}},
		{"something else", "say " + plan + "1\nsay " + plan + "2\nsay " + other, text{1, "e3", 0}},
		{"another agent's words are not its own", "say a: " + plan + "1\nsay b: " + plan + "2", text{1, "e2", 0}},
		{"six messages are remembered", "say " + plan + "1\nrepeat 6\nsay " + other + "\nend\nsay " + plan + "2", text{1, "e8", 0}},
		{"a ninth equal message is similar to the others", "repeat 9\nsay " + plan + "{i}\nend", text{7, "e3", 8}},
		{"eight agents are remembered", "say a: " + plan + "1\nrepeat 8\nsay b{i}: " + other + "\nend\nsay a: " + plan + "2", text{1, "e10", 0}},
		{"the silent one is forgotten first", "say a: " + plan + "1\nrepeat 4\nsay b{i}: " + other + "\nend\nsay a: " + other + "\nrepeat 4\nsay c{i}: " + other + "\nend\nsay a: " + plan + "2", text{2, "e1", 1}},
		{"fewer than eight words say nothing", "say Done with it.\nsay Done with it.", text{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := fold(t, tc.lines, nil)
			got := r.Current().Text
			if diff := cmp.Diff(tc.want, text{got.Similar, got.First.ID, r.RestatedInARow()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextRepeats(t *testing.T) {
	const passage = "and so on and on "
	for _, tc := range []struct {
		name, text    string
		period, times int
	}{
		{"a passage at the end", "It begins here " + strings.Repeat(passage, 6), len(passage), 6},
		{"the last of them cut short", strings.Repeat(passage, 6) + "and so", len(passage), 6},
		{"not at the end", strings.Repeat(passage, 6) + "and then it ends: xyz", 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := unloop.NewRun("run", unloop.Options{Needs: unloop.NeedTexts})
			r.Add(&unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: tc.text})
			if got := r.Current().Text; got.Times != tc.times || tc.times > 1 && got.Period != tc.period {
				t.Errorf("%d bytes repeat %d times, want %d bytes %d times", got.Period, got.Times, tc.period, tc.times)
			}
		})
	}
}

func TestOnlyAnAssistantRepeatsItself(t *testing.T) {
	r := fold(t, "user Please look at the parser and fix the failing test now.", nil)
	if got := r.Current().Text; got != nil {
		t.Errorf("the text of a user's message is %+v", got)
	}
}

// TestRestating checks RestatedWeight.
func TestRestating(t *testing.T) {
	const (
		order = "say lead: Please look up the opening hours of the city museum, and note them down.\n"
		other = "say clerk: Nothing of that kind stands on these pages, neither above nor below the map.\n"
		news  = "call read a\nresult read package a\n"
	)
	plan := "say lead: " + strings.Repeat("first second third fourth fifth sixth seventh eighth ninth tenth ", 11) + "\n"
	for _, tc := range []struct {
		name, lines string
		least, most float64
	}{
		{"nothing is said again", order + other, 0, 0.1},
		{"one message is", order + order, 1, 1},
		{"three messages later it counts half", order + order + other + "say The mill by the river turned so slowly that the flour was eaten by mice.\n" + "say clown: Why did nobody ever ask for two left shoes of one size?\n", 0.49, 0.55},
		{"restated messages add up", order + order + order, 1.79, 1.8},
		{"a step with news ends it", order + order + news, 0, 0},
		{"a user message resets it", order + order + "user Go on.\n", 0, 0},
		{"a new plan resets it", order + order + order + plan, 0, 0},
		{"a long message like the others is no new plan", order + order + strings.ReplaceAll(order, "note them down", "and note them down") + order, 2, 3},
		{"an unobserved step resets it", order + order + "call read a\nresult read\n", 0, 0},
		{"a step without news does not", news + order + order + news, 1, 1},
		{"what was said before a new result is no longer said again", order + news + order + other, 0, 0.1},
		{"what was said behind it is", order + news + order + order, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fold(t, tc.lines, nil).RestatedWeight(); got < tc.least || got > tc.most {
				t.Errorf("the restated weight is %.2f messages, want %.2f to %.2f", got, tc.least, tc.most)
			}
		})
	}
}
