package otlp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/unloop-ai/unloop"
)

// logged is a log record in short. Its time is in milliseconds after an epoch; 0 is unknown.
type logged struct {
	scope, name  string
	at, observed int64
	attributes   kv
}

func logs(t *testing.T, records ...logged) plog.Logs {
	t.Helper()
	ld := plog.NewLogs()
	resource := ld.ResourceLogs().AppendEmpty()
	for _, l := range records {
		scope := resource.ScopeLogs().AppendEmpty()
		scope.Scope().SetName(l.scope)
		r := scope.LogRecords().AppendEmpty()
		r.SetEventName(l.name)
		if err := r.Attributes().FromRaw(l.attributes); err != nil {
			t.Fatal(err)
		}
		if l.at != 0 {
			r.SetTimestamp(pcommon.NewTimestampFromTime(time.UnixMilli(l.at)))
		}
		if l.observed != 0 {
			r.SetObservedTimestamp(pcommon.NewTimestampFromTime(time.UnixMilli(l.observed)))
		}
	}
	return ld
}

const claudeScope = "com.anthropic.claude_code.events"

// recorded returns the events of the records, in short and without the ids of records.
func recorded(t *testing.T, records ...logged) []string {
	t.Helper()
	events, _, _, _ := Logs(logs(t, records...))
	var told []string
	for _, e := range events {
		latency := ""
		if e.Latency != nil {
			latency = fmt.Sprint(*e.Latency, " ms")
		}
		id := e.ID
		if strings.HasPrefix(id, "log:") {
			id = ""
		}
		line := fmt.Sprintln(e.RunID, id, e.Type, e.Time.UnixMilli(), latency, e.Role, e.Text, e.Tool, e.Model, e.Tokens, e.Cost, string(e.Input),
			string(e.Output), string(e.Error), string(e.Metadata))
		told = append(told, strings.Join(strings.Fields(line), " "))
	}
	return told
}

func TestRecords(t *testing.T) {
	tests := []struct {
		name   string
		record logged
		want   []string
	}{
		{
			"a call that went well, of which only sizes are told",
			logged{scope: claudeScope, at: 1000, attributes: kv{
				"session.id": "s", "event.name": "tool_result", "tool_name": "Read", "tool_use_id": "c", "success": "true",
				"duration_ms": "250", "tool_input_size_bytes": "5", "tool_result_size_bytes": 7,
			}},
			[]string{
				`s call:c.start tool_call_started 750 Read 0 0 {"size_bytes":5} {"input":"size only"}`,
				`s call:c.end tool_call_completed 1000 250 ms Read 0 0 {"size_bytes":7} {"output":"size only"}`,
			},
		},
		{
			"the size of a result says nothing where nothing is known of what went in",
			logged{scope: claudeScope, at: 1000, attributes: kv{
				"session.id": "s", "event.name": "tool_result", "tool_name": "Read", "tool_use_id": "c", "tool_result_size_bytes": 7,
			}},
			[]string{"s call:c.start tool_call_started 1000 Read 0 0", "s call:c.end tool_call_completed 1000 Read 0 0"},
		},
		{
			"a call that failed, whose scope and event name are told elsewhere",
			logged{name: "codex.tool_result", observed: 1000, attributes: kv{
				"conversation.id": "s", "tool_name": "shell", "call_id": "c", "success": "false", "output": "no such file",
			}},
			[]string{"s call:c.start tool_call_started 1000 shell 0 0", `s call:c.end tool_call_failed 1000 shell 0 0 "no such file"`},
		},
		{
			"a failure that is a boolean",
			logged{at: 1000, attributes: kv{"session.id": "s", "event.name": "gemini_cli.tool_call", "function_name": "ls", "success": false}},
			[]string{"s tool_call_started 1000 ls 0 0", "s tool_call_failed 1000 ls 0 0"},
		},
		{
			"a duration that cannot be",
			logged{at: 1000, attributes: kv{"session.id": "s", "event.name": "gemini_cli.tool_call", "function_name": "ls", "duration_ms": 1e18}},
			[]string{"s tool_call_started 1000 ls 0 0", "s tool_call_completed 1000 ls 0 0"},
		},
		{
			"a prompt that is left out is a message all the same",
			logged{scope: claudeScope, at: 1000, attributes: kv{"session.id": "s", "event.name": "user_prompt", "prompt": "<REDACTED>"}},
			[]string{"s message 1000 user 0 0"},
		},
		{
			"a time that only an attribute tells",
			logged{scope: claudeScope, attributes: kv{
				"session.id": "s", "event.name": "user_prompt", "prompt": "go on", "event.timestamp": "1970-01-01T00:00:02Z",
			}},
			[]string{"s message 2000 user go on 0 0"},
		},
		{
			"a response of Codex that is not complete",
			logged{attributes: kv{"conversation.id": "s", "event.name": "codex.sse_event", "event.kind": "response.created"}},
			nil,
		},
		{
			"a response of Codex that breaks off",
			logged{at: 1000, attributes: kv{"conversation.id": "s", "event.name": "codex.sse_event", "error.message": "idle", "model": "m"}},
			[]string{`s llm_call_started 1000 m 0 0`, `s llm_call_failed 1000 m 0 0 "idle"`},
		},
		{"another program's record", logged{name: "tool_result", attributes: kv{"session.id": "s", "tool_name": "ls"}}, nil},
		{"a record without anything", logged{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, recorded(t, tt.record), tt.want...) })
	}
}

