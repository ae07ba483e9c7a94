package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// TestLoopLensAgreesWithRescanning folds random runs and, at each event, compares the warnings with those of a plain
// reference that reads the whole run again.
func TestLoopLensAgreesWithRescanning(t *testing.T) {
	settings := LoopLensSettings()
	settings.CostBudget = 0.3
	p, err := FromSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(randomEvent(), 1, 60).Draw(t, "events")
		watch := p.NewSession("run")
		reference := rescan{raised: map[string]plainWarning{}}
		for i := range events {
			events[i].ID, events[i].Index = fmt.Sprint("e", i), i
			watch.Add(&events[i])
			reference.add(events[:i+1])
			if diff := cmp.Diff(reference.all(), plain(watch.Warnings())); diff != "" {
				t.Fatalf("after event %d (-rescan +fold):\n%s", i, diff)
			}
		}
	})
}

func randomEvent() *rapid.Generator[unloop.Event] {
	return rapid.Custom(func(t *rapid.T) unloop.Event {
		e := unloop.Event{Type: rapid.SampledFrom([]unloop.EventType{
			unloop.ToolCallStarted, unloop.ToolCallStarted, unloop.ToolCallStarted, unloop.ToolCallCompleted, unloop.ToolCallCompleted,
			unloop.ToolCallFailed, unloop.RetryTriggered, unloop.HandoffStarted, unloop.HandoffStarted, unloop.StateUpdated,
			unloop.LLMCallCompleted, "something_else",
		}).Draw(t, "type")}
		tool := rapid.SampledFrom([]string{"search", "read", ""}).Draw(t, "tool")
		if rapid.Bool().Draw(t, "as name") {
			e.Name = tool
		} else {
			e.Tool = tool
		}
		switch e.Type {
		case unloop.ToolCallStarted:
			e.Input = json.RawMessage(rapid.SampledFrom([]string{
				`{"q":"boiling point of ethanol","n":5}`, `{"n":5,"q":"boiling point of ethanol"}`, `{"n":5, "q":"boiling point of methanol"}`,
				`{"q":"who won in 1998"}`, `{"path":"a.go"}`, `not json`, `{}`, ``,
			}).Draw(t, "input"))
		case unloop.ToolCallCompleted:
			e.Output = json.RawMessage(rapid.SampledFrom([]string{`[]`, `""`, `null`, `{"results":[]}`, `"No results."`, `"10 results"`, `[1]`, ``}).Draw(t, "output"))
			if len(e.Output) == 0 {
				e.Output = nil
			}
		case unloop.HandoffStarted:
			e.Agent = rapid.SampledFrom([]string{"planner", "writer", "critic", ""}).Draw(t, "agent")
		case unloop.LLMCallCompleted:
			e.Cost = rapid.SampledFrom([]float64{0, 0.01, 0.04, 0.2}).Draw(t, "cost")
		}
		if ms := rapid.SampledFrom([]float64{-1, -1, 20, 30_000, 30_001}).Draw(t, "latency"); ms >= 0 {
			e.Latency = &ms
		}
		return e
	})
}

type plainWarning struct {
	Rule, Subject, Event string
	Count                int
}

func plain(findings []unloop.Finding) []plainWarning {
	all := make([]plainWarning, 0, len(findings))
	for _, f := range findings {
		all = append(all, plainWarning{f.Rule, f.Subject, f.Event.ID, f.Count})
	}
	return all
}

// rescan is the slow reference: it knows a run only as the list of its events.
type rescan struct{ raised map[string]plainWarning }

func (r *rescan) all() []plainWarning {
	all := make([]plainWarning, 0, len(r.raised))
	for _, w := range r.raised {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b plainWarning) int {
		return strings.Compare(a.Rule+"\x00"+a.Subject, b.Rule+"\x00"+b.Subject)
	})
	return all
}

func (r *rescan) raise(w plainWarning) {
	key := w.Rule + "\x00" + w.Subject
	if known, ok := r.raised[key]; !ok || w.Count > known.Count {
		r.raised[key] = w
	}
}

