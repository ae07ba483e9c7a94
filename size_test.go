package unloop

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestSizeEstimatesTheMemoryOfARun(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC() // a sync.Pool lets go of its memory at the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	all := NeedInputs | NeedOutcomes | NeedTexts | NeedEmpty | NeedRaw | NeedArgs | NeedResults | NeedExcerpts | NeedShell | NeedEffort
	for _, tc := range []struct {
		name  string
		facts Needs
		steps int
		event func(k int) Event
	}{
		{"short calls", NeedOutcomes | NeedExcerpts, 20, func(k int) Event {
			return Event{Tool: "grep", Input: json.RawMessage(fmt.Sprintf(`{"q":%d}`, k))}
		}},
		{"many calls", all, 6000, func(k int) Event {
			return Event{Tool: "grep", Input: json.RawMessage(fmt.Sprintf(`{"q":%d}`, k))}
		}},
		{"long inputs of many tools", all, 250, func(k int) Event {
			return Event{Tool: fmt.Sprint("t", k), Input: json.RawMessage(fmt.Sprintf(`{"q":"%d %s"}`, k, strings.Repeat("word ", 780)))}
		}},
		{"one huge input", all, 1, func(int) Event {
			return Event{Tool: "write", Input: json.RawMessage(`"` + strings.Repeat("word ", 200_000) + `"`)}
		}},
		{"calls that never end, with long names", 0, 300, func(k int) Event {
			long := fmt.Sprint(k, strings.Repeat("n", 500))
			return Event{ID: "i" + long, Tool: "t" + long, Agent: "a" + long, CallID: "c" + long, SpanID: "s" + long, Input: json.RawMessage(`{}`)}
		}},
		{"messages of many agents", all, 400, func(k int) Event {
			return Event{Type: MessageSent, Role: RoleAssistant, Agent: fmt.Sprint("a", k), Text: fmt.Sprint(k, strings.Repeat(" some word", 100), k)}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const runs = 20
			warm := NewRun("", Options{Needs: tc.facts}) // the scratch memory that runs share
			add(warm, tc.event(0))
			before := heap()
			var kept []*Run
			size := 0
			for range runs {
				r := NewRun("", Options{Needs: tc.facts})
				for k := range tc.steps {
					add(r, tc.event(k))
				}
				kept = append(kept, r)
				size += r.Size()
			}
			took := heap() - before
			if size < took/2 || size > 2*took {
				t.Errorf("Size returns %d bytes for a run, the memory is %d", size/runs, took/runs)
			}
			runtime.KeepAlive(kept)
			runtime.KeepAlive(warm)
		})
	}
}

func add(r *Run, e Event) {
	if e.Type == "" {
		e.Type = ToolCallStarted
	}
	r.Add(&e)
	if e.Type == ToolCallStarted && e.CallID == "" {
		r.Add(&Event{Type: ToolCallCompleted, Tool: e.Tool, Output: json.RawMessage(`"found ` + string(rune('a'+r.Calls()%26)) + `"`)})
	}
}
