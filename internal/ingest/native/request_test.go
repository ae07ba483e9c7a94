package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

var limits = Limits{Events: 5, Levels: 8, Name: 16, Shorten: begin, ShortenID: begin}

// begin stands for what shortens names.
func begin(text string, most int) string { return text[:most] }

const (
	a = `{"event_id":"a","run_id":"r","type":"run_started","project":"p"}`
	b = `{"event_id":"b","run_id":"r","type":"run_failed"}`
)

// read returns what a request holds in short: the ids of its events, and what is wrong with others.
func read(body string, lines bool) []string {
	r, err := ReadRequest([]byte(body), lines, limits)
	var bad *ingest.BadInput
	if errors.As(err, &bad) {
		return []string{"body " + bad.Field + ": " + bad.Reason}
	}
	if err != nil {
		return []string{"no BadInput: " + err.Error()}
	}
	got := []string{}
	if r.One {
		got = append(got, "one")
	}
	for _, i := range r.Items {
		got = append(got, fmt.Sprintf("%d %s", i.Event.Index, i.Event.ID))
	}
	for _, b := range r.Bad {
		got = append(got, fmt.Sprintf("bad %d %s: %s", b.Index, b.Field, b.Reason))
	}
	return got
}

func TestTheFormOfARequestIsDetected(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		lines      bool
		want       []string
	}{
		{"one object", a, false, []string{"one", "0 a"}},
		{"one object over several lines", "{\n\"event_id\":\"a\",\"input\":{}\n,\n\"run_id\":\"r\",\"type\":\"x\"}\n", false, []string{"one", "0 a"}},
		{"an array", " [" + a + "," + b + "] ", false, []string{"0 a", "1 b"}},
		{"an empty array", "[]", false, []string{}},
		{"lines", a + "\n\n" + b + "\n", false, []string{"0 a", "1 b"}},
		{"lines with carriage returns", a + "\r\n" + b + "\r\n", false, []string{"0 a", "1 b"}},
		{"one line with the content type of lines", a, true, []string{"0 a"}},
		{"a broken first line that is said to be one", `{"event_id":` + "\n" + b, true, []string{"1 b", "bad 0 : not valid JSON at byte 12: the JSON ends too early"}},
		{"nothing", " \n", false, []string{"body : the body is empty"}},
		{"a text", `"a"`, false, []string{"body : want a JSON object, an array of objects, or one object per line"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, read(tc.body, tc.lines)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALongNameIsShortenedAndReported(t *testing.T) {
	long := strings.Repeat("n", 17)
	for _, field := range []string{
		"event_id", "run_id", "project", "type", "agent", "name", "status", "model", "tool", "call_id", "role", "parent_event_id", "span_id", "trace_id",
	} {
		members := map[string]string{"event_id": "e", "run_id": "r", "type": "x"}
		members[field] = long
		event, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadRequest([]byte("["+a+","+string(event)+"]"), false, limits)
		if err != nil || len(got.Items) != 2 || len(got.Bad) != 0 {
			t.Errorf("%s: %v, %v", field, got, err)
			continue
		}
		if diff := cmp.Diff([]Refusal{{1, field, "shortened from 17 bytes to 16"}}, got.Cut); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
	got, err := ReadRequest([]byte(`{"event_id":"`+long+`","run_id":"r","type":"x"} more`+"\n"+b), true, limits)
	if err != nil || len(got.Cut) != 0 {
		t.Errorf("of a line that is refused: %v, %v", got.Cut, err)
	}
}

func TestAnInvalidEventDoesNotAffectOthers(t *testing.T) {
	for _, tc := range []struct{ name, event, want string }{
		{"no object", `7`, ": got a JSON number, want an event"},
		{"no type", `{"run_id":"r"}`, "type: an event needs a type"},
		{"no run", `{"type":"x"}`, "run_id: an event needs the id of its run"},
		{"a type that is a number", `{"run_id":"r","type":7,"tool":[]}`, "type: a JSON number does not fit here, want a string"},
		{"a project that is an object", `{"run_id":"r","type":"x","project":{}}`, "project: a JSON object does not fit here, want a string"},
		{"metadata that is a list", `{"run_id":"r","type":"x","metadata":[]}`, "metadata: want an object"},
		{"an invalid time", `{"run_id":"r","type":"x","timestamp":"soon"}`, "timestamp: invalid time: want RFC 3339, or a number since 1970"},
		{"a time that nobody can count to", `{"run_id":"r","type":"x","timestamp":"9999-01-01T00:00:00Z"}`, "timestamp: the time is not between the years 1678 and 2261"},
		{"less than no tokens", `{"run_id":"r","type":"x","tokens":-1}`, "tokens: must not be negative"},
		{"less than no cost", `{"run_id":"r","type":"x","cost":-0.5}`, "cost: must not be negative"},
		{"less than no latency", `{"run_id":"r","type":"x","latency_ms":-1}`, "latency_ms: must not be negative"},
		{"half a token", `{"run_id":"r","type":"x","tokens":1.5}`, "tokens: a JSON number does not fit here, want a whole number"},
		{"a cost beyond all numbers", `{"run_id":"r","type":"x","cost":1e999}`, "cost: a JSON number does not fit here, want a finite number"},
		{"usage that is a number", `{"run_id":"r","type":"x","usage":1}`, "usage: a JSON number does not fit here, want an object"},
		{"usage below nothing", `{"run_id":"r","type":"x","usage":{"input_tokens":-1}}`, "usage: must not be negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := []string{"0 a", "2 b", "bad 1 " + tc.want}
			if diff := cmp.Diff(want, read("["+a+","+tc.event+","+b+"]", false)); diff != "" {
				t.Errorf("in an array: %s", diff)
			}
			if diff := cmp.Diff(want, read(a+"\n"+tc.event+"\n"+b, false)); diff != "" {
				t.Errorf("in lines: %s", diff)
			}
		})
	}
}

func TestABrokenLineIsSkippedAndABrokenArrayRejected(t *testing.T) {
	for _, tc := range []struct{ name, event, line, array string }{
		{
			"cut off", `{"event_id":"c"`, "not valid JSON at byte 15: the JSON ends too early",
			"body 1: not valid JSON at byte 82: want the name of a member",
		},
		{
			"two on a line", `{"run_id":"r","type":"x"} {}`, "not valid JSON at byte 26: there is data after the JSON object",
			"body 1: not valid JSON at byte 92: want a comma or ']'",
		},
		{
			"two on a line, the first of them bad", `{"run_id":"r"} {}`, "not valid JSON at byte 15: there is data after the JSON object",
			"body 1: not valid JSON at byte 81: want a comma or ']'",
		},
		{
			"too deep", `{"run_id":"r","type":"x","input":[[[[[[[[]]]]]]]]}`, "not valid JSON at byte 40: the JSON is nested too deeply",
			"body 1: not valid JSON at byte 106: the JSON is nested too deeply",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{"0 a", "2 b", "bad 1 : " + tc.line}, read(a+"\n"+tc.event+"\n"+b, false)); diff != "" {
				t.Errorf("in lines: %s", diff)
			}
			if diff := cmp.Diff([]string{tc.array}, read("["+a+","+tc.event+","+b+"]", false)); diff != "" {
				t.Errorf("in an array: %s", diff)
			}
		})
	}
}

func TestTheEventsOfARequestAreLimited(t *testing.T) {
	want := []string{"body : more than 5 events in one request"}
	for _, body := range []string{
		"[" + strings.Repeat(a+",", 5) + a + "]",
		strings.Repeat(a+"\n", 6),
		strings.Repeat("{broken\n", 6) + "{}",
	} {
		if diff := cmp.Diff(want, read(body, strings.Contains(body, "broken"))); diff != "" {
			t.Errorf("%.40s: %s", body, diff)
		}
	}
}

func TestEveryMemberIsRead(t *testing.T) {
	body := []byte(`{"event_id":"e","run_id":"r","sequence":7,"timestamp":"2026-01-02T03:04:05.678901+00:00","type":"tool_call_completed",
		"project":"p","agent":"a","name":"n","status":"s","model":"m","tool":"t","call_id":"c","role":"user","text":"x\ny","tokens":12.0,
		"cost":0.5,"latency_ms":1.25,"input":{"q":[1,2]},"output":null,"error":"no","metadata":{"k":"v"},"usage":{"input_tokens":3},
		"annotations":{"readOnlyHint":true},"parent_event_id":"pe","span_id":"sp","trace_id":"tr","nobody":["knows",{"this":1}]}`)
	r, err := ReadRequest(body, false, Limits{Events: 1, Levels: 8, Name: 32, Shorten: begin, ShortenID: begin})
	if err != nil || len(r.Items) != 1 {
		t.Fatalf("%v, error %v", r, err)
	}
	clear(body) // the event must not notice
	ms := 1.25
	want := Item{Project: "p", Event: &unloop.Event{
		ID: "e", RunID: "r", Sequence: 7, Time: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC), Type: "tool_call_completed",
		Agent: "a", Name: "n", Status: "s", Model: "m", Tool: "t", CallID: "c", Role: "user", Text: "x\ny", Tokens: 12, Cost: 0.5,
		Latency: &ms, Input: json.RawMessage(`{"q":[1,2]}`), Output: json.RawMessage("null"), Error: json.RawMessage(`"no"`),
		Metadata: json.RawMessage(`{"k":"v"}`), Usage: &unloop.Usage{Input: 3}, Hints: &unloop.ToolHints{ReadOnly: true},
		ParentEventID: "pe", SpanID: "sp", TraceID: "tr",
	}}
	if diff := cmp.Diff(want, r.Items[0]); diff != "" {
		t.Error(diff)
	}
}

