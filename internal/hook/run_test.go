package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// desk runs hooks as an agent would, in one folder.
type desk struct {
	t      *testing.T
	folder Folder
	agent  string
	mode   Mode
	env    map[string]string
	server Server
}

func newDesk(t *testing.T, agent string, mode Mode) *desk {
	t.Helper()
	return &desk{t: t, folder: Folder(t.TempDir()), agent: agent, mode: mode, env: map[string]string{"HOME": t.TempDir()}}
}

// run runs one hook and returns its answer. An answer that is not JSON is returned as an object of what the process writes.
func (d *desk) run(input string) string {
	d.t.Helper()
	h := Hook{Folder: d.folder, Agent: d.agent, Mode: d.mode, Env: func(name string) string { return d.env[name] }, Now: time.Now}
	if d.server != nil {
		h.Server = func(string) (Server, error) { return d.server, nil }
	}
	var out, errOut bytes.Buffer
	status := h.Run(context.Background(), strings.NewReader(input), &out, &errOut)
	if status == 0 && errOut.Len() == 0 && (out.Len() == 0 || out.Bytes()[0] == '{') {
		return out.String()
	}
	written := map[string]any{"status": status}
	for name, text := range map[string]string{"stdout": out.String(), "stderr": errOut.String()} {
		if text != "" {
			written[name] = text
		}
	}
	return raw(written)
}

func (d *desk) entries(what string) (found []Entry) {
	d.t.Helper()
	if err := d.folder.Log(func(e Entry) {
		if e.What == what {
			found = append(found, e)
		}
	}); err != nil {
		d.t.Fatal(err)
	}
	return found
}

func (d *desk) noFaults() {
	d.t.Helper()
	for _, e := range d.entries("fault") {
		d.t.Errorf("fault: %s", e.Text)
	}
}

func raw(v any) string {
	data, _ := plainJSON(v)
	return string(data)
}

// claudeCall plays one call of Claude Code and returns the answers before it and after its batch. A denied call does not run.
func (d *desk) claudeCall(session string, n int, command, result string) (before, after string) {
	call := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": fmt.Sprint("t", n)}
	event := func(name string, more map[string]any) string {
		e := map[string]any{"session_id": session, "prompt_id": "p", "cwd": d.env["HOME"], "hook_event_name": name}
		for k, v := range more {
			e[k] = v
		}
		return raw(e)
	}
	before = d.run(event("PreToolUse", call))
	call["tool_response"] = map[string]any{"stdout": result}
	if !strings.Contains(before, "deny") {
		d.run(event("PostToolUse", call))
	}
	call["tool_response"] = result
	return before, d.run(event("PostToolBatch", map[string]any{"tool_calls": []any{call}}))
}

func TestALoopIsNudgedThenDeniedThenEnded(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	var said []string
	for n := range 14 {
		before, after := d.claudeCall("s", n, "make", "no rule")
		for _, answer := range []string{before, after} {
			switch {
			case strings.Contains(answer, `"deny"`):
				said = append(said, "deny")
			case strings.Contains(answer, "additionalContext"):
				said = append(said, "nudge")
			case strings.Contains(answer, `"continue":false`):
				said = append(said, "end")
			}
		}
		if strings.Contains(after, `"continue":false`) {
			break
		}
	}
	if got := strings.Join(said, " "); got != "nudge nudge nudge deny deny deny end" {
		t.Errorf("got %s", got)
	}
	d.noFaults()
}

func TestTheModeNudgeNeverDenies(t *testing.T) {
	d := newDesk(t, Claude, Nudge)
	nudges := 0
	for n := range 30 {
		before, after := d.claudeCall("s", n, "make", "no rule")
		if strings.Contains(before+after, "deny") || strings.Contains(before+after, "continue") {
			t.Fatalf("call %d: %s%s", n, before, after)
		}
		if strings.Contains(after, "blocked") {
			t.Fatalf("call %d is threatened: %s", n, after)
		}
		if strings.Contains(after, "additionalContext") {
			nudges++
		}
	}
	if nudges < 3 || nudges > 9 {
		t.Errorf("%d nudges in 30 calls", nudges)
	}
	d.noFaults()
}

