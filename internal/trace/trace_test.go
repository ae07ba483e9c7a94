package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
)

// stage is what a receiver of changes has: the events that stand, by run and id.
type stage map[[2]string]*unloop.Event

// play applies the changes. It fails where they are not consistent: an event is taken out that does not stand, or told
// again though it is the same.
func (s stage) play(t rapid.TB, changes []Change) {
	t.Helper()
	for _, c := range changes {
		at := [2]string{c.Event.RunID, c.Event.ID}
		old := s[at]
		if c.Removed {
			if old == nil {
				t.Fatalf("%v is removed and does not exist", at)
			}
			delete(s, at)
			continue
		}
		if old != nil && cmp.Equal(old, c.Event) {
			t.Fatalf("%v is repeated unchanged", at)
		}
		s[at] = c.Event
	}
}

// once is what the spans give when they come all at once.
func once(t rapid.TB, spans []Span) stage {
	t.Helper()
	s := make(stage)
	s.play(t, New().Add(spans))
	return s
}

func (s stage) ids() map[string]int {
	ids := make(map[string]int)
	for at := range s {
		ids[at[1]]++
	}
	return ids
}

// genSpan draws a span of a small world, in which much collides: parents, rings, names, calls, runs, times.
func genSpan(t *rapid.T) Span {
	id := func(label string, least int) string {
		return fmt.Sprintf("%016x", rapid.IntRange(least, 12).Draw(t, label))
	}
	s := Span{TraceID: "t1", ID: id("id", 1)}
	if rapid.IntRange(0, 4).Draw(t, "has parent") > 0 {
		s.ParentID = id("parent", 1)
	}
	s.Start = rapid.Int64Range(0, 20).Draw(t, "start")
	if s.End = rapid.Int64Range(0, 20).Draw(t, "end"); s.Start != 0 && s.End != 0 {
		s.End = max(s.Start, s.End)
	}
	s.Failed = rapid.IntRange(0, 3).Draw(t, "failed") == 0
	s.Reason = rapid.SampledFrom([]string{"", "E"}).Draw(t, "reason")
	s.Run = rapid.SampledFrom([]string{"", "", "", "r1", "r2"}).Draw(t, "run")
	s.Service = rapid.SampledFrom([]string{"", "desk", "files"}).Draw(t, "service")
	s.Graph = rapid.SampledFrom([]string{"", "node"}).Draw(t, "graph")
	s.Kind = rapid.SampledFrom([]Kind{Other, Other, Workflow, Agent, Agent, Model, Tool, Tool, Tool}).Draw(t, "kind")
	s.Agent = rapid.SampledFrom([]string{"", "", "Clerk", "clerk", "Front Desk"}).Draw(t, "agent")
	switch s.Kind {
	case Tool:
		s.Tool = rapid.SampledFrom([]string{"ls", "ls", "files__ls", "rm", "transfer_to_clerk"}).Draw(t, "tool")
		s.MCP = rapid.Bool().Draw(t, "mcp")
		s.CallID = rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "call")
		s.ByCall = s.CallID != "" && rapid.Bool().Draw(t, "by call")
		s.Input = rapid.SampledFrom([]string{"", `{"d":1}`}).Draw(t, "input")
		s.Output = rapid.SampledFrom([]string{"", `"ok"`}).Draw(t, "output")
	case Model:
		s.Model = "m"
		s.Usage.Input = rapid.Int64Range(0, 2).Draw(t, "tokens")
		s.CallID = rapid.SampledFrom([]string{"", "c1", "q1"}).Draw(t, "request")
		s.ByCall = s.CallID != ""
		s.Messages = genMessages(t)
	}
	return s
}

// genMessages draws the messages of a model call, of few conversations with few messages.
func genMessages(t *rapid.T) string {
	text := rapid.SampledFrom([]string{"a", "b"})
	m := Messages{
		Opens:  rapid.Bool().Draw(t, "opens"),
		Root:   rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "root"),
		Answer: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "answer"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "messages") {
		m.Input = append(m.Input, Message{
			Role: rapid.SampledFrom([]string{"user", "system"}).Draw(t, "role"),
			Text: text.Draw(t, "text"), Nth: rapid.IntRange(0, 1).Draw(t, "nth"),
		})
	}
	return m.Encode()
}

// The events that stand are a function of the set of spans alone.
func TestEventsDoNotDependOnOrderAndSplit(t *testing.T) {
	worlds := map[string]func(*rapid.T) []Span{
		"a small world": func(t *rapid.T) []Span { return rapid.SliceOfN(rapid.Custom(genSpan), 1, 16).Draw(t, "spans") },
		"a deep world":  genDeep,
		"a crowd":       genCrowd,
		"a dialogue":    genDialogue,
	}
	for name, draw := range worlds {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkOrder(t, draw(t)) })
		})
	}
}

