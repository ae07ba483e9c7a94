package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documented are the answers that the agents' documentation allows, by event.
func documented(t *testing.T, agent string) map[string]*jsonschema.Schema {
	t.Helper()
	path := filepath.Join("testdata", "protocol", agent+".schema.json")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("agent.json", content); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*jsonschema.Schema)
	for event := range content.(map[string]any)["$defs"].(map[string]any) {
		schema, err := compiler.Compile("agent.json#/$defs/" + event)
		if err != nil {
			t.Fatal(err)
		}
		all[event] = schema
	}
	return all
}

// inputs returns what an agent writes to its hooks in one round, one event a line.
func inputs(t *testing.T, agent string) []string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "protocol", agent+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(file)), "\n")
}

// replay lets an agent loop for a number of rounds and returns the words for what was answered. A denied call does not run, and a turn
// that is ended ends the rounds.
func replay(t *testing.T, d *desk, fixture string, rounds int) (said []string) {
	t.Helper()
	schemas := documented(t, d.agent)
	lines := inputs(t, fixture)
	denied := false
	for n := range rounds {
		for _, line := range lines {
			line = strings.NewReplacer(`"ID"`, fmt.Sprintf(`"t%d"`, n), "NUMBER", strconv.Itoa(4000+7*n)).Replace(line)
			e, err := Read([]byte(line), d.agent)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if n > 0 && e.Kind == Prompt || e.Kind == Stop && n < rounds-1 || e.Kind == SessionEnds || e.Kind == After && denied {
				continue
			}
			answer := d.run(line)
			if answer == "" {
				denied = denied && e.Kind != Before
				continue
			}
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
			if err != nil {
				t.Fatalf("%s: %v: %s", e.Name, err, answer)
			}
			if err := schemas[e.Name].Validate(value); err != nil {
				t.Fatalf("%s: %s: %v", e.Name, answer, err)
			}
			word := wordFor(e.Kind, answer)
			denied = word == "deny"
			said = append(said, word)
			if word == "end" {
				return said
			}
		}
	}
	return said
}

func wordFor(at Kind, answer string) string {
	if strings.Contains(answer, `"cancel":true`) && at == Before {
		return "deny" // Cline has one answer for both
	}
	for _, w := range []struct{ sign, word string }{
		{`"continue":false`, "end"},
		{`"halt":true`, "end"},
		{`"deny"`, "deny"},
		{`"block"`, "back"},
		{`"followup_message"`, "back"},
		{`"cancel":true`, "end"},
		{`"status":2`, "deny"},
	} {
		if strings.Contains(answer, w.sign) {
			return w.word
		}
	}
	return "nudge"
}