func TestTheModeShadowSaysNothingAndRecordsIt(t *testing.T) {
	d := newDesk(t, Claude, Shadow)
	for n := range 12 {
		if before, after := d.claudeCall("s", n, "make", "no rule"); before+after != "" {
			t.Fatalf("call %d: %s%s", n, before, after)
		}
	}
	if len(d.entries("shadow")) < 3 {
		t.Errorf("%d entries", len(d.entries("shadow")))
	}
	d.noFaults()
}

func TestHealthyWorkIsLeftAlone(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	for n := range 30 {
		if before, after := d.claudeCall("s", n, fmt.Sprintf("go test ./p%d", n), fmt.Sprintf("ok p%d, with %d tests of module %x", n, n*7, n*7919)); before+after != "" {
			t.Fatalf("call %d: %s%s", n, before, after)
		}
	}
	d.noFaults()
}

func TestAPersonLetsASessionGoOn(t *testing.T) {
	denied := func(d *desk, from int) int {
		for n := from; n < from+12; n++ {
			if before, _ := d.claudeCall("session-1", n, "make", "no rule"); strings.Contains(before, "deny") {
				return n - from
			}
		}
		return -1
	}
	t.Run("the whole session, until there is new evidence", func(t *testing.T) {
		d := newDesk(t, Claude, Guard)
		if denied(d, 0) < 0 {
			t.Fatal("it is never denied")
		}
		if _, allowed, err := d.folder.Allow("session", "", false, time.Now); err != nil || allowed != "the session continues" {
			t.Fatal(allowed, err)
		}
		if n := denied(d, 100); n < 2 {
			t.Errorf("denied again after %d calls", n)
		}
		if len(d.entries("allow")) != 1 {
			t.Error("the log has no entry")
		}
		d.noFaults()
	})
	t.Run("one tool for good", func(t *testing.T) {
		d := newDesk(t, Claude, Guard)
		denied(d, 0)
		if _, allowed, err := d.folder.Allow("session", "Bash", false, time.Now); err != nil || allowed != "all calls of Bash run" {
			t.Fatal(allowed, err)
		}
		if n := denied(d, 100); n >= 0 {
			t.Errorf("denied again after %d calls", n)
		}
	})
	t.Run("one call", func(t *testing.T) {
		d := newDesk(t, Claude, Guard)
		denied(d, 0)
		if _, allowed, err := d.folder.Allow("session", "", true, time.Now); err != nil || allowed != "the next call runs" {
			t.Fatal(allowed, err)
		}
		if before, _ := d.claudeCall("session-1", 200, "make", "no rule"); before != "" {
			t.Errorf("the next call is denied: %s", before)
		}
	})
	t.Run("an unknown session is an error", func(t *testing.T) {
		d := newDesk(t, Claude, Guard)
		if _, _, err := d.folder.Allow("nobody", "", false, time.Now); err == nil {
			t.Error("no error")
		}
	})
}

func TestACallThatTwoRegistrationsTellCountsOnce(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	for n := range 3 {
		event := func(name, more string) string {
			return fmt.Sprintf(`{"session_id":"s","prompt_id":"p","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t%d"%s}`, name, n, more)
		}
		for range 2 {
			d.run(event("PreToolUse", ""))
		}
		for range 2 {
			d.run(event("PostToolUse", `,"tool_response":"ok"`))
		}
	}
	about, state, err := d.folder.Find("s")
	if err != nil || about.Calls != 3 || state.Calls != 3 {
		t.Errorf("%+v, %d calls, %v", about, state.Calls, err)
	}
}