// checkOrder sends the spans at once and in pieces, shuffled and doubled, and compares what stands.
func checkOrder(t *rapid.T, spans []Span) {
	want := once(t, spans)
	sent := rapid.Permutation(append(slices.Clone(spans), spans[:len(spans)/2]...)).Draw(t, "sent")
	trace, got := New(), make(stage)
	for len(sent) > 0 {
		n := rapid.IntRange(1, len(sent)).Draw(t, "batch")
		got.play(t, trace.Add(sent[:n]))
		sent = sent[n:]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-at once +in pieces:\n%s", diff)
	}
	if changes := trace.Add(spans); len(changes) > 0 {
		t.Fatalf("known spans change %v", changes[0].Event)
	}
	for id, times := range got.ids() {
		if times != 1 {
			t.Fatalf("%s is in %d runs", id, times)
		}
	}
	checkLinks(t, trace)
	checkRuns(t, trace, got)
}

// genDeep draws a trace that is hardly more than one path, on which one tool's or model's spans are in one another beyond
// what counts as one call.
func genDeep(t *rapid.T) []Span {
	var spans []Span
	kind := rapid.SampledFrom([]Kind{Tool, Model}).Draw(t, "kind")
	for i := range rapid.IntRange(1, 3*maxNest).Draw(t, "deep") {
		s := Span{TraceID: "t1", ID: fmt.Sprintf("%016x", i+1), Start: int64(i + 1), End: 100, Facts: Facts{Kind: kind, MCP: true}}
		if i > 0 {
			s.ParentID = fmt.Sprintf("%016x", i+1-rapid.IntRange(1, min(i, 2)).Draw(t, "up"))
		}
		if kind == Tool {
			s.Tool = "ls"
		}
		if rapid.IntRange(0, 9).Draw(t, "of another kind") == 0 {
			s.Kind = rapid.SampledFrom([]Kind{Other, Agent, Tool}).Draw(t, "other kind")
		}
		s.Failed = rapid.IntRange(0, 5).Draw(t, "failed") == 0
		spans = append(spans, s)
	}
	return spans
}

// genCrowd draws about as many spans as may tell of one call: of one call id, or in one span, or both.
func genCrowd(t *rapid.T) []Span {
	spans := []Span{{TraceID: "t1", ID: "ff", Facts: Facts{Kind: Tool, Tool: "ls", CallID: "c"}}}
	for i := range rapid.IntRange(maxCall-4, maxCall+4).Draw(t, "crowd") {
		s := Span{TraceID: "t1", ID: fmt.Sprintf("%016x", i+1), ParentID: "ee", Facts: Facts{Kind: Tool, Tool: "ls", CallID: "c", ByCall: true}}
		s.Start = int64(i % 7)
		s.End = s.Start + int64(i%3)
		s.Output = fmt.Sprint(i)
		if rapid.IntRange(0, 20).Draw(t, "inside") == 0 {
			s.ParentID = "ff"
		}
		spans = append(spans, s)
	}
	return spans
}

// genDialogue draws model calls of a small world, some inside others, with messages in common.
func genDialogue(t *rapid.T) []Span {
	spans := rapid.SliceOfN(rapid.Custom(genSpan), 1, 16).Draw(t, "spans")
	for i := range spans {
		if rapid.IntRange(0, 4).Draw(t, "model") > 0 {
			spans[i].Facts = Facts{Kind: Model, Model: "m", Messages: genMessages(t)}
		}
	}
	return spans
}

// checkLinks checks what a trace keeps against what it would find now.
func checkLinks(t rapid.TB, trace *Trace) {
	t.Helper()
	size := traceSize
	for _, n := range trace.nodes {
		size += nodeSize + n.span.bytes()
		if n.span.Kind == Model && n.span.Messages != "" {
			size += claimSize
		}
		for _, m := range n.inner {
			if m.in != n {
				t.Fatalf("%s is not within %s", m.span.ID, n.span.ID)
			}
		}
		for _, m := range n.joined {
			if m.merged != n {
				t.Fatalf("%s is not joined to %s", m.span.ID, n.span.ID)
			}
		}
		if n.dirty || n.touched || n.unsettled || n.fresh || n.deep {
			t.Fatalf("%s is not settled", n.span.ID)
		}
	}
	if size != trace.Size() {
		t.Fatalf("size = %d, want %d", trace.Size(), size)
	}
}

func TestSpansSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSpan(t)
		s.Input = rapid.SampledFrom([]string{"", `{"a": [1,  2]}`, `"<&>"`, "{\"a\":\"\u2028\"}"}).Draw(t, "any input")
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again Span
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
	})
}
