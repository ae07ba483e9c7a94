package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// analysis is the wire form of an analysis.
type analysis struct {
	Call    string `json:"call"`
	Result  string `json:"result"`
	Start   string `json:"call_event_id"`
	Novel   *bool  `json:"novel"`
	Failing bool   `json:"failing"`
	Repeats int    `json:"repeats"`
	Event   string `json:"repeats_event_id"`
}

// analysesOf folds events and returns their analyses, by the ids of the events.
func analysesOf(t *testing.T, judge *profile.Profile, events ...*unloop.Event) map[string]analysis {
	t.Helper()
	f := newFold(judge, "r")
	all := make(map[string]analysis)
	for _, e := range events {
		f.add(e, placement{})
		var a analysis
		if raw := f.analyze(e); raw != nil {
			if err := json.Unmarshal(raw, &a); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
		}
		all[e.ID] = a
	}
	return all
}

// callOf returns the start and the end of a call; an output of "" was not captured.
func callOf(id, input, output string) []*unloop.Event {
	end := &unloop.Event{ID: id + ".end", RunID: "r", Type: unloop.ToolCallCompleted, Tool: "read", CallID: id}
	if output != "" {
		end.Output = json.RawMessage(output)
	}
	return []*unloop.Event{{ID: id, RunID: "r", Type: unloop.ToolCallStarted, Tool: "read", CallID: id, Input: json.RawMessage(input)}, end}
}

func TestAnAnalysisNamesTheRepeatedEvent(t *testing.T) {
	long := "I will read the configuration file again and then run all the tests of the package."
	message := func(id, role, text string) *unloop.Event {
		return &unloop.Event{ID: id, RunID: "r", Type: unloop.MessageSent, Role: role, Text: text}
	}
	yes, no := true, false
	all := analysesOf(t, defaultProfile(t), slices.Concat(
		callOf("first", `{"path":"a","limit":1}`, `"ok at 14:02:33"`),
		callOf("other", `{"path":"b"}`, `"other"`),
		callOf("again", `{"limit":1,"path":"a"}`, `"ok at 15:07:11"`),
		callOf("third", `{"path":"a","limit":1}`, `"ok at 16:00:00"`),
		callOf("uncaptured", `{"path":"c"}`, ""),
		[]*unloop.Event{
			{ID: "blocked", RunID: "r", Type: unloop.ToolCallBlocked, Tool: "read", Input: json.RawMessage(`{"path":"b"}`)},
			{ID: "model", RunID: "r", Type: unloop.LLMCallStarted, Model: "m"},
			message("user", unloop.RoleUser, long), message("said", unloop.RoleAssistant, long), message("restated", unloop.RoleAssistant, long),
			message("short", unloop.RoleAssistant, "Done."),
		})...)
	first, other, said := all["first"].Call, all["other"].Call, all["said"].Call
	same := all["first.end"].Result
	if identities := map[string]bool{first: true, other: true, said: true, same: true, "": true}; len(identities) != 5 {
		t.Fatalf("identities are missing or equal: %v", all)
	}
	want := map[string]analysis{
		"first": {Call: first}, "first.end": {Start: "first", Call: first, Result: same, Novel: &yes},
		"other": {Call: other}, "other.end": {Start: "other", Call: other, Result: all["other.end"].Result, Novel: &yes},
		"again": {Call: first}, "again.end": {Start: "again", Call: first, Result: same, Novel: &no, Repeats: 2, Event: "first.end"},
		"third": {Call: first}, "third.end": {Start: "third", Call: first, Result: same, Novel: &no, Repeats: 3, Event: "again.end"},
		"uncaptured": {Call: all["uncaptured"].Call}, "uncaptured.end": {Start: "uncaptured", Call: all["uncaptured"].Call},
		"blocked": {Call: other}, "model": {}, "user": {},
		"said": {Call: said, Novel: &yes}, "restated": {Call: said, Novel: &no, Repeats: 2, Event: "said"},
		"short": {Call: all["short"].Call},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnAnalysisTellsAResultThatDescribesAFailure(t *testing.T) {
	events := slices.Concat(callOf("a", `"a"`, `"Exit code: 2\nOutput:\nno such file"`), callOf("b", `"b"`, `"Exit code: 0\nOutput:\ntext"`), callOf("c", `"c"`, ""))
	events[5].Type, events[5].Error = unloop.ToolCallFailed, json.RawMessage(`"no such file"`) // the type of the event says that it failed
	for k := range events {
		events[k].Tool = "bash"
	}
	for name, want := range map[string]map[string]bool{
		"default":  {"a": false, "a.end": true, "b": false, "b.end": false, "c": false, "c.end": false},
		"agentium": {"a": false, "a.end": false, "b": false, "b.end": false, "c": false, "c.end": false}, // it reads no results
	} {
		judge, err := profile.New(name)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]bool)
		for id, a := range analysesOf(t, judge, events...) {
			got[id] = a.Failing
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestARepeatOfAnEvictedStepHasACountAndNoEvent(t *testing.T) {
	events := callOf("first", `{"path":"a"}`, `"ok"`)
	for k := range 40 {
		events = append(events, callOf(fmt.Sprint("between", k), fmt.Sprintf(`{"path":"p%d"}`, k), fmt.Sprintf(`"file %d"`, k))...)
	}
	events = append(events, callOf("again", `{"path":"a"}`, `"ok"`)...)
	if got := analysesOf(t, defaultProfile(t), events...)["again.end"]; got.Repeats != 2 || got.Event != "" {
		t.Errorf("%+v, want the second time and no event", got)
	}
}

func TestNoveltyIsUnknownUnderAProfileThatReadsNoResults(t *testing.T) {
	judge, err := profile.New("looplens")
	if err != nil {
		t.Fatal(err)
	}
	all := analysesOf(t, judge, append(callOf("a", `{"path":"a"}`, `"took 5 ms"`), callOf("b", `{"path":"b"}`, `"took 7 ms"`)...)...)
	a, b := all["a.end"], all["b.end"]
	if a.Result == "" || a.Result != b.Result || a.Call == b.Call || a.Novel != nil || b.Novel != nil || b.Repeats != 0 {
		t.Errorf("%+v and %+v", a, b)
	}
}

// follower applies updates as a page does: it has the analyses that the store has.
type follower map[string]string

func (f follower) Publish(u *store.Update) {
	for _, id := range u.Removed {
		delete(f, id)
	}
	for _, e := range u.Events {
		f[e.ID] = string(e.Analysis)
	}
	for _, r := range u.Analyses {
		f[r.EventID] = string(r.Analysis)
	}
}

func TestLiveReplayedAndRefoldedRunsHaveTheSameAnalyses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			events := randomRun(random, rapid.IntRange(1, 60).Draw(rt, "calls"))
			mixed := append(clones(events), clones(events[:len(events)/3])...)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			m, page := newMemory(), follower{}
			p, stop := startTuned(t, Options{Store: m, Sinks: []Sink{page}}, func(p *Pipeline) {
				p.refolds.perRun = rapid.SampledFrom([]int{0, 40, atOnceRun}).Draw(rt, "at once")
				p.refolds.slice = rapid.SampledFrom([]int{1, 7, sliceEvents}).Draw(rt, "slice")
				p.refolds.catchUp = rapid.SampledFrom([]int{0, 3, catchUpEvents}).Draw(rt, "catch up")
			})
			for len(mixed) > 0 {
				n := rapid.IntRange(1, min(len(mixed), 20)).Draw(rt, "batch")
				submit(t, p, mixed[:n]...)
				mixed = mixed[n:]
				time.Sleep(time.Duration(rapid.SampledFrom([]int{0, 20, 300}).Draw(rt, "ms")) * time.Millisecond)
			}
			settle(p)
			stop()
			want := follower{}
			f := newFold(defaultProfile(t), "r")
			for _, e := range events {
				f.add(e, placement{})
				want[e.ID] = string(f.analyze(e))
			}
			stored := follower{}
			for _, e := range m.sorted(1) {
				stored[e.ID] = string(e.Analysis)
			}
			if diff := cmp.Diff(want, stored); diff != "" {
				rt.Errorf("stored (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, page); diff != "" {
				rt.Errorf("at a subscriber (-want +got):\n%s", diff)
			}
		})
	})
}

