package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect/detecttest"
)

// restoresAsItWas fails unless a session can be restored from its snapshot and then has the same snapshot.
func restoresAsItWas(t interface{ Fatalf(string, ...any) }, p *Profile, w *Session, where string) {
	data, err := w.Snapshot()
	if err != nil {
		t.Fatalf("%s, %s: %v", p.Name(), where, err)
	}
	restored, err := p.Restore(data)
	if err != nil {
		t.Fatalf("%s, %s: %v", p.Name(), where, err)
	}
	again, err := restored.Snapshot()
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("%s, %s (%v):\n%s", p.Name(), where, err, cmp.Diff(string(data), string(again)))
	}
}

// TestTheStateOfEveryGoldenTraceIsValid restores each profile after each event of the traces of package detect. The checks of a
// snapshot must accept every real run.
func TestTheStateOfEveryGoldenTraceIsValid(t *testing.T) {
	paths, err := filepath.Glob("../detect/testdata/*/*.trace")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d traces (%v)", len(paths), err)
	}
	for k, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := detecttest.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Names()[k%len(Names())])
		if err != nil {
			t.Fatal(err)
		}
		w := p.NewSession("run")
		for at, entry := range trace.Entries {
			if w.Add(entry.Event); at%7 == 0 || at == len(trace.Entries)-1 {
				restoresAsItWas(t, p, w, fmt.Sprintf("%s, event %d", path, at))
			}
		}
	}
}

func TestTheStateOfEveryRunIsValid(t *testing.T) {
	for _, name := range Names() {
		p, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			w := p.NewSession("run")
			for k, e := range rapid.SliceOfN(rapid.OneOf(randomEvent(), anyEvent()), 0, 60).Draw(t, "events") {
				e.ID, e.Index = fmt.Sprint("e", k), k
				w.Add(&e)
			}
			restoresAsItWas(t, p, w, "a random run")
		})
	}
}

// anyEvent is an event whose parts need not go together: many tools and agents, huge numbers, times that go back.
func anyEvent() *rapid.Generator[unloop.Event] {
	types := []unloop.EventType{
		unloop.RunStarted, unloop.RunCompleted, unloop.RunFailed, unloop.LLMCallStarted, unloop.LLMCallFailed, unloop.ToolCallStarted, unloop.ToolCallStarted,
		unloop.ToolCallCompleted, unloop.ToolCallFailed, unloop.ToolCallBlocked, unloop.RetryTriggered, unloop.HandoffStarted, unloop.StateUpdated,
		unloop.MemoryWrite, unloop.MessageSent, unloop.MessageSent, unloop.Override,
	}
	numbers := rapid.SampledFrom([]float64{0, 1, -1, 1e300, -1e308, 1.7e308})
	return rapid.Custom(func(t *rapid.T) unloop.Event {
		latency := numbers.Draw(t, "latency")
		return unloop.Event{
			Type: rapid.SampledFrom(types).Draw(t, "type"), Tool: fmt.Sprint("tool", rapid.IntRange(0, 300).Draw(t, "tool")),
			Agent: rapid.SampledFrom([]string{"", "a", "b", "c", "é"}).Draw(t, "agent"), CallID: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "call"),
			Role: rapid.SampledFrom([]string{unloop.RoleAssistant, unloop.RoleUser, "other"}).Draw(t, "role"),
			Text: rapid.SampledFrom([]string{"", "short", "I will look at the file once more, and then run all the tests again."}).Draw(t, "text"),
			Time: time.Unix(rapid.Int64Range(0, 100).Draw(t, "time"), 0).UTC(), Cost: numbers.Draw(t, "cost"), Latency: &latency,
			Tokens: rapid.Int64().Draw(t, "tokens"), Input: json.RawMessage(rapid.SampledFrom([]string{"", `{"a":1}`, `[`}).Draw(t, "input")),
			Output: json.RawMessage(rapid.SampledFrom([]string{"null", `"x"`, `{"error":"failed"}`}).Draw(t, "output")),
		}
	})
}