func TestRecordsWithoutASession(t *testing.T) {
	prompt := kv{"event.name": "codex.user_prompt"}
	other := kv{"event.name": "http.request"}
	events, _, rejected, reason := Logs(logs(t, logged{attributes: prompt}, logged{attributes: other}, logged{attributes: prompt}))
	if len(events) != 0 || rejected != 2 || reason != "2 records name no session" {
		t.Errorf("got %d events, %d rejected, %q", len(events), rejected, reason)
	}
}

func TestRepeatedRecords(t *testing.T) {
	ids := func(records ...logged) (ids []string) {
		events, _, _, _ := Logs(logs(t, records...))
		for _, e := range events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	prompt := func(sequence int, observed int64) logged {
		return logged{scope: claudeScope, observed: observed, attributes: kv{"session.id": "s", "event.name": "user_prompt", "event.sequence": sequence}}
	}
	if diff := cmp.Diff(ids(prompt(1, 5)), ids(prompt(1, 9))); diff != "" {
		t.Errorf("the same record has another id at its second observation:\n%s", diff)
	}
	if cmp.Equal(ids(prompt(1, 5)), ids(prompt(2, 5))) {
		t.Error("two records have one id")
	}
}

func TestJoin(t *testing.T) {
	span := &unloop.Event{ID: "call:c.end", Type: unloop.ToolCallCompleted, SpanID: "1"}
	record := &unloop.Event{ID: "call:c.end", Type: unloop.ToolCallFailed, Error: []byte(`"E"`), Output: []byte(`{"size_bytes":7}`), Cost: 0.5}
	Join(span, record)
	want := &unloop.Event{ID: "call:c.end", Type: unloop.ToolCallFailed, SpanID: "1", Error: []byte(`"E"`), Output: []byte(`{"size_bytes":7}`), Cost: 0.5}
	if diff := cmp.Diff(want, span); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	told := &unloop.Event{Type: unloop.ToolCallCompleted, Output: []byte(`"ok"`), Cost: 1, Tokens: 3}
	Join(told, &unloop.Event{Output: []byte(`{"size_bytes":7}`), Metadata: []byte(`{}`), Cost: 2, Tokens: 4})
	if diff := cmp.Diff(&unloop.Event{Type: unloop.ToolCallCompleted, Output: []byte(`"ok"`), Cost: 1, Tokens: 3}, told); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