func TestNullIsLikeAnAbsentMember(t *testing.T) {
	nulls := `{"run_id":"r","type":"x","event_id":null,"sequence":null,"timestamp":null,"agent":null,"tokens":null,"cost":null,"latency_ms":null,` +
		`"input":null,"error":null,"metadata":null,"usage":null,"annotations":null,"project":null}`
	r, err := ReadRequest([]byte(nulls), false, limits)
	if err != nil || len(r.Items) != 1 {
		t.Fatalf("%v, error %v", r, err)
	}
	if diff := cmp.Diff(Item{Event: &unloop.Event{RunID: "r", Type: "x"}}, r.Items[0]); diff != "" {
		t.Error(diff)
	}
}

func TestNULAndInvalidUTF8AreReplacedInNames(t *testing.T) {
	r, err := ReadRequest([]byte(`{"run_id":"r\u0000","type":"x","tool":"`+"\xff"+`"}`), false, limits)
	if err != nil || len(r.Items) != 1 {
		t.Fatalf("%v, error %v", r, err)
	}
	if e := r.Items[0].Event; e.RunID != "r\ufffd" || e.Tool != "\ufffd" {
		t.Errorf("run %q, tool %q", e.RunID, e.Tool)
	}
}

func TestBadUTF8IsReplacedInContent(t *testing.T) {
	r, err := ReadRequest([]byte("{\"run_id\":\"r\",\"type\":\"x\",\"input\":[\"a\xffb\"],\"output\":\"ü\"}"), false, limits)
	if err != nil || len(r.Items) != 1 {
		t.Fatalf("%v, error %v", r, err)
	}
	if e := r.Items[0].Event; string(e.Input) != "[\"a\ufffdb\"]" || string(e.Output) != `"ü"` {
		t.Errorf("input %q, output %q", e.Input, e.Output)
	}
}

