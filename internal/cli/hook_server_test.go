package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/hook"
)

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
		Folder: folder, Agent: hook.Codex, Mode: hook.Guard, Now: time.Now, Server: connectHook,
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
			h.Run(t.Context(), strings.NewReader(fmt.Sprintf(`{"session_id":"session-1","turn_id":"t","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"c%d","tool_response":"no rule"}`, event, n)), &out)
			if said += out.String(); strings.Contains(out.String(), `"deny"`) {
				break
			}
		}
	}
	if !strings.Contains(said, "additionalContext") || !strings.Contains(said, `"deny"`) {
		t.Errorf("said %s", said)
	}
	if err := folder.Log(func(e hook.Entry) {
		if e.What == "fault" && !strings.Contains(e.Text, "this machine's did") { // a slow machine's server may rule too late
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
