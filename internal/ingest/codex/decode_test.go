package codex

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, Format(), "*.jsonl")
}

func FuzzDecode(f *testing.F) {
	ingesttest.Fuzz(f, Format(), "*.jsonl")
}

// brief tells an event in a line, with what these tests are about.
func brief(e *unloop.Event) string {
	s := fmt.Sprintf("%d %s", e.Index, strings.TrimPrefix(string(e.Type), "tool_call_"))
	for _, part := range []string{e.Tool, e.CallID, e.Role, e.Text, string(e.Input), string(e.Output), string(e.Error)} {
		if part != "" {
			s += " " + part
		}
	}
	if e.Tokens != 0 {
		s += fmt.Sprintf(" %d tokens", e.Tokens)
	}
	return s
}

// item and event put a payload's members into a line.
func item(kind, members string) string  { return envelope("response_item", kind, members) }
func event(kind, members string) string { return envelope("event_msg", kind, members) }

func envelope(log, kind, members string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":%q,"payload":{"type":%q,%s}}`, log, kind, members)
}

func asked(id string) string {
	return item("function_call", `"name":"f","arguments":"","call_id":"`+id+`"`)
}

func given(id, output string) string {
	return item("function_call_output", `"call_id":"`+id+`","output":`+output)
}

func play(t *testing.T, lines ...string) []string {
	t.Helper()
	events, _, err := ingesttest.Decode(Format(), []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, brief(e))
	}
	return got
}

type scene struct {
	name  string
	lines []string
	want  []string
}

