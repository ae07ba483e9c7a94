package profile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/unloop-ai/unloop"
)

// BenchmarkStep measures one step, that is the start of a call and its outcome, through a whole profile: folded, detected,
// decided. The run has that many steps already; building it is not measured.
//
//	varied: five tools, each call with arguments of its own (about 280 bytes) and a result of its own
//	looping: one call and one result, again and again
func BenchmarkStep(b *testing.B) {
	for _, name := range Names() {
		p, err := New(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"varied", "looping"} {
			for _, n := range []int{100, 1000, 10_000} {
				b.Run(fmt.Sprintf("profile=%s/%s/steps=%d", name, kind, n), func(b *testing.B) {
					benchSteps(b, p, benchRun(n+max(50, n/10), kind == "looping"), 2*n)
				})
			}
		}
	}
}

// benchSteps measures the steps after the first built events, and builds the run again when they are used up.
func benchSteps(b *testing.B, p *Profile, events []unloop.Event, built int) {
	b.ReportAllocs()
	var w *Session
	next := len(events)
	for b.Loop() {
		if next == len(events) {
			b.StopTimer()
			w, next = p.NewSession("run"), built
			for k := range events[:built] {
				w.Add(&events[k])
			}
			b.StartTimer()
		}
		w.Add(&events[next])
		w.Add(&events[next+1])
		next += 2
	}
}

// benchRun makes the events of a run of n steps.
func benchRun(n int, looping bool) []unloop.Event {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"handler", "request", "body", "closes", "reader", "config", "timeout", "parser", "token", "stream", "buffer", "error", "retry", "cache"}
	text := func(least int) string {
		s := ""
		for len(s) < least {
			s += words[random.IntN(len(words))] + " "
		}
		return s
	}
	tools := []string{"read_file", "grep", "web_search", "edit_file", "run_tests"}
	var events []unloop.Event
	for i := range n {
		tool := tools[random.IntN(len(tools))]
		input := fmt.Sprintf(`{"path":"internal/server/file_%d.go","query":%q,"offset":%d,"limit":50,"note":%q}`, i, text(90), i, text(90))
		output := fmt.Sprintf(`"%d: %s"`, i, text(180))
		if looping {
			tool, input, output = "grep", `{"path":"internal/server","query":"the handler that reads the body"}`, `"no matches"`
		}
		events = append(events,
			unloop.Event{ID: fmt.Sprint("e", 2*i), Index: 2 * i, Type: unloop.ToolCallStarted, Tool: tool, Input: json.RawMessage(input)},
			unloop.Event{ID: fmt.Sprint("e", 2*i+1), Index: 2*i + 1, Type: unloop.ToolCallCompleted, Tool: tool, Output: json.RawMessage(output)})
	}
	return events
}