func TestAnAgentThatIsToldToStopIsSentBackOnceAtMost(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	stop := func(active bool, text string) string {
		return d.run(fmt.Sprintf(`{"session_id":"s","prompt_id":"p","hook_event_name":"Stop","stop_hook_active":%v,"last_assistant_message":%q}`, active, text))
	}
	for n := range 4 {
		d.claudeCall("s", n, "make", "no rule")
	}
	const text = "I have run make again and there is still no rule to make the target, so I will try to run make once more now."
	sent := 0
	for range 6 {
		if strings.Contains(stop(false, text), `"block"`) {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("sent back %d times, want 1", sent)
	}
	if answer := stop(true, text); strings.Contains(answer, `"block"`) {
		t.Errorf("one that another hook keeps is kept, too: %s", answer)
	}
}

func TestAFaultNeverReachesTheAgent(t *testing.T) {
	valid := `{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`
	for name, break_ := range map[string]func(t *testing.T, d *desk) string{
		"no JSON":    func(*testing.T, *desk) string { return "{" },
		"nothing":    func(*testing.T, *desk) string { return "" },
		"a list":     func(*testing.T, *desk) string { return "[]" },
		"no session": func(*testing.T, *desk) string { return `{"hook_event_name":"PreToolUse"}` },
		"no tool": func(*testing.T, *desk) string {
			return `{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"p"}`
		},
		"a huge event": func(*testing.T, *desk) string { return `{"x":"` + strings.Repeat("a", maxInput) + `"}` },
		"a broken state": func(t *testing.T, d *desk) string {
			d.run(valid)
			path := d.folder.path("sessions", key(Claude, "s", "")+".state")
			if err := os.WriteFile(path, []byte("unloop hook 1\n\xff\xff\xff\xff"), 0o600); err != nil {
				t.Fatal(err)
			}
			return valid
		},
		"a cut snapshot": func(t *testing.T, d *desk) string {
			d.run(valid)
			path := d.folder.path("sessions", key(Claude, "s", "")+".state")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data[:len(data)-9], 0o600); err != nil {
				t.Fatal(err)
			}
			return valid
		},
		"no room for the state": func(t *testing.T, d *desk) string {
			d.run(`{"session_id":"other","prompt_id":"p","hook_event_name":"Stop"}`)
			if err := os.RemoveAll(d.folder.path("sessions")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.folder.path("sessions"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return valid
		},
		"wrong settings": func(t *testing.T, d *desk) string {
			if err := os.WriteFile(filepath.Join(d.env["HOME"], projectFileName), []byte("hook: {mode: loud}"), 0o600); err != nil {
				t.Fatal(err)
			}
			return strings.Replace(valid, `{`, fmt.Sprintf(`{"cwd":%q,`, d.env["HOME"]), 1)
		},
		"settings that do not fit into memory": func(t *testing.T, d *desk) string {
			path := filepath.Join(d.env["HOME"], projectFileName)
			if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)); err != nil {
				t.Fatal(err)
			}
			return strings.Replace(valid, `{`, fmt.Sprintf(`{"cwd":%q,`, d.env["HOME"]), 1)
		},
		"a session id that is longer than a line of the log": func(*testing.T, *desk) string {
			return strings.Replace(valid, `"s"`, `"`+strings.Repeat("s", 2<<20)+`"`, 1)
		},
		"a transcript that is a device": func(*testing.T, *desk) string {
			return strings.Replace(valid, `{`, fmt.Sprintf(`{"transcript_path":%q,`, os.DevNull), 1)
		},
		"a damaged event that another hook kept": func(t *testing.T, d *desk) string {
			folder := d.folder.path("late", key(Claude, "s", ""))
			if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "1.json"), []byte("{"), 0o600)); err != nil {
				t.Fatal(err)
			}
			return valid
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Claude, Guard)
			input := break_(t, d)
			if answer := d.run(input); answer != "" {
				t.Errorf("answered %s", answer)
			}
			if len(d.entries("fault")) != 1 {
				t.Errorf("%d faults in the log, want 1", len(d.entries("fault")))
			}
		})
	}
}