func (r *rescan) add(events []unloop.Event) {
	calls := map[string][]unloop.Event{}
	empty := map[string][]unloop.Event{}
	var window, retries, handoffs []unloop.Event
	for _, e := range events {
		name := e.ToolName()
		switch {
		case e.Type == unloop.ToolCallStarted && name != "":
			calls[name] = append(calls[name], e)
			window = append(window, e)
		case e.Type == unloop.RetryTriggered:
			retries = append(retries, e)
		case e.Type == unloop.HandoffStarted && e.Agent != "":
			handoffs = append(handoffs, e)
		}
	}
	for name, e := range outcomes(events) {
		empty[name] = e
	}
	r.repeats(window[max(0, len(window)-8):])
	for tool, group := range calls {
		r.groups(tool, group)
		r.stuck(events, tool, group)
	}
	for tool, group := range empty {
		if len(group) >= 3 {
			r.raise(plainWarning{"empty_result_loop", tool, group[len(group)-1].ID, len(group)})
		}
	}
	if n := len(retries); n >= 3 {
		r.raise(plainWarning{"retry_storm", "", retries[n-1].ID, n})
	}
	r.bounce(handoffs)
	r.costs(events)
}

// outcomes gives each tool's empty results. An outcome that names no tool is that of the oldest open call.
func outcomes(events []unloop.Event) map[string][]unloop.Event {
	empty := map[string][]unloop.Event{}
	var open []string
	for _, e := range events {
		name := e.ToolName()
		switch e.Type {
		case unloop.ToolCallStarted:
			open = append(open, name)
		case unloop.ToolCallCompleted, unloop.ToolCallFailed:
			if k := slices.IndexFunc(open, func(o string) bool { return name == "" || o == name }); k >= 0 {
				name = open[k]
				open = slices.Delete(open, k, k+1)
			}
			if e.Type == unloop.ToolCallCompleted && name != "" && slices.Contains([]string{`[]`, `""`, `null`, `{"results":[]}`, `"No results."`}, string(e.Output)) {
				empty[name] = append(empty[name], e)
			}
		}
	}
	return empty
}

func (r *rescan) repeats(window []unloop.Event) {
	count, last := map[string]int{}, map[string]string{}
	for _, e := range window {
		count[e.ToolName()]++
		last[e.ToolName()] = e.ID
	}
	for tool, n := range count {
		if n >= 3 {
			r.raise(plainWarning{"repeated_tool_call", tool, last[tool], n})
		}
	}
}

func (r *rescan) groups(tool string, group []unloop.Event) {
	var canon fingerprint.Canonicalizer
	var match fingerprint.Matcher
	var inputs []string
	for _, e := range group {
		inputs = append(inputs, string(canon.Canonical(e.Input)))
	}
	latest := inputs[len(inputs)-1]
	match.Reset([]byte(latest), len(inputs))
	similar := 0
	largest, at := 0, 0
	for i, in := range inputs {
		shape := fingerprint.ShapeOf([]byte(in))
		if match.Similar([]byte(in), &shape, 0.85) {
			similar++
		}
		n := 0
		for _, other := range inputs {
			if other == in {
				n++
			}
		}
		if n > largest || n == largest && inputs[at] == in {
			largest, at = n, i
		}
	}
	if similar >= 3 {
		r.raise(plainWarning{"repeated_tool_call_similar_input", tool, group[len(group)-1].ID, similar})
	}
	if largest >= 3 {
		r.raise(plainWarning{"repeated_tool_call_exact_input", tool, group[at].ID, largest})
	}
}

func (r *rescan) stuck(events []unloop.Event, tool string, group []unloop.Event) {
	first, last := group[0].Index, group[len(group)-1].Index
	for _, e := range events[first:last] {
		if e.Type == unloop.StateUpdated || e.Type == unloop.MemoryWrite {
			return
		}
	}
	if len(group) >= 3 {
		r.raise(plainWarning{"no_progress", tool, group[len(group)-1].ID, len(group)})
	}
}

func (r *rescan) bounce(handoffs []unloop.Event) {
	tail := handoffs[max(0, len(handoffs)-6):]
	if len(tail) < 3 {
		return
	}
	for k := range tail {
		if k > 0 && tail[k].Agent == tail[k-1].Agent || k > 1 && tail[k].Agent != tail[k-2].Agent {
			return
		}
	}
	pair := []string{tail[0].Agent, tail[1].Agent}
	slices.Sort(pair)
	r.raise(plainWarning{"handoff_bounce", strings.Join(pair, "|"), tail[len(tail)-1].ID, len(tail)})
}

func (r *rescan) costs(events []unloop.Event) {
	total := 0.0
	for _, e := range events {
		total += e.Cost
		if e.Cost > 0 && total > 0.05 && e.Cost > total/2 {
			r.raise(plainWarning{Rule: "cost_spike", Subject: e.ID, Event: e.ID})
		}
		if total > 0.3 {
			r.raise(plainWarning{Rule: "cost_budget_exceeded", Event: e.ID})
		}
		if e.Latency != nil && *e.Latency > 30_000 {
			r.raise(plainWarning{Rule: "long_running_step", Subject: e.ID, Event: e.ID})
		}
	}
}
