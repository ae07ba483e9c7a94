package hook

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestTheStatusLineTellsCallsRepeatsAndTokensSinceTheLastNews(t *testing.T) {
	d := newDesk(t, Claude, Nudge)
	path := d.folder.path("transcript.jsonl")
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	transcript, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	for n := range 4 {
		fmt.Fprintf(transcript, `{"type":"assistant","message":{"id":"m%d","role":"assistant","content":[],"usage":{"input_tokens":1000,"output_tokens":50}}}`+"\n", n)
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			d.run(fmt.Sprintf(`{"session_id":"s","prompt_id":"p","transcript_path":%q,"hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t%d","tool_response":"no rule"}`, path, event, n))
		}
		d.run(fmt.Sprintf(`{"session_id":"s","prompt_id":"p","transcript_path":%q,"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t%d","tool_response":"no rule"}]}`, path, n))
	}
	if got, want := d.folder.StatusLine([]byte(`{"session_id":"s","model":{}}`)), "unloop: 4 calls, 3 without novelty, 3k tokens since the last\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, input := range []string{"", "{}", `{"session_id":"other"}`} {
		if got := d.folder.StatusLine([]byte(input)); got != "" {
			t.Errorf("%s: %q", input, got)
		}
	}
	d.noFaults()
}

func TestResultsThatNoHookTellsAreReadFromTheEndOfTheTranscript(t *testing.T) {
	d := newDesk(t, Qwen, Guard)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	path := d.folder.path("transcript.jsonl")
	transcript, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	said := ""
	for n := range 12 {
		said += d.run(fmt.Sprintf(`{"session_id":"s","transcript_path":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t%d"}`, path, n))
		fmt.Fprintf(transcript, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","is_error":true,"content":"no rule"}]}}`+"\n", n)
	}
	fmt.Fprint(transcript, `{"type":"user","mess`) // a line that is not whole yet
	if !strings.Contains(said, "deny") {
		t.Errorf("said %q", said)
	}
	d.noFaults()
}

func TestSessionsThatWereIdleLongAreRemoved(t *testing.T) {
	d := newDesk(t, Claude, Nudge)
	for n := range 3 {
		d.run(fmt.Sprintf(`{"session_id":"s%d","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`, n))
	}
	old := time.Now().Add(-keptAge - time.Hour)
	if err := os.Chtimes(d.folder.path("sessions", key(Claude, "s1", "")+".state"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := d.folder.sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	if all, _ := d.folder.Sessions(); len(all) != 3 {
		t.Errorf("%d sessions: swept twice in a day", len(all))
	}
	if err := d.folder.sweep(time.Now().Add(sweepEvery + time.Hour)); err != nil {
		t.Fatal(err)
	}
	all, err := d.folder.Sessions()
	if err != nil || len(all) != 2 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

func TestAProjectChoosesTheModeButNotTheServer(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	env := func(values map[string]string) func(string) string {
		return func(name string) string {
			if v, ok := values[name]; ok {
				return v
			}
			if name == "HOME" {
				return home
			}
			return ""
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(project+"/"+projectFileName, "hook: {mode: guard, endpoint: \"http://evil.example\"}")
	if err := os.Mkdir(project+"/below", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		flag Mode
		dir  string
		env  map[string]string
		want Mode
	}{
		{"nothing is chosen", "", home, nil, Nudge},
		{"the project's file, from a folder below", "", project + "/below", nil, Guard},
		{"the environment goes before the project", "", project, map[string]string{"UNLOOP_HOOK_MODE": "shadow"}, Shadow},
		{"the flag goes before the environment", Nudge, project, map[string]string{"UNLOOP_HOOK_MODE": "shadow"}, Nudge},
	} {
		s, err := loadSettings(tc.flag, tc.dir, env(tc.env))
		if err != nil || s.Mode != tc.want || s.Endpoint != "" {
			t.Errorf("%s: %+v, %v", tc.name, s, err)
		}
	}
}