func run(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			if diff := cmp.Diff(s.want, play(t, s.lines...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	exec := func(id string, code int) string {
		return event("exec_command_end", fmt.Sprintf(`"call_id":%q,"aggregated_output":"shown","exit_code":%d`, id, code))
	}
	say := item("message", `"role":"assistant","content":"so"`)
	run(t, []scene{
		{
			"an event before the item tells the exit code",
			[]string{asked("1"), exec("1", 3), given("1", `"out"`)},
			[]string{"0 started f 1", `2 failed f 1 "out" "exit code 3"`},
		},
		{
			"an event after the item tells it too",
			[]string{asked("1"), given("1", `"out"`), exec("1", 3), say},
			[]string{"0 started f 1", `1 failed f 1 "out" "exit code 3"`, "3 message assistant so"},
		},
		{"results of calls that ran side by side keep their order", []string{
			asked("1"), asked("2"), exec("2", 0), exec("1", 3), given("1", `"a"`), given("2", `"b"`), say,
		}, []string{
			"0 started f 1", "1 started f 2", `5 completed f 2 "b"`, `4 failed f 1 "a" "exit code 3"`, "6 message assistant so",
		}},
		{
			"an event after the outcome was told says nothing",
			[]string{asked("1"), given("1", `"out"`), say, exec("1", 3)},
			[]string{"0 started f 1", `1 completed f 1 "out"`, "2 message assistant so"},
		},
		{
			"a result that comes again counts once",
			[]string{asked("1"), given("1", `"a"`), say, given("1", `"a"`)},
			[]string{"0 started f 1", `1 completed f 1 "a"`, "2 message assistant so"},
		},
		{"an event alone is the outcome at the turn's end", []string{
			asked("1"), exec("1", 1), say, event("task_complete", `"turn_id":"t"`), item("message", `"role":"assistant","content":"x"`),
		}, []string{
			"0 started f 1", "2 message assistant so", `1 failed f 1 "shown" "exit code 1"`, "4 message assistant x",
		}},
		{"or when the user speaks, or the input ends", []string{
			asked("1"), exec("1", 0), item("message", `"role":"user","content":"x"`), asked("2"), exec("2", 0),
		}, []string{
			"0 started f 1", `1 completed f 1 "shown"`, "2 message user x", "3 started f 2", `4 completed f 2 "shown"`,
		}},
		{"an event of a call that the items do not know is the display's own", []string{exec("1", 1)}, nil},
		{"an event that tells neither output nor status is no outcome", []string{
			item("web_search_call", `"id":"ws","action":{"query":"q"}`), event("item_completed", `"item":{"type":"WebSearch","id":"ws","query":"q"}`),
		}, []string{`0 started web_search ws {"query":"q"}`}},
		{"a call without a result has no outcome", []string{asked("1")}, []string{"0 started f 1"}},
		{"a result without a call is an event", []string{given("1", `"a"`), given("1", `"a"`)}, []string{`0 completed 1 "a"`}},
		{"results without a call id are told, all of them", []string{
			item("function_call_output", `"output":"a"`), item("function_call_output", `"output":"a"`),
		}, []string{`0 completed "a"`, `1 completed "a"`}},
		{
			"a call id that comes again is another call",
			[]string{asked("1"), given("1", `"a"`), asked("1"), given("1", `"b"`)},
			[]string{"0 started f 1", `1 completed f 1 "a"`, "2 started f 1", `3 completed f 1 "b"`},
		},
		{
			"a later output of one call stands",
			[]string{asked("1"), given("1", `"note"`), given("1", `"out"`)},
			[]string{"0 started f 1", `1 completed f 1 "out"`},
		},
	})
}

func TestPatience(t *testing.T) {
	var lines, want []string
	for i := range patience + 1 {
		id := strconv.Itoa(i)
		lines = append(lines, asked(id), event("patch_apply_end", `"success":true,"call_id":"`+id+`"`))
	}
	lines = append(lines, item("message", `"role":"assistant","content":"so"`))
	for i := range patience + 1 {
		want = append(want, fmt.Sprintf("%d completed f %d", 2*i+1, i))
	}
	want = append(want, fmt.Sprintf("%d message assistant so", len(lines)-1))
	got := play(t, lines...)
	if diff := cmp.Diff(want, got[len(got)-len(want):]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAHeldOutcomeSurvivesItsLine(t *testing.T) {
	filler := `{"type":"world_state","payload":"` + strings.Repeat("x", 100_000) + `"}`
	want := []string{"0 started f 1", `1 completed f 1 [{"image_url":"held"}]`}
	if diff := cmp.Diff(want, play(t, asked("1"), given("1", `[{"image_url":"held"}]`), filler, filler)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name, kind, members, want string
	}{
		{"a patch", "patch_apply_end", `"call_id":"1","success":false,"stdout":"","stderr":"no"`, `failed f 1 "no"`},
		{"a command that printed nothing", "exec_command_end", `"call_id":"1","exit_code":0,"aggregated_output":""`, `completed f 1 ""`},
		{"a command with a status alone", "exec_command_end", `"call_id":"1","status":"declined"`, `failed f 1`},
		{"a tool that failed", "mcp_tool_call_end", `"call_id":"1","result":{"Err":"gone"}`, `failed f 1 "gone" "gone"`},
		{"a tool with an error", "mcp_tool_call_end", `"call_id":"1","result":{"Ok":{"isError":true,"content":[{"type":"text","text":"x"}]}}`, `failed f 1 "x"`},
		{"an earlier tool with an error", "mcp_tool_call_end", `"call_id":"1","result":{"Ok":{"is_error":true,"content":[]}}`, `failed f 1 []`},
		{"a tool that went well", "mcp_tool_call_end", `"call_id":"1","result":{"Ok":{"content":[]}}`, `completed f 1 []`},
		{"a completed item", "item_completed", `"item":{"type":"CommandExecution","id":"1","exit_code":4,"aggregated_output":"x"}`, `failed f 1 "x" "exit code 4"`},
		{"a completed item with a status", "item_completed", `"item":{"type":"McpToolCall","id":"1","status":"completed"}`, `completed f 1`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := []string{"0 started f 1", "1 " + test.want}
			if diff := cmp.Diff(want, play(t, asked("1"), event(test.kind, test.members))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestOutput(t *testing.T) {
	tests := []struct {
		name, output, want string
	}{
		{"plain text", `"a\nb"`, `completed f 1 "a\nb"`},
		{
			"lines about the command", `"Exit code: 1\nWall time: 0.2 seconds\nTotal output lines: 900\nOutput:\na\nOutput:\nb"`,
			`failed f 1 "a\nOutput:\nb" "exit code 1"`,
		},
		{"a command that printed nothing", `"Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"`, `completed f 1 ""`},
		{"a command that still runs", `"Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nhalf"`, `completed f 1 "half"`},
		{"a text that only begins like it", `"Wall time: long\nmine"`, `completed f 1 "Wall time: long\nmine"`},
		{"a text that ends before its output", `"Exit code: 1"`, `completed f 1 "Exit code: 1"`},
		{"an invalid exit code", `"Exit code: x\nOutput:\na"`, `completed f 1 "Exit code: x\nOutput:\na"`},
		{"a text that begins with the word", `"Output:\na"`, `completed f 1 "Output:\na"`},
		{"JSON beside the exit code", `"{\"output\":\"a\",\"metadata\":{\"exit_code\":2}}"`, `failed f 1 "a" "exit code 2"`},
		{"JSON of another shape", `"{\"output\":\"a\"}"`, `completed f 1 "{\"output\":\"a\"}"`},
		{"a text that looks like JSON", `"{ no"`, `completed f 1 "{ no"`},
		{"a content and its success", `{"content":"a","success":false}`, `failed f 1 "a"`},
		{"an object of another shape", `{"rows":[]}`, `completed f 1 {"rows":[]}`},
		{"a list of texts", `[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]`, `completed f 1 "a\nb"`},
		{
			"a script", `[{"type":"input_text","text":"Script failed\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"a"}]`,
			`failed f 1 "a" "script failed"`,
		},
		{
			"a list with an image", `[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"}]`,
			`completed f 1 [{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"}]`,
		},
		{"a call that was aborted", `"aborted by user after 2.0s"`, `failed f 1 "aborted by user after 2.0s" "aborted"`},
		{"null", `null`, `completed f 1 null`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := []string{"0 started f 1", "1 " + test.want}
			if diff := cmp.Diff(want, play(t, asked("1"), given("1", test.output))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	run(t, []scene{
		{
			"arguments are the JSON in the string",
			[]string{item("function_call", `"name":"f","arguments":"{\"a\": 1}","call_id":"1"`)},
			[]string{`0 started f 1 {"a": 1}`},
		},
		{
			"free text is no JSON",
			[]string{item("custom_tool_call", `"name":"exec","input":"1","call_id":"1"`)},
			[]string{`0 started exec 1 "1"`},
		},
		{"a server's tool is named with it", []string{
			item("function_call", `"name":"get","namespace":"mcp__hub","arguments":"","call_id":"1"`),
			item("function_call", `"name":"get","namespace":"mcp__hub__","arguments":"","call_id":"2"`),
		}, []string{"0 started mcp__hub__get 1", "1 started mcp__hub__get 2"}},
		{"a call without a name is what its type says", []string{
			item("local_shell_call", `"call_id":"1","action":{"command":["ls"]}`), item("local_shell_call_output", `"call_id":"1","output":"a"`),
			item("tool_search_call", `"call_id":"2","arguments":{"query":"q"}`), item("tool_search_output", `"call_id":"2","tools":[]`),
		}, []string{
			`0 started local_shell 1 {"command":["ls"]}`, `1 completed local_shell 1 "a"`,
			`2 started tool_search 2 {"query":"q"}`, `3 completed tool_search 2 []`,
		}},
	})
}

func TestMessages(t *testing.T) {
	user := func(texts ...string) string {
		return item("message", `"role":"user","content":[{"type":"input_text","text":"`+strings.Join(texts, `"},{"type":"input_text","text":"`)+`"}]`)
	}
	run(t, []scene{
		{"an entry of both logs counts once", []string{
			user("go"), event("user_message", `"message":"go"`),
			item("message", `"role":"assistant","content":[{"type":"output_text","text":"ok"}]`), event("agent_message", `"message":"ok"`),
		}, []string{"0 message user go", "2 message assistant ok"}},
		{"inserted messages are not the user's", []string{
			user("<environment_context>\\n<cwd>/</cwd>\\n</environment_context>"),
			user("# AGENTS.md instructions for /\\n\\n<INSTRUCTIONS>x</INSTRUCTIONS>", "<user_instructions>x</user_instructions>"),
			user("<turn_aborted>\\nx\\n</turn_aborted>"),
		}, nil},
		{
			"what stands beside it is",
			[]string{user("<environment_context></environment_context>", "go", "on")},
			[]string{"0 message user go\non"},
		},
		{
			"a tag of the user's own is the user's word",
			[]string{user("<task>go</task>"), user("<skill> what is it?")},
			[]string{"0 message user <task>go</task>", "1 message user <skill> what is it?"},
		},
		{"the program's instructions and thoughts are no messages", []string{
			item("message", `"role":"developer","content":"x"`), item("reasoning", `"summary":[{"type":"summary_text","text":"x"}]`),
			item("agent_message", `"content":[{"type":"input_text","text":"x"}]`),
		}, nil},
		{"a history that replaces another is not told", []string{
			user("go"), `{"type":"compacted","payload":{"message":"m","replacement_history":[{"type":"message","role":"user","content":"go"}]}}`,
		}, []string{"0 message user go"}},
	})
}

func TestTokens(t *testing.T) {
	count := func(total int) string {
		return event("token_count", fmt.Sprintf(`"info":{"total_token_usage":{"total_tokens":%d},"last_token_usage":{"total_tokens":9}}`, total))
	}
	run(t, []scene{
		{"the growth of the total counts", []string{count(100), count(150)}, []string{
			"0 llm_call_started", "0 llm_call_completed 100 tokens", "1 llm_call_started", "1 llm_call_completed 50 tokens",
		}},
		{
			"the same total again is no call",
			[]string{count(100), event("token_count", `"info":null,"rate_limits":{}`), count(100)},
			[]string{"0 llm_call_started", "0 llm_call_completed 100 tokens"},
		},
		{"a total that is less began anew", []string{count(100), count(30), count(40)}, []string{
			"0 llm_call_started", "0 llm_call_completed 100 tokens", "1 llm_call_started", "1 llm_call_completed 30 tokens",
			"2 llm_call_started", "2 llm_call_completed 10 tokens",
		}},
		{"without a total the last usage counts, once", []string{
			event("token_count", `"info":{"last_token_usage":{"input_tokens":5,"output_tokens":2}}`),
			event("token_count", `"info":{"last_token_usage":{"input_tokens":5,"output_tokens":2}}`),
		}, []string{"0 llm_call_started", "0 llm_call_completed 7 tokens"}},
	})
	t.Run("the model is the turn's", func(t *testing.T) {
		events, _, err := ingesttest.Decode(Format(), []byte(
			`{"type":"turn_context","payload":{"model":"g"}}`+"\n"+`{"type":"turn_context","payload":{}}`+"\n"+count(5)))
		if err != nil || len(events) != 2 || events[1].Model != "g" {
			t.Errorf("%v, %v, want a call of model g", events, err)
		}
	})
}

func TestRun(t *testing.T) {
	const said = `{"type":"message","role":"user","content":"x"}`
	for name, test := range map[string]struct{ data, want string }{
		"the first session's id":        {`{"type":"session_meta","payload":{"id":"a"}}` + "\n" + `{"type":"session_meta","payload":{"id":"b"}}` + "\n" + said, "a"},
		"the id of a bare first line":   {`{"id":"a","timestamp":"t","instructions":null}` + "\n" + `{"record_type":"state"}` + "\n" + said, "a"},
		"the input's, where none tells": {said, "run"},
	} {
		t.Run(name, func(t *testing.T) {
			events, _, err := ingesttest.Decode(Format(), []byte(test.data))
			if err != nil || len(events) != 1 || events[0].RunID != test.want {
				t.Errorf("%v, %v, want one event of run %s", events, err, test.want)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct {
		name, data, want string
	}{
		{"a line that is no object", "{}\n7\n", "input:2: a JSON number does not fit here, want an object"},
		{"an item without a payload", `{"type":"response_item"}` + "\n", "input:1: payload: missing"},
		{"a payload that is no object", `{"type":"event_msg","payload":[]}` + "\n", "input:1: payload: a JSON array does not fit here, want an object"},
		{"a session's id", `{"type":"session_meta","payload":{"id":7}}` + "\n", "input:1: payload.id: a JSON number does not fit here, want a string"},
		{"a call's name", `{"type":"response_item","payload":{"type":"function_call","name":{}}}` + "\n", "input:1: payload.name: a JSON object does not fit here, want a string"},
		{"a bare call's name", `{"type":"function_call","name":7}` + "\n", "input:1: name: a JSON number does not fit here, want a string"},
		{"an exit code", event("exec_command_end", `"call_id":"1","exit_code":"1"`) + "\n", "input:1: payload.exit_code: a JSON string does not fit here, want a whole number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Format(), []byte(test.data))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if bad.Error() != test.want {
				t.Errorf("got %q, want %q", bad, test.want)
			}
		})
	}
	t.Run("a cut last line is a warning, and held events are sent", func(t *testing.T) {
		events, warnings, err := ingesttest.Decode(Format(), []byte(asked("1")+"\n"+given("1", `"a"`)+"\n"+`{"type":"resp`))
		if err != nil || len(events) != 2 || len(warnings) != 1 {
			t.Errorf("%d events, warnings %v, error %v", len(events), warnings, err)
		}
	})
}

func TestSniff(t *testing.T) {
	tests := []struct {
		name, head string
		want       bool
	}{
		{"a rollout that is cut", `{"timestamp":"t","type":"session_meta","payload":{"id":"a","base_instructions":{"text":"You`, true},
		{"a rollout without its beginning", item("message", `"role":"user"`), true},
		{"a bare rollout", `{"id":"a","timestamp":"t","instructions":null}`, true},
		{"an item without an envelope", `{"type":"message","role":"user","content":[]}`, false},
		{"a Claude Code session", `{"type":"user","uuid":"u","sessionId":"s","timestamp":"t","message":{}}`, false},
		{"a Gemini chat", `{"sessionId":"s","projectHash":"h"}`, false},
		{"native events", `{"event_id":"e","run_id":"r","type":"tool_call_started","timestamp":"t"}`, false},
		{"a labelled run", `{"id":"a","source":"s","outcome":"ok","labels":[],"events":[]}`, false},
		{"a list", `[{"type":"event_msg","payload":{}}]`, false},
		{"nothing", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := sniff([]byte(test.head)); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