func TestDepthIsBounded(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2)) }
	if !Within(nested(128), 128) || Within(nested(130), 128) || Within([]byte("{} {}"), 2) {
		t.Error("128 levels are 128 levels")
	}
	if Within(nested(1<<24), 128) {
		t.Error("16 million levels are too many")
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{a, "[" + a + ",7," + b + "]", a + "\n{\n" + b, `{"type":"x","run_id":"\ud800","input":[1e-7,-0,"\u0000"]}`} {
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, lines bool) {
		own := append([]byte(nil), body...)
		r, err := ReadRequest(own, lines, limits)
		clear(own)
		if err != nil {
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("error %v is not a BadInput", err)
			}
			return
		}
		places := map[int]bool{}
		for _, i := range r.Items {
			e := i.Event
			places[e.Index] = true
			for _, raw := range []json.RawMessage{e.Input, e.Output, e.Error, e.Metadata} {
				if raw != nil && !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)) && !strings.Contains(string(raw), `\u`) {
					t.Fatalf("no JSON: %q", raw)
				}
			}
			if e.RunID == "" || e.Type == "" {
				t.Fatalf("an event without run or type: %+v", e)
			}
		}
		for _, b := range r.Bad {
			places[b.Index] = true
		}
		if len(places) != len(r.Items)+len(r.Bad) || len(places) > limits.Events || r.One && len(places) != 1 {
			t.Fatalf("%d places, %d items, %d refusals, one: %v", len(places), len(r.Items), len(r.Bad), r.One)
		}
	})
}

// FuzzScan holds the scanner to the decoder that the rest of the program reads JSON with.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+7,true,null,"\u00e9\n"],"b":{}}`, `[,]`, `{"a"}`, `01`, `"\x"`, "\"\t\"", `1.`, `-`, `[1 2]`, "\xff", "\"\xff\"", `"\ud800"`, "tru"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if got, want := Within(value, 10_000), jsontext.Value(value).IsValid(lenient); got != want {
			t.Errorf("%q: valid is %v, want %v", value, got, want)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	event := func(i int) string {
		return fmt.Sprintf(`{"event_id":"evt_%012x","run_id":"run_%012x","sequence":%d,"timestamp":"2026-01-02T03:04:05.678901+00:00","type":"tool_call_started",`+
			`"project":"default","agent":"writer","tool":"search","call_id":"call_%d","span_id":"s%d","input":{"query":"where is the grave of number %d","limit":10,"lang":"en",`+
			`"filters":{"kind":"article","since":1990},"fields":["title","abstract","year"]},"metadata":{"attempt":1}}`, i, i%7, i, i, i, i)
	}
	var all []string
	for i := range 500 {
		all = append(all, event(i))
	}
	for name, body := range map[string]string{"one": event(1), "array of 500": "[" + strings.Join(all, ",") + "]", "500 lines": strings.Join(all, "\n")} {
		b.Run(name, func(b *testing.B) {
			data := []byte(body)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				r, err := ReadRequest(data, false, Limits{Events: 10_000, Levels: 128, Name: 1024, Shorten: begin, ShortenID: begin})
				if err != nil || len(r.Bad) > 0 {
					b.Fatal(err, r.Bad)
				}
				events += len(r.Items)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
