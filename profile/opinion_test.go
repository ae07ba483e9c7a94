package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// loop adds a call that gets the same result again and again, and answers each question. It returns the actions and the events.
func loop(t *testing.T, w *Session, rounds int, answer *policy.Opinion) (actions []policy.Action, events []unloop.Event) {
	t.Helper()
	add := func(e unloop.Event) policy.Decision {
		if e.ID == "" {
			e.ID = fmt.Sprint("e", len(events))
		}
		events = append(events, e)
		d := w.Add(&e)
		actions = append(actions, d.Action)
		return d
	}
	for range rounds {
		for _, e := range []unloop.Event{
			{Type: unloop.ToolCallStarted, Tool: "read", Input: json.RawMessage(`{"path":"a.go","key":"sk-secret"}`)},
			{Type: unloop.ToolCallCompleted, Tool: "read", Output: json.RawMessage(`"package a"`)},
		} {
			if d := add(e); d.Question != nil && answer != nil {
				opinion, err := d.Question.Event(*answer)
				if err != nil {
					t.Fatal(err)
				}
				add(opinion)
			}
		}
	}
	return actions, events
}

func newDefault(t *testing.T) *Profile {
	t.Helper()
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARecordedRunGivesTheSameDecisionsWithoutAModel(t *testing.T) {
	p := newDefault(t)
	for _, answer := range []policy.Opinion{{Stuck: true, Certainty: 1, Advice: "look elsewhere"}, {Certainty: 1}, {Stuck: true, Certainty: 0.1}} {
		actions, events := loop(t, p.NewSession("r"), 10, &answer)
		again := p.NewSession("r")
		var replayed []policy.Action
		for k := range events {
			replayed = append(replayed, again.Add(&events[k]).Action)
		}
		if diff := cmp.Diff(actions, replayed); diff != "" {
			t.Errorf("%+v: the recorded run gives other decisions:\n%s", answer, diff)
		}
	}
}

func TestWithoutAnAnswerNothingChanges(t *testing.T) {
	p := newDefault(t)
	actions, _ := loop(t, p.NewSession("r"), 10, nil)
	unsure, _ := loop(t, p.NewSession("r"), 10, &policy.Opinion{Stuck: true})
	var without []policy.Action
	for _, a := range unsure {
		if a != policy.Allow {
			without = append(without, a)
		}
	}
	var want []policy.Action
	for _, a := range actions {
		if a != policy.Allow {
			want = append(want, a)
		}
	}
	if diff := cmp.Diff(want, without); diff != "" || want[len(want)-1] != policy.Halt {
		t.Errorf("an opinion without certainty changes the decisions:\n%s", diff)
	}
}

func TestARestoredSessionKeepsOpinionsAndTranscript(t *testing.T) {
	p := newDefault(t)
	w := p.NewSession("r")
	w.KeepTranscript(strings.ToUpper)
	loop(t, w, 5, &policy.Opinion{Certainty: 1})
	data, err := w.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := p.Restore(data)
	if err != nil {
		t.Fatal(err)
	}
	restored.KeepTranscript(strings.ToUpper)
	further, _ := loop(t, w, 12, nil)
	same, _ := loop(t, restored, 12, nil)
	if diff := cmp.Diff(further, same); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(w.transcript.entries, restored.transcript.entries); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionShowsTheLatestStepsMasked(t *testing.T) {
	w := newDefault(t).NewSession("r")
	w.KeepTranscript(func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[masked]") })
	var question *policy.Question
	for k := 0; question == nil && k < 40; k++ {
		e := unloop.Event{ID: fmt.Sprint(k), Type: unloop.ToolCallStarted, Tool: "read", Input: json.RawMessage(`{"key":"sk-secret"}`)}
		if k%2 == 1 {
			e = unloop.Event{ID: fmt.Sprint(k), Type: unloop.ToolCallCompleted, Tool: "read", Output: json.RawMessage(`"` + strings.Repeat("sk-secret ", 2000) + `"`)}
		}
		question = w.Add(&e).Question
	}
	if question == nil || len(question.Steps) < 4 || len(question.Steps) > transcriptEntries {
		t.Fatalf("the question has no steps: %+v", question)
	}
	if got, want := question.Steps[0], `call read {"key":"[masked]"}`; got != want {
		t.Errorf("the first step is %q, want %q", got, want)
	}
	for _, step := range question.Steps {
		if strings.Contains(step, "sk-secret") || len(step) > 600 {
			t.Errorf("the step has %d bytes, or shows a secret: %s", len(step), step)
		}
	}
}

func TestATranscriptIsBounded(t *testing.T) {
	w := newDefault(t).NewSession("r")
	w.KeepTranscript(nil)
	for k := range 1000 {
		w.Add(&unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: fmt.Sprint(k, strings.Repeat(" word", 10_000))})
	}
	if size := w.transcript.size(); size > 16<<10 {
		t.Errorf("the transcript takes %d bytes, want at most 16 KiB", size)
	}
}
