package labelled

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.jsonl") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.jsonl") }

// line returns a run of these entries.
func line(entries ...string) []byte {
	return []byte(`{"id":"r","source":"s","outcome":"failure","labels":{"loop":true},"events":[` +
		strings.Join(entries, ",") + "]}\n")
}

func TestEntries(t *testing.T) {
	started := unloop.ToolCallStarted
	for name, tc := range map[string]struct {
		entry string
		want  []unloop.EventType
	}{
		"a call has its outcome with it":          {`{"kind":"tool_call","tool":"a","result":"x"}`, []unloop.EventType{started, unloop.ToolCallCompleted}},
		"a call with an error has failed":         {`{"kind":"tool_call","tool":"a","result":"x","error":"y"}`, []unloop.EventType{started, unloop.ToolCallFailed}},
		"an error needs no result":                {`{"kind":"tool_call","tool":"a","error":"y"}`, []unloop.EventType{started, unloop.ToolCallFailed}},
		"a result that is null is one":            {`{"kind":"tool_call","tool":"a","result":null}`, []unloop.EventType{started, unloop.ToolCallCompleted}},
		"a call without a result has no outcome":  {`{"kind":"tool_call","tool":"a","error":null}`, []unloop.EventType{started}},
		"a blank message says nothing":            {`{"kind":"message","role":"user","text":" \n"}`, nil},
		"an event is as it was recorded":          {`{"kind":"event","event":{"event_id":"x","type":"llm_call_started","model":"m"}}`, []unloop.EventType{unloop.LLMCallStarted}},
		"an entry without its event says nothing": {`{"kind":"event"}`, nil},
		"an unknown kind says nothing":            {`{"kind":"state","text":"x"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), line(tc.entry))
			if err != nil {
				t.Fatal(err)
			}
			var got []unloop.EventType
			for _, e := range events {
				got = append(got, e.Type)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEventsDoNotContainLabels(t *testing.T) {
	say := `{"kind":"message","role":"user","text":"hello"}`
	labelled, _, err := ingesttest.Decode(Format(), line(say))
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := ingesttest.Decode(Format(), []byte(`{"id":"r","events":[`+say+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, labelled); diff != "" {
		t.Errorf("labels or outcome changed the events (-without +with):\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	const good = `{"id":"first","events":[]}` + "\n"
	for name, tc := range map[string]struct{ line, want string }{
		"a tool that is no string":  {`{"id":"r","events":[{"kind":"x"},{"kind":"tool_call","tool":7}]}`, "input:2: events.1.tool: a JSON number does not fit here, want a string"},
		"events that are no list":   {`{"id":"r","events":{}}`, "input:2: events: a JSON object does not fit here, want an array"},
		"a run without an id":       {`{"events":[]}`, "input:2: id: a run needs an id"},
		"an error that is no text":  {`{"id":"r","events":[{"kind":"tool_call","error":{"code":1}}]}`, "input:2: events.0.error: a JSON object does not fit here, want a string"},
		"a line that is no JSON":    {`{"id":"r","events":[}`, "input:2: events.0: not valid JSON at byte 20: invalid character '}' at start of value"},
		"a line that is no object":  {`[]`, "input:2: a JSON array does not fit here, want an object"},
		"an event list that is cut": {`{"id":"r","events":[{"kind":"tool_call"`, "input:2: events.0: not valid JSON at byte 39: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Format(), []byte(good+tc.line+"\n"))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if diff := cmp.Diff(tc.want, bad.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"a run, cut within its events":   {`{"id":"r","source":"s","outcome":"x","labels":{},"events":[{"kind":"mess`, true},
		"a run, cut before its events":   {`{"id":"r","source":"s","outcome":"x","lab`, false},
		"a list of runs":                 {`[{"id":"r","source":"s","labels":{},"events":[]}]`, false},
		"an event of unloop's own":       {`{"event_id":"e1","run_id":"r","type":"tool_call_started"}`, false},
		"an object with an id and event": {`{"id":"r","events":[]}`, false},
		"nothing":                        {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