func TestEveryAnswerIsOneThatItsAgentDocuments(t *testing.T) {
	for _, tc := range []struct{ fixture, guard, nudge string }{
		{Claude, "nudge nudge nudge deny deny deny end", "nudge nudge nudge nudge nudge nudge"},
		{Codex, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Gemini, "nudge nudge nudge deny deny end", "nudge nudge nudge nudge nudge nudge"},
		{Cursor, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Copilot, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{OpenCode, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Qwen, "nudge nudge nudge deny deny deny end", "nudge nudge nudge nudge nudge nudge"},
		{Droid, "nudge nudge nudge deny deny end", "nudge nudge nudge nudge nudge nudge"},
		{Cline, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{"cline-cli", "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Kiro, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Amp, "nudge nudge nudge deny", "nudge nudge nudge nudge nudge nudge"},
		{Windsurf, "deny deny deny", ""},
		{Crush, "nudge", "nudge"},
	} {
		t.Run(tc.fixture, func(t *testing.T) {
			agent := strings.TrimSuffix(tc.fixture, "-cli")
			if tc.fixture == Gemini || tc.fixture == Copilot {
				agent = tc.fixture
			}
			guard := newDesk(t, agent, Guard)
			if got := strings.Join(replay(t, guard, tc.fixture, 24), " "); !strings.HasPrefix(got, tc.guard) || strings.Contains(got, "end") != strings.Contains(tc.guard, "end") {
				t.Errorf("guard says %q, want %q", got, tc.guard)
			}
			guard.noFaults()
			nudge := newDesk(t, agent, Nudge)
			got := replay(t, nudge, tc.fixture, 24)
			if !strings.HasPrefix(strings.Join(got, " "), tc.nudge) || slices.ContainsFunc(got, func(w string) bool { return w != "nudge" }) {
				t.Errorf("nudge says %q, want %q", got, tc.nudge)
			}
			nudge.noFaults()
		})
	}
}

func TestTheShapeOfAnInputTellsItsAgent(t *testing.T) {
	for _, agent := range []string{Claude, Codex, Gemini, Cursor, Copilot, Crush, Cline, Windsurf, Kiro, Amp, OpenCode} {
		for _, line := range inputs(t, agent) {
			if e, err := Read([]byte(line), ""); err != nil || e.Agent != agent {
				t.Errorf("%s is taken for %s (%v): %s", agent, e.Agent, err, line)
			}
		}
	}
	t.Run("also where another agent's settings name the hook", func(t *testing.T) {
		e, err := Read([]byte(`{"conversation_id":"c","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{}}`), Claude)
		if err != nil || e.Agent != Cursor {
			t.Errorf("%+v, %v", e, err)
		}
		e, err = Read([]byte(`{"session_id":"c","timestamp":"x","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"bash","tool_input":{}}`), Claude)
		if err != nil || e.Agent != Copilot {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

func TestAnInputIsReadInTheTermsOfAllAgents(t *testing.T) {
	for _, tc := range []struct {
		name, agent, input string
		want               Event
	}{
		{
			"a failure of Claude Code", Claude, `{"session_id":"s","agent_id":"a7","transcript_path":"/t","cwd":"/w","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t1","error":"Exit code 2\nno rule","is_interrupt":false}`,
			Event{Agent: Claude, Name: "PostToolUseFailure", Kind: After, Session: "s", SubAgent: "a7", Dir: "/w", Transcript: "/t", Calls: []Call{
				{ID: "t1", Tool: "Bash", Args: json.RawMessage(`{"command":"make"}`), Failed: true, Error: "Exit code 2\nno rule"},
			}},
		},
		{
			"a result of Gemini CLI without the number of its process group", Gemini, `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"x","tool_input":{},"tool_response":{"llmContent":[{"text":"Output: a"},{"text":"Exit Code: 0\nProcess Group PGID: 77"}]}}`,
			Event{Agent: Gemini, Name: "AfterTool", Kind: After, Session: "s", Calls: []Call{{Tool: "x", Args: json.RawMessage(`{}`), Result: json.RawMessage(`"Output: a\nExit Code: 0"`)}}},
		},
		{
			"a failed tool of Copilot CLI", Copilot, `{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":{"command":"x"},"toolResult":{"resultType":"failure","textResultForLlm":"no"}}`,
			Event{Agent: Copilot, Name: "postToolUse", Kind: After, Session: "s", Calls: []Call{{Tool: "bash", Args: json.RawMessage(`{"command":"x"}`), Result: json.RawMessage(`"no"`), Failed: true, Error: "no"}}},
		},
		{
			"a failure of Cursor", Cursor, `{"conversation_id":"s","hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":{},"error_message":"no","failure_type":"timeout"}`,
			Event{Agent: Cursor, Name: "postToolUseFailure", Kind: After, Session: "s", Calls: []Call{{Tool: "Shell", Args: json.RawMessage(`{}`), Failed: true, Error: "no"}}},
		},
		{
			"a failed tool of Cline", Cline, `{"hookName":"PostToolUse","taskId":"s","workspaceRoots":["/w"],"postToolUse":{"toolName":"x","parameters":{"a":"1"},"result":"no","success":false,"executionTimeMs":3}}`,
			Event{Agent: Cline, Name: "PostToolUse", Kind: After, Session: "s", Dir: "/w", Calls: []Call{{Tool: "x", Args: json.RawMessage(`{"a":"1"}`), Failed: true, Error: "no", Took: 3 * time.Millisecond}}},
		},
		{
			"a sub-agent of Cline's command line, with its arguments as they are", Cline, `{"hookName":"tool_call","taskId":"s","agent_id":"a2","parent_agent_id":"a1","tool_call":{"id":"c1","name":"x","input":{"n":1}},"preToolUse":{"toolName":"x","parameters":{"n":"1"}}}`,
			Event{Agent: Cline, Name: "PreToolUse", Kind: Before, Session: "s", SubAgent: "a2", Calls: []Call{{ID: "c1", Tool: "x", Args: json.RawMessage(`{"n":1}`)}}},
		},
		{
			"a read of Windsurf", "", `{"agent_action_name":"pre_read_code","trajectory_id":"s","tool_info":{"file_path":"/w/a.c"}}`,
			Event{Agent: Windsurf, Name: "pre_read_code", Kind: Before, Session: "s", Calls: []Call{{Tool: "read_code", Args: json.RawMessage(`{"file_path":"/w/a.c"}`)}}},
		},
		{
			"the result of an MCP tool of Windsurf", "", `{"agent_action_name":"post_mcp_tool_use","trajectory_id":"s","tool_info":{"mcp_server_name":"github","mcp_tool_name":"list","mcp_tool_arguments":{"n":1},"mcp_result":"none"}}`,
			Event{Agent: Windsurf, Name: "post_mcp_tool_use", Kind: After, Session: "s", Calls: []Call{{Tool: "mcp__github__list", Args: json.RawMessage(`{"n":1}`), Result: json.RawMessage(`"none"`)}}},
		},
		{
			"a call of Kiro's IDE", Kiro, `{"session_id":"sess_1","hook_event_name":"PostToolUse","cwd":"/w","tool_name":"execute_bash","tool_input":{"command":"make"},"tool_response":"no rule"}`,
			Event{Agent: Kiro, Name: "PostToolUse", Kind: After, Session: "sess_1", Dir: "/w", Calls: []Call{{Tool: "execute_bash", Args: json.RawMessage(`{"command":"make"}`), Result: json.RawMessage(`"no rule"`)}}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read([]byte(tc.input), tc.agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, agent := range []string{Claude, Codex, Gemini, Cursor, Copilot, Crush, OpenCode, Cline, "cline-cli", Windsurf, Kiro, Amp} {
		file, err := os.ReadFile(filepath.Join("testdata", "protocol", agent+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(file) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Read(data, "")
		if err == nil && e.Kind != Ignored && (e.Session == "" || e.Kind == Before && len(e.Calls) != 1) {
			t.Errorf("%+v", e)
		}
		Encode(&e, Answer{Deny: "x"})
	})
}
