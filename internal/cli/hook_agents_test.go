package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/hook"
	"github.com/unloop-ai/unloop/internal/hook/install"
)

// files returns the paths and contents of all files of the home, without the state.
func (s *standIn) files() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "state" {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// commands adds the command lines of the hook in a settings file to the set.
func commands(value any, found map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			commands(inner, found)
		}
	case map[string]any:
		for name, inner := range v {
			if line, ok := inner.(string); ok && name != "powershell" && strings.Contains(line, "hook --agent") {
				found[line] = true
			}
			commands(inner, found)
		}
	}
}

// registered returns the command lines that the agent would run at an event.
func (s *standIn) registered(agent, event string) (lines []string) {
	s.t.Helper()
	found := map[string]bool{}
	for path, text := range s.files() {
		var value any
		switch {
		case agent == hook.Cline && filepath.Base(path) == event:
			found[strconv.Quote(path)] = true
		case agent == hook.OpenCode || agent == hook.Amp: // TestAPluginTellsTheModelWhatTheHookAnswers runs them
			if strings.Contains(text, s.program) {
				found[strconv.Quote(s.program)+" hook --agent "+agent+" --mode guard"] = true
			}
		case json.Unmarshal([]byte(text), &value) == nil:
			commands(value, found)
		}
	}
	for line := range found {
		lines = append(lines, line)
	}
	return lines
}

// tell runs the commands of an agent with an input and returns the word and the text of their answer. Only a denial may have another
// exit status than zero, or a text that is not on the standard output.
func (s *standIn) tell(agent string, e *hook.Event, input string) (word, text string) {
	s.t.Helper()
	event := e.Name
	lines := s.registered(agent, event)
	if len(lines) != 1 && (agent != hook.Cline || len(lines) > 1) {
		s.t.Fatalf("%s has the commands %q", event, lines)
	}
	for _, line := range lines {
		c := exec.CommandContext(s.t.Context(), "/bin/sh", "-c", line)
		var out, failed bytes.Buffer
		c.Env, c.Stdin, c.Stdout, c.Stderr = s.env(), strings.NewReader(input), &out, &failed
		err := c.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 2 && e.Kind == hook.Before && out.Len() == 0 && (agent == hook.Kiro || agent == hook.Windsurf) {
			return "deny", failed.String()
		}
		if err != nil || failed.Len() > 0 {
			s.t.Fatalf("%s: %v, %s%s", input, err, out.String(), failed.String())
		}
		text = out.String()
	}
	switch {
	case text == "":
		return "", ""
	case strings.Contains(text, `"deny"`) || strings.Contains(text, `"cancel":true`):
		return "deny", text
	}
	return "nudge", text
}

// round lets the agent make the call once, and returns the words of the answers and the text of a denial. A denied call does not run.
func (s *standIn) round(agent string, n int) (words []string, denial string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "hook", "testdata", "protocol", agent+".jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.NewReplacer(`"ID"`, fmt.Sprintf(`"t%d"`, n), "NUMBER", strconv.Itoa(4000+7*n)).Replace(line)
		e, err := hook.Read([]byte(line), agent)
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		if n > 0 && e.Kind == hook.Prompt || e.Kind == hook.Stop || e.Kind == hook.SessionEnds || e.Kind == hook.After && denial != "" {
			continue
		}
		s.id = e.Session
		if e.Kind == hook.Before {
			s.tool = e.Calls[0].Tool
		}
		word, text := s.tell(agent, &e, line)
		if word != "" {
			words = append(words, word)
		}
		if word == "deny" {
			denial = text
		}
	}
	return words, denial
}

// allowsOneCallOrATool lets the loop of a session go on, after the calls that "unloop allow SESSION" let run.
func (s *standIn) allowsOneCallOrATool(agent string, n int) {
	s.t.Helper()
	denied := func() bool {
		n++
		words, _ := s.round(agent, n)
		return slices.Contains(words, "deny")
	}
	for range 9 {
		if denied() {
			s.t.Fatal("a call is denied that a person allowed")
		}
	}
	if !denied() {
		s.t.Error("the calls after those that a person allowed are not denied")
	}
	s.unloop("allow", s.id, "--once")
	if first, second := denied(), denied(); first || !second {
		s.t.Error("--once does not allow one call")
	}
	s.unloop("allow", s.id, "--tool", s.tool)
	for range 2 {
		if denied() {
			s.t.Error("--tool does not allow the calls of a tool")
		}
	}
}

func TestALoopOfEachAgentFromInstallToUninstall(t *testing.T) {
	program := newStandIn(t).program
	for _, a := range install.Agents() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			s := &standIn{t: t, home: t.TempDir(), program: program}
			s.unloop("hook", "install", a.Name, "--mode", "guard")
			once := s.files()
			s.unloop("hook", "install", a.Name, "--mode", "guard")
			if again := s.files(); len(once) == 0 || fmt.Sprint(once) != fmt.Sprint(again) {
				t.Errorf("install wrote %d files, and twice %d", len(once), len(again))
			}
			var said []string
			denial := ""
			n := 0
			for ; n < 24 && denial == ""; n++ {
				words, text := s.round(a.Name, n)
				said, denial = append(said, words...), text
			}
			if nudges := a.Name != hook.Windsurf; slices.Contains(said, "nudge") != nudges {
				t.Errorf("the hook says %q", said)
			}
			if out := s.unloop("hook", "status"); !strings.Contains(out, "last event  ") || strings.Contains(out, "fault") {
				t.Errorf("status prints %s", out)
			}
			if !strings.Contains(denial, "unloop allow "+s.id) {
				t.Fatalf("the hook says %q: %s", said, denial)
			}
			s.unloop("allow", s.id)
			if words, text := s.round(a.Name, n); slices.Contains(words, "deny") {
				t.Errorf("after allow, the hook says %q: %s, before %s", words, text, denial)
			}
			if a.Name == hook.Crush || a.Name == hook.Windsurf { // their profile has no level that is reset
				s.allowsOneCallOrATool(a.Name, n+1)
			}
			if out := s.unloop("hook", "log"); !strings.Contains(out, "allow") {
				t.Errorf("the log is %s", out)
			}
			s.unloop("hook", "uninstall", a.Name)
			if left := s.files(); len(left) > 0 {
				t.Errorf("uninstall left %v", left)
			}
		})
	}
}