func TestARefoldOfALongRunReportsChangedAnalyses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sink := newMemory(), &recorder{}
		p, stop := startTuned(t, Options{Store: m, Sinks: []Sink{sink}}, never)
		events := calls("r", maxReportedAnalyses+100)
		last := len(events) - 1
		submit(t, p, events[last])
		submit(t, p, events[:last]...)
		settle(p)
		stop()
		u := sink.updates[len(sink.updates)-1]
		if !u.Reset || len(u.Analyses) != 0 {
			t.Errorf("reset is %v, with %d analyses", u.Reset, len(u.Analyses))
		}
		stored := verdictOf(t, m, "r")
		f := newFold(defaultProfile(t), "r")
		for k, e := range events {
			f.add(e, placement{})
			if want := string(f.analyze(e)); want != stored.Analyses[k] {
				t.Fatalf("event %s has %s, want %s", e.ID, stored.Analyses[k], want)
			}
		}
	})
}

// BenchmarkAnalysis measures what an analysis costs beside the fold of its event: time and stored bytes.
func BenchmarkAnalysis(b *testing.B) {
	for name, events := range map[string][]*unloop.Event{
		"start of a call":  callOf("a", `{"path":"a"}`, `"ok"`)[:1],
		"novel result":     callOf("a", `{"path":"a"}`, `"ok"`),
		"repeated result":  calls("r", 100),
		"assistant's text": {{ID: "a", RunID: "r", Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: strings.Repeat("I will try that again. ", 20)}},
	} {
		b.Run(name, func(b *testing.B) {
			f := newFold(defaultProfile(b), "r")
			for _, e := range events {
				f.add(e, placement{})
			}
			bytes := 0
			for b.Loop() {
				bytes = len(f.analyze(events[len(events)-1]))
			}
			b.ReportMetric(float64(bytes), "B/event")
		})
	}
}