func TestADamagedKeyIsReplaced(t *testing.T) {
	for name, damaged := range map[string]string{"cut": "short", "empty": "", "too long": strings.Repeat("k", 33)} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Claude, Guard)
			if err := errors.Join(d.folder.make(), os.WriteFile(d.folder.path("mask.key"), []byte(damaged), 0o600)); err != nil {
				t.Fatal(err)
			}
			d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`)
			if faults := d.entries("fault"); len(faults) > 0 {
				t.Errorf("the event was not judged: %+v", faults)
			}
			key, err := d.folder.maskKey()
			again, errAgain := d.folder.maskKey()
			if err := errors.Join(err, errAgain); err != nil || len(key) != 32 || string(key) != string(again) {
				t.Errorf("the key has %d bytes, then %d: %v", len(key), len(again), err)
			}
			if left, _ := filepath.Glob(d.folder.path("mask.key.*")); len(left) > 0 {
				t.Errorf("files are left: %s", left)
			}
		})
	}
}

func TestAFileSystemWithoutHardLinksHasAKey(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	path := d.folder.path("mask.key")
	noLinks := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} // as FAT answers
	}
	if err := d.folder.createKey(path, false, noLinks); err != nil {
		t.Error(err)
	}
	first, err := os.ReadFile(path)
	used, errUsed := d.folder.maskKey()
	if err := errors.Join(err, errUsed); err != nil || len(first) != keyBytes || string(used) != string(first) {
		t.Errorf("the key has %d bytes, %d are used: %v", len(first), len(used), err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("files are left: %s", left)
	}
}

func TestEventsThatAreNotJudgedAreSilent(t *testing.T) {
	d := newDesk(t, "", Guard)
	for _, input := range []string{
		`{"session_id":"s","prompt_id":"p","hook_event_name":"Notification","message":"x"}`,
		`{"session_id":"s","prompt_id":"p","hook_event_name":"SomethingNew","tool_name":"Bash"}`,
		`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t","duration_ms":"odd"}`,
	} {
		if answer := d.run(input); answer != "" {
			t.Errorf("%s: %s", input, answer)
		}
	}
	d.noFaults()
	if seen, err := d.folder.Seen(Claude); err != nil || seen.Event != "Notification" {
		t.Errorf("%+v, %v", seen, err)
	}
}

// fakeServer rules as it is told, and records what it is sent.
type fakeServer struct {
	action policy.Action
	err    error
	sent   []unloop.Event
	orders []Order // all that were given
}

func (s *fakeServer) Orders(_ context.Context, _ string, after int64, _ time.Duration) (orders []Order, last int64, err error) {
	for _, o := range s.orders {
		if o.Number > after {
			orders = append(orders, o)
		}
	}
	return orders, int64(len(s.orders)), s.err
}

func (s *fakeServer) Rule(_ context.Context, _ string, _ *Settings, steps []Step) ([]Ruling, error) {
	rulings := make([]Ruling, len(steps))
	for k := range rulings {
		rulings[k] = Ruling{Action: s.action, Text: "the server says so", Code: "rule"}
	}
	return rulings, s.err
}

func (s *fakeServer) Send(_ context.Context, events []unloop.Event) error {
	s.sent = append(s.sent, events...)
	return s.err
}

