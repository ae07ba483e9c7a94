package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// standIn runs hooks as Claude Code does: what its settings name, in a shell, all handlers of an event at once, with their time-out.
// An exit status of 2, anything on standard error, and anything but one JSON object on standard output are errors here.
type standIn struct {
	t                       *testing.T
	home, program, id, tool string // the id of the session, and the tool of its latest call
}

// newStandIn returns a stand-in with a home and a copy of the program of its own.
func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{t: t, home: t.TempDir(), id: "session-1"}
	s.program = filepath.Join(s.home, "bin", "unloop")
	if err := os.Mkdir(filepath.Dir(s.program), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(plainProgram(t)) // a link could lead to another file system
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *standIn) env() []string {
	return []string{
		"HOME=" + s.home, "XDG_STATE_HOME=" + filepath.Join(s.home, "state"), "PATH=" + filepath.Dir(s.program) + ":/usr/bin:/bin",
	}
}

// unloop runs the program as a person does.
func (s *standIn) unloop(args ...string) string {
	s.t.Helper()
	c := exec.Command(s.program, args...)
	c.Env, c.Dir = s.env(), s.home
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("unloop %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// handlers returns the command lines for an event.
func (s *standIn) handlers(event string) (commands []string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.home, ".claude", "settings.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		s.t.Fatal(err)
	}
	for _, group := range settings.Hooks[event] {
		for _, h := range group.Hooks {
			commands = append(commands, h.Command)
		}
	}
	return commands
}

// fire runs the handlers of an event and returns what the one that answers says.
func (s *standIn) fire(event string, more map[string]any) map[string]any {
	s.t.Helper()
	input := map[string]any{"session_id": s.id, "prompt_id": "p", "cwd": s.home, "hook_event_name": event}
	for k, v := range more {
		input[k] = v
	}
	data, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer map[string]any
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, command := range s.handlers(event) {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "/bin/sh", "-c", command)
			c.Env, c.Stdin = s.env(), bytes.NewReader(data)
			var out, errors bytes.Buffer
			c.Stdout, c.Stderr = &out, &errors
			err := c.Run()
			mu.Lock()
			defer mu.Unlock()
			if err != nil || errors.Len() > 0 {
				s.t.Errorf("%s: %v, %s", event, err, errors.String())
			}
			if out.Len() > 0 {
				if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
					s.t.Errorf("%s: %v: %s", event, err, out.String())
				}
			}
		})
	}
	all.Wait()
	return answer
}

// step is what became of a call.
type step struct {
	denied, nudged, ended bool
	text                  string
}

// call makes a call, unless it is denied.
func (s *standIn) call(n int, command, result string) (what step) {
	s.t.Helper()
	call := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": fmt.Sprint("t", n)}
	if specific, ok := s.fire("PreToolUse", call)["hookSpecificOutput"].(map[string]any); ok && specific["permissionDecision"] == "deny" {
		what.denied, what.text = true, fmt.Sprint(specific["permissionDecisionReason"])
	}
	call["tool_response"] = map[string]any{"stdout": result}
	if !what.denied {
		s.fire("PostToolUse", call)
	}
	call["tool_response"] = result
	batch := s.fire("PostToolBatch", map[string]any{"tool_calls": []any{call}})
	if specific, ok := batch["hookSpecificOutput"].(map[string]any); ok {
		what.nudged, what.text = true, fmt.Sprint(specific["additionalContext"])
	}
	what.ended = batch["continue"] == false
	return what
}

func TestTheHookFromInstallToUninstall(t *testing.T) {
	s := newStandIn(t)
	const settings = "{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\r\n}"
	path := filepath.Join(s.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(settings), 0o640); err != nil {
		t.Fatal(err)
	}
	if out := s.unloop("hook", "install", "--dry-run", "--mode", "guard"); !strings.Contains(out, "+") || !strings.Contains(out, "hook --agent claude-code") {
		t.Errorf("the dry run shows %s", out)
	}
	if now, _ := os.ReadFile(path); string(now) != settings {
		t.Errorf("the dry run changed the file")
	}
	out := s.unloop("hook", "install", "--mode", "guard")
	for _, want := range []string{"claude-code: installed in " + path + "\n  at PreToolUse, ", "  the former file is " + path + ".before-unloop\n", "unloop hook uninstall restores"} {
		if !strings.Contains(out, want) {
			t.Errorf("install does not print %q in %s", want, out)
		}
	}
	if strings.Contains(out, "@@") {
		t.Errorf("install prints the difference: %s", out)
	}
	installed, _ := os.ReadFile(path)
	if out := s.unloop("hook", "install", "claude-code", "--mode", "guard"); !strings.Contains(out, "already installed") {
		t.Errorf("the second install prints %s", out)
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(installed, again) {
		t.Error("the second install changed the file")
	}
	if out := s.unloop("hook", "status"); !strings.Contains(out, "no hook has run yet") {
		t.Errorf("status prints %s", out)
	}
	if out := s.unloop("hook", "log"); !strings.Contains(out, "no nudges, denials or faults yet") {
		t.Errorf("the empty log prints %s", out)
	}

	nudged, denied, ended := -1, -1, -1
	for n := range 16 {
		what := s.call(n, "make", "no rule to make target")
		if what.nudged && nudged < 0 {
			nudged = n
		}
		if what.denied && denied < 0 {
			denied = n
			if !strings.Contains(what.text, "unloop allow session-1") {
				t.Errorf("the denial does not explain how to continue: %s", what.text)
			}
			break
		}
	}
	if nudged < 0 || denied <= nudged {
		t.Fatalf("nudged at %d, denied at %d", nudged, denied)
	}
	if out := s.unloop("hook", "status"); !strings.Contains(out, "last event  P") || strings.Contains(out, "fault") {
		t.Errorf("status prints %s", out)
	}
	if out := s.unloop("hook", "explain", "session"); !strings.Contains(out, "same_call_same_result") {
		t.Errorf("explain prints %s", out)
	}
	s.unloop("allow", "session-1")
	if what := s.call(100, "make", "no rule to make target"); what.denied || what.ended {
		t.Errorf("a call after allow: %+v", what)
	}
	for n := 101; n < 120 && ended < 0; n++ {
		if s.call(n, "make", "no rule to make target").ended {
			ended = n
		}
	}
	if ended < 0 {
		t.Error("the turn is never ended")
	}
	out = s.unloop("hook", "log")
	for _, want := range []string{"nudge", "deny", "allow", "end_turn"} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %s: %s", want, out)
		}
	}
	s.unloop("hook", "uninstall")
	if now, _ := os.ReadFile(path); string(now) != settings {
		t.Errorf("uninstall left %q", now)
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, ".claude", "*")); len(left) != 1 {
		t.Errorf("uninstall left %v", left)
	}
}

