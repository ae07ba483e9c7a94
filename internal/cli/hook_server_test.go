package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/hook"
)

// unhurried is a server whose answers are never too late for a hook, so that the tests do not depend on the speed of the machine.
type unhurried struct{ hook.Server }

func (u unhurried) Rule(ctx context.Context, run string, settings *hook.Settings, steps []hook.Step) ([]hook.Ruling, error) {
	return u.Server.Rule(context.WithoutCancel(ctx), run, settings, steps)
}

func (u unhurried) Orders(ctx context.Context, run string, after int64, wait time.Duration) ([]hook.Order, int64, error) {
	return u.Server.Orders(context.WithoutCancel(ctx), run, after, wait)
}

func (u unhurried) Send(ctx context.Context, events []unloop.Event) error {
	return u.Server.Send(context.WithoutCancel(ctx), events)
}

func connectUnhurried(endpoint string) (hook.Server, error) {
	s, err := connectHook(endpoint)
	return unhurried{s}, err
}

func TestAServerJudgesTheHooksAndShowsTheirSession(t *testing.T) {
	endpoint, stop, err := ownServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	folder := hook.Folder(filepath.Join(t.TempDir(), "hooks"))
	h := hook.Hook{
		Folder: folder, Agent: hook.Codex, Mode: hook.Guard, Now: time.Now, Server: connectUnhurried,
		Env: func(name string) string {
			if name == "UNLOOP_ENDPOINT" {
				return endpoint
			}
			return ""
		},
	}
	said := ""
	for n := range 12 {
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			var out bytes.Buffer
			h.Run(t.Context(), strings.NewReader(fmt.Sprintf(`{"session_id":"session-1","turn_id":"t","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"c%d","tool_response":"no rule"}`, event, n)), &out, io.Discard)
			if said += out.String(); strings.Contains(out.String(), `"deny"`) {
				break
			}
		}
	}
	if !strings.Contains(said, "additionalContext") || !strings.Contains(said, `"deny"`) {
		t.Errorf("said %s", said)
	}
	if err := folder.Log(func(e hook.Entry) {
		if e.What == "fault" {
			t.Error(e.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(endpoint, "")
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	if err := c.Events(t.Context(), "session-1", func(line []byte) error {
		events = append(events, string(line))
		return nil
	}); err != nil || len(events) < 12 || !strings.Contains(events[0], "hook: codex") {
		t.Errorf("%d events, %v: %.300s", len(events), err, events)
	}
}

func TestAPersonHaltsASessionOfAHookFromTheServer(t *testing.T) {
	endpoint, stop, err := ownServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	h := hook.Hook{
		Folder: hook.Folder(filepath.Join(t.TempDir(), "hooks")), Agent: hook.Codex, Now: time.Now, Server: connectUnhurried,
		Env: func(name string) string {
			if name == "UNLOOP_ENDPOINT" {
				return endpoint
			}
			return ""
		},
	}
	call := func(n int) string {
		var out bytes.Buffer
		h.Run(t.Context(), strings.NewReader(fmt.Sprintf(`{"session_id":"s","turn_id":"t","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cat %d"},"tool_use_id":"c%d"}`, n, n)), &out, io.Discard)
		return out.String()
	}
	order := func(body string) {
		t.Helper()
		answer, err := http.Post(endpoint+"/api/runs/s/control", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s", body, answer.Status)
		}
	}
	if said := call(1); said != "" {
		t.Errorf("said %s", said)
	}
	order(`{"act":"halt","text":"Enough."}`)
	if said := call(2); !strings.Contains(said, `"deny"`) || !strings.Contains(said, "A person halted this session: Enough.") {
		t.Errorf("after the halt: %s", said)
	}
	order(`{"act":"resume"}`)
	if said := call(3); said != "" {
		t.Errorf("after it was resumed: %s", said)
	}
	answer, err := http.Get(endpoint + "/api/runs/s")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(body), `"guarded_by":"hook: codex"`) {
		t.Errorf("the run is %s, %v", body, err)
	}
}
