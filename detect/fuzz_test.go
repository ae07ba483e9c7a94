package detect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/detect/detecttest"
)

// FuzzSuite makes a run of arbitrary bytes. The detectors must find the same in a shared run as in a run of their own.
func FuzzSuite(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 30, 300, 3000} {
		for range 8 {
			data := make([]byte, size)
			narrow := 1 + random.IntN(255) // few different bytes make loops
			for k := range data {
				data[k] = byte(random.IntN(narrow))
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, eventsOf(data[:min(len(data), 3000)]))
	})
}

// TestGoldenTracesAgree plays the golden traces of all rules with every detector, where each finds something.
func TestGoldenTracesAgree(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.trace")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d traces (%v)", len(paths), err)
	}
	found := map[string]int{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := detecttest.Parse(path, data)
		if err != nil {
			t.Fatal(err)
		}
		var events []*unloop.Event
		for _, entry := range trace.Entries {
			events = append(events, entry.Event)
		}
		for rule, n := range agree(t, events) {
			found[rule] += n
		}
	}
	for _, d := range suite() {
		if rule := d.Info().Name; found[rule] == 0 {
			t.Errorf("%s has no finding, so the test compares nothing", rule)
		}
	}
}

// agree compares, event by event, what each detector finds in a shared run and in a run of its own, and checks that the findings
// are sound. It returns the number of findings of each rule.
func agree(t *testing.T, events []*unloop.Event) map[string]int {
	t.Helper()
	detectors := suite()
	var facts unloop.Needs
	var own []*unloop.Run
	for _, d := range detectors {
		facts |= d.Info().Needs
		own = append(own, runWith(d.Info().Needs))
	}
	shared := runWith(facts)
	found := map[string]int{}
	for at, e := range events {
		shared.Add(e)
		for k, d := range detectors {
			own[k].Add(e)
			if d.Info().At&own[k].Current().Kinds() == 0 {
				continue
			}
			rule := d.Info().Name
			f, ok := d.Check(shared)
			g, alone := d.Check(own[k])
			if diff := cmp.Diff(g, f); ok != alone || diff != "" {
				t.Fatalf("%s at event %d: alone %t, shared %t (-alone +shared):\n%s", rule, at, alone, ok, diff)
			}
			if ok {
				found[rule]++
				sound(t, rule, events[:at+1], &f)
			}
		}
	}
	return found
}

func runWith(facts unloop.Needs) *unloop.Run {
	return unloop.NewRun("run", unloop.Options{Needs: facts, Shells: unloop.DefaultShells()})
}

// sound fails if a finding could not be shown to anyone: of a rule without a page, or without evidence in the run.
func sound(t *testing.T, rule string, events []*unloop.Event, f *unloop.Finding) {
	t.Helper()
	if _, ok := detect.Explain(f.Rule); !ok || f.Rule != rule {
		t.Fatalf("%s found %q", rule, f.Rule)
	}
	if f.What == "" || f.Why == "" || f.Try == "" || f.Severity == "" || f.Score < 0 {
		t.Fatalf("%s: %+v", rule, f)
	}
	if n := len(f.Evidence); n < 1 || n > unloop.MaxEvidence {
		t.Fatalf("%s: %d events as evidence: %+v", rule, n, f)
	}
	seen := map[unloop.EventRef]bool{}
	for _, ref := range f.Evidence {
		if seen[ref] {
			t.Fatalf("%s: %v is named twice as evidence", rule, ref)
		}
		seen[ref] = true
	}
	for _, ref := range append(f.Evidence[:len(f.Evidence):len(f.Evidence)], f.First, f.Event) {
		if ref.Index < 0 || ref.Index >= len(events) || events[ref.Index].ID != ref.ID {
			t.Fatalf("%s: %v is not an event of the run", rule, ref)
		}
	}
}

// eventsOf makes three bytes an event. Its words are few, so that they come again.
func eventsOf(data []byte) []*unloop.Event {
	var events []*unloop.Event
	for ; len(data) >= 3; data = data[3:] {
		e := eventFrom(data[0], data[1], data[2])
		e.Index = len(events)
		e.ID = fmt.Sprint("e", e.Index)
		events = append(events, e)
	}
	return events
}

func eventFrom(kind, who, what byte) *unloop.Event {
	pick := func(of byte, words ...string) string { return words[int(of)%len(words)] }
	tool := pick(who, "search", "bash", "edit_file", "job_status", "think", "")
	call := pick(who/8, "", "", "c1", "c2", "c3")
	switch kind % 12 {
	case 0, 1, 2:
		return &unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, CallID: call, Input: raw(pick(what,
			`{"query":"boiling point of ethanol"}`, `{"query":"boiling point of ethanol","n":2}`, `{"command":"cat a.go"}`,
			`{"command":"head a.go"}`, `{"command":"make >log"}`, `{"command":"go test ./..."}`, `{"path":"a.go","offset":7}`, `{"`, `not json`, ``))}
	case 3, 4, 5:
		return &unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, CallID: call, Output: raw(pick(what,
			`[]`, `"no results"`, `"took 12 ms"`, `"took 13 ms"`, `"ok"`, `"10 %"`, `"1 failed, 3 passed in 0.12s"`, `null`, ``))}
	case 6:
		return &unloop.Event{Type: unloop.ToolCallFailed, Tool: tool, CallID: call, Error: raw(pick(what,
			`"ValueError: 'a'"`, `"ValueError: 'b'"`, `"timed out"`, `""`, ``))}
	case 7:
		return &unloop.Event{Type: unloop.ToolCallBlocked, Tool: tool, CallID: call}
	case 8:
		return &unloop.Event{
			Type: unloop.MessageSent, Role: pick(who, "assistant", "assistant", "assistant", "user", "system"),
			Agent: pick(who/8, "", "planner", "writer"), Text: pick(what,
				"I will now look at the parser and fix the failing test.", "I will now look at the PARSER and fix the failing test!",
				"The tokenizer may be at fault, since it drops bytes.", "Done.", ""),
		}
	case 9:
		return &unloop.Event{Type: unloop.HandoffStarted, Agent: pick(what, "planner", "writer", "planner", "writer", "critic", "")}
	case 10:
		return &unloop.Event{Type: unloop.LLMCallCompleted, Cost: float64(who%4) / 20, Latency: new(float64(what) * 400)}
	}
	return &unloop.Event{
		Type: unloop.EventType(pick(what, "retry_triggered", "state_updated", "memory_write", "override", "run_failed", "else")),
		Time: time.Unix(int64(who), 0),
	}
}

// raw is nothing for an empty text: an event without it.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