// hookProcess returns one process of the hook.
func (s *standIn) hookProcess(event string, n int) *exec.Cmd {
	input := fmt.Sprintf(`{"session_id":"s","turn_id":"t","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make %d"},"tool_use_id":"c%d","tool_response":"result %d"}`, event, n, n, n)
	c := exec.Command(s.program, "hook", "--agent", "codex")
	c.Env, c.Stdin = s.env(), strings.NewReader(input)
	return c
}

func TestConcurrentHooksOfASessionLoseNoCall(t *testing.T) {
	s := newStandIn(t)
	const processes = 200
	var all sync.WaitGroup
	room := make(chan struct{}, 50)
	for n := range processes {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if out, err := s.hookProcess("PreToolUse", n).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	// On a slow machine some may have waited too long for the lock. The next one brings their calls.
	if err := s.hookProcess("PreToolUse", processes).Run(); err != nil {
		t.Fatal(err)
	}
	if out := s.unloop("hook", "explain", "s"); !strings.Contains(out, fmt.Sprintf("%d calls", processes+1)) {
		t.Errorf("want %d calls: %s", processes+1, out)
	}
	if out := s.unloop("hook", "status"); strings.Contains(out, "begins anew") {
		t.Errorf("a state was broken: %s", out)
	}
}

func TestAKilledHookLosesAtMostItsCall(t *testing.T) {
	s := newStandIn(t)
	survivors := 0
	for n := range 40 {
		c := s.hookProcess("PreToolUse", n)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = c.Process.Kill() })
		if c.Wait() == nil {
			survivors++
		}
		kill.Stop()
	}
	for n := 100; n < 110; n++ {
		if err := s.hookProcess("PreToolUse", n).Run(); err != nil {
			t.Fatal(err)
		}
		survivors++
	}
	out := s.unloop("hook", "explain", "s")
	var calls int
	if _, err := fmt.Sscanf(strings.Split(out, "\n")[1], "%d calls", &calls); err != nil || calls < survivors || calls > 50 {
		t.Errorf("%d calls of %d survivors (%v): %s", calls, survivors, err, out)
	}
	if out := s.unloop("hook", "status"); strings.Contains(out, "begins anew") {
		t.Errorf("a state was broken: %s", out)
	}
}

func TestTheHookExitsWithZeroForAnyInput(t *testing.T) {
	s := newStandIn(t)
	for _, args := range [][]string{
		{"hook"},
		{"hook", "--agent", "nobody"},
		{"hook", "--mode", "loud"},
		{"hook", "--new-flag", "--agent", "codex"},
		{"hook", "claude-code"},
		{"hook", "--agent", "codex", "guard"},
		{"hook", "--agent"},
		{"hook", "--mode"},
	} {
		c := exec.Command(s.program, args...)
		c.Env, c.Stdin = s.env(), strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"x"}`)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}

func TestAWrongCommandLineOfAHookIsLoggedAndTheEventJudged(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"hook", "claude-code"}, `unknown command "claude-code"`},
		{[]string{"hook", "--agent"}, "flag needs an argument: --agent"},
		{[]string{"hook", "--agent", "nobody"}, `unknown agent "nobody": want one of claude-code, codex`},
		{[]string{"hook", "--mode", "loud", "--agent", "claude-code"}, `--mode: unknown mode "loud": want one of nudge`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			s := newStandIn(t)
			command := exec.Command(s.program, c.args...)
			command.Env, command.Stdin = s.env(), strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"x","tool_use_id":"t"}`)
			if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v, %s", err, out)
			}
			out := s.unloop("hook", "status")
			if !strings.Contains(out, c.want) || !strings.Contains(out, "last event  PreToolUse") {
				t.Errorf("the status lacks the error or the event: %s", out)
			}
		})
	}
}

func TestAPersonWhoMistypesACommandOfTheHookGetsAnError(t *testing.T) {
	s := newStandIn(t)
	command := exec.Command(s.program, "hook", "stauts")
	command.Env = s.env()
	out, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != exitBad || !strings.Contains(string(out), `did you mean "status"?`) {
		t.Errorf("%v, %s", err, out)
	}
}
