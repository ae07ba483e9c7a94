package cline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, History(), "history_*.json")
	ingesttest.Golden(t, Page(), "ui_*.json")
}

func FuzzHistory(f *testing.F) { ingesttest.Fuzz(f, History(), "history_*.json") }

func FuzzPage(f *testing.F) { ingesttest.Fuzz(f, Page(), "ui_*.json") }

func TestDecode(t *testing.T) {
	const model = `0 llm_call_started`
	for _, tc := range []struct {
		name   string
		format ingest.Format
		input  string
		want   []string // each event in short
	}{
		{
			"several calls in one answer, and their results in order", History(),
			`[{"role":"assistant","content":"<read_file>\n<path>a</path>\n</read_file>\n<read_file>\n<path>b</path>\n</read_file>"},
			{"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"1"},{"type":"text","text":"[read_file for 'b'] Result:\n2"}]}]`,
			[]string{
				model, "0 llm_call_completed", `0 tool_call_started read_file {"path":"a"}`, `0 tool_call_started read_file {"path":"b"}`,
				`1 tool_call_completed read_file "1"`, `1 tool_call_completed read_file "2"`,
			},
		},
		{
			"tags that are no tools stay text", History(), `[{"role":"assistant","content":"Use <b>this</b> and <read_file> later."}]`,
			[]string{model, "0 llm_call_completed", "0 message assistant Use <b>this</b> and <read_file> later."},
		},
		{
			"the program's error is a failure", History(),
			`[{"role":"assistant","content":"<list_files><path>a</path></list_files>"},
			{"role":"user","content":[{"type":"text","text":"[list_files for 'a'] Result:"},{"type":"text","text":"The tool execution failed with the following error:\n<error>\nno a\n</error>"}]}]`,
			[]string{
				model, "0 llm_call_completed", `0 tool_call_started list_files {"path":"a"}`,
				`1 tool_call_failed list_files "The tool execution failed with the following error:\n<error>\nno a\n</error>"`,
			},
		},
		{
			"an exit code in a file is no failure of its reader", History(),
			`[{"role":"assistant","content":"<read_file><path>a</path></read_file>"},{"role":"user","content":"[read_file for 'a'] Result:\nExit code: 1"}]`,
			[]string{model, "0 llm_call_completed", `0 tool_call_started read_file {"path":"a"}`, `1 tool_call_completed read_file "Exit code: 1"`},
		},
		{
			"a text like a result without its call is the program's", History(), `[{"role":"user","content":"[read_file for 'a'] Result:\nx"}]`,
			[]string{"0 message system [read_file for 'a'] Result: x"},
		},
		{
			"a call that is asked for and then said counts once", Page(),
			`[{"ts":1,"type":"ask","ask":"command","text":"ls"},{"ts":2,"type":"say","say":"command","text":"ls"},{"ts":3,"type":"say","say":"command_output","text":"a"}]`,
			[]string{`0 tool_call_started execute_command {"command":"ls"}`, `2 tool_call_completed execute_command "a"`},
		},
		{
			"the same call after another answer counts again", Page(),
			`[{"ts":1,"type":"say","say":"command","text":"ls"},{"ts":2,"type":"say","say":"api_req_started","text":"{}"},{"ts":3,"type":"say","say":"command","text":"ls"}]`,
			[]string{
				`0 tool_call_started execute_command {"command":"ls"}`, "1 tool_call_completed execute_command",
				"1 llm_call_started", "1 llm_call_completed", `2 tool_call_started execute_command {"command":"ls"}`, "2 tool_call_completed execute_command",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, tc.format, tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTheRunIsTheTaskOfTheFolder(t *testing.T) {
	for name, want := range map[string]string{
		"tasks/1788242400000/api_conversation_history.json": "1788242400000",
		"tasks/1788242400000/ui_messages.json":              "1788242400000/ui",
		"api_conversation_history.json":                     "run",
		"tasks/1788242400000/copy.json":                     "run",
	} {
		in := ingest.NewInput(name, "run", strings.NewReader(`[{"role":"user","content":"hi"}]`))
		got := ""
		if err := decodeHistory(in, func(e *unloop.Event) error { got = e.RunID; return nil }); err != nil || got != want {
			t.Errorf("%s: the run is %q (%v), want %q", name, got, err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, History(), "[{\"role\":\"user\",\n\"content\":7}]", "content", "neither a string")
	ingesttest.Refused(t, Page(), `[{"ts":1,"type":"say","say":7}]`, "say", "a JSON number")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head          string
		history, page bool
	}{
		"a task with its environment": {`[{"role":"user","content":[{"type":"text","text":"<task>\na\n</task>"},{"type":"text","text":"<environment_details>\nb"}]}`, true, false},
		"a task whose environment is cut": {
			`[{"ts":1,"role":"user","content":[{"type":"text","text":"<task>\na\n</task>"},{"type":"text","text":"<environment_deta`, true, false,
		},
		"a chat with a task in tags":   {`[{"role":"user","content":[{"type":"text","text":"<task>a</task>"}]}]`, false, false},
		"messages of the page":         {`[{"ts":1,"type":"say","say":"text","text":"a`, false, true},
		"a list of messages of a chat": {`[{"ts":1,"type":"message","text":"a"}]`, false, false},
		"nothing":                      {``, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := History().Sniff([]byte(tc.head)); got != tc.history {
				t.Errorf("history: got %v, want %v", got, tc.history)
			}
			if got := Page().Sniff([]byte(tc.head)); got != tc.page {
				t.Errorf("page: got %v, want %v", got, tc.page)
			}
		})
	}
}