func TestAServerRulesAndGetsTheEvents(t *testing.T) {
	server := &fakeServer{action: policy.Block}
	d := newDesk(t, Claude, Guard)
	d.server, d.env["UNLOOP_ENDPOINT"] = server, "http://localhost"
	before, _ := d.claudeCall("s", 1, "make", "ok")
	if !strings.Contains(before, "the server says so") || !strings.Contains(before, `"deny"`) {
		t.Errorf("answered %s", before)
	}
	if len(server.sent) == 0 || server.sent[0].Type != unloop.ToolCallStarted || !strings.Contains(string(server.sent[0].Metadata), `"hook: claude-code"`) {
		t.Errorf("sent %+v", server.sent)
	}
	t.Run("and without its answer this machine rules", func(t *testing.T) {
		server.err = errors.New("it is away")
		denied := false
		for n := range 12 {
			before, _ := d.claudeCall("t", n, "make", "no rule")
			denied = denied || strings.Contains(before, "no rule")
		}
		if !denied {
			t.Error("nothing is denied")
		}
	})
}

func TestTheCommandThatInstallWritesIsAnsweredAtTheStart(t *testing.T) {
	none := func(string) string { return "" }
	for _, tc := range []struct {
		args string
		mode Mode
		ok   bool
	}{
		{"hook --agent codex", "", true},
		{"hook --agent codex --mode guard", Guard, true},
		{"hook --agent codex --mode loud", "loud", false},
		{"hook --agent codex --new guard", "guard", false},
		{"hook --mode guard", "", false},
		{"hook status", "", false},
		{"hook", "", false},
		{"scan --agent codex", "", false},
	} {
		h, ok := OfCommand(strings.Fields(tc.args), "f", none)
		if ok != tc.ok || ok && (h.Agent != "codex" || h.Mode != tc.mode) {
			t.Errorf("%s: %+v, %v", tc.args, h, ok)
		}
	}
	t.Run("without a server", func(t *testing.T) {
		h := Hook{Folder: Folder(t.TempDir()), Env: none}
		if h.HasServer() {
			t.Error("a server is found")
		}
		if _, err := h.Folder.Announce("http://127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
		if !h.HasServer() {
			t.Error("the server that runs is not found")
		}
		h.Folder.withdraw()
		h.Env = func(name string) string { return map[string]string{"UNLOOP_ENDPOINT": "http://localhost"}[name] }
		if !h.HasServer() {
			t.Error("the configured server is not found")
		}
	})
}

func TestAFaultThatCannotBeLoggedIsOnStandardError(t *testing.T) {
	d := newDesk(t, Claude, Nudge)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.folder = Folder(filepath.Join(file, "hooks")) // as where the home folder is read-only
	got := d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`)
	if !strings.HasPrefix(got, `{"status":0,"stderr":"unloop hook: create the folder of the state: `) {
		t.Error(got)
	}
}

func TestHooksOfTwoSessionsDoNotWriteOneUnfinishedFile(t *testing.T) {
	d := newDesk(t, Claude, Nudge)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	unfinished := d.folder.path("agents", Claude+".json.next") // of a hook of another session
	if err := os.WriteFile(unfinished, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"Stop"}`)
	if seen, err := d.folder.Seen(Claude); err != nil || seen.Session != "s" {
		t.Errorf("%+v, %v", seen, err)
	}
	if left, err := os.ReadFile(unfinished); err != nil || string(left) != "half" {
		t.Errorf("%q, %v", left, err)
	}
	d.noFaults()
}

func TestAResultInTheSecondOfItsCallIsSeen(t *testing.T) {
	for _, c := range []struct{ agent, before, after string }{
		{Claude, "PreToolUse", "PostToolUse"}, {Gemini, "BeforeTool", "AfterTool"},
	} {
		t.Run(c.agent, func(t *testing.T) {
			d := newDesk(t, c.agent, Nudge)
			const call = `{"session_id":"s","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t","tool_response":{"stdout":"done"}}`
			d.run(fmt.Sprintf(call, c.before))
			d.run(fmt.Sprintf(call, c.after))
			d.noFaults()
			if seen, err := d.folder.Seen(c.agent); err != nil || !seen.Results {
				t.Errorf("%+v, %v; want a result", seen, err)
			}
		})
	}
}
