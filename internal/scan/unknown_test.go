package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

func TestUnknownNamesAreTold(t *testing.T) {
	many := make([]string, 0, maxUnknown+1)
	for k := range maxUnknown + 1 {
		many = append(many, fmt.Sprintf(`{"run_id":"r","type":"message","q%d":1}`, k))
	}
	for _, tc := range []struct {
		name, lines string
		want        []string
	}{
		{"known names are not told", `{"run_id":"r","type":"tool_call_started","tool":"a","analysis":{},"usage":{"input_tokens":1}}`, nil},
		{
			"a type, once with its number, from events out of order too",
			`{"run_id":"r","sequence":2,"type":"tool_call_start"}` + "\n" + `{"run_id":"r","sequence":1,"type":"tool_call_start"}`,
			[]string{`FILE:1: unknown event type "tool_call_start" (did you mean "tool_call_started"?); rules ignore it (2 times)`},
		},
		{
			"fields of events and of usage", `{"run_id":"r","type":"message"}` + "\n" + `{"run_id":"r","type":"message","txet":"a","usage":{"prompt_tokens":1}}`,
			[]string{
				`FILE:2: unknown field "txet" (did you mean "text"?); rules ignore it (once)`,
				`FILE:2: unknown field of usage "prompt_tokens" (did you mean "input_tokens"?); rules ignore it (once)`,
			},
		},
		{
			"names of labelled runs",
			`{"id":"r","source":"s","labels":{},"events":[{"kind":"tol_call"},{"kind":"tool_call","tool":"a","arguments":1},{"kind":"event","event":{"type":"massage"}}]}`,
			[]string{
				`FILE:1: unknown kind of entry "tol_call" (did you mean "tool_call"?); rules ignore it (once)`,
				`FILE:1: unknown field "arguments"; rules ignore it (once)`,
				`FILE:1: unknown event type "massage" (did you mean "message"?); rules ignore it (once)`,
			},
		},
		{
			"a role of a chat message, with its path and the roles", `{"messages":[{"role":"user","content":"a"},{"role":"asistant","content":"b"},{"content":"c"},{"role":"model","content":"d"}]}`,
			[]string{
				`FILE:1: messages.1.role: unknown role "asistant" (did you mean "assistant"?), want one of system, developer, user, assistant, tool, function; rules ignore the message (once)`,
				`FILE:1: messages.2.role: unknown role "", want one of system, developer, user, assistant, tool, function; rules ignore the message (once)`,
				`FILE:1: messages.3.role: unknown role "model" (did you mean "assistant"?), want one of system, developer, user, assistant, tool, function; rules ignore the message (once)`,
			},
		},
		{
			"a role of an Anthropic message", `{"messages":[{"role":"users","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"a","input":{}}]}]}`,
			[]string{`FILE:1: messages.0.role: unknown role "users" (did you mean "user"?), want one of user, assistant, system; rules ignore the message (once)`},
		},
		{
			"a role of a labelled run", `{"id":"r","source":"s","labels":{},"events":[{"kind":"message","role":"usr","text":"a"}]}`,
			[]string{`FILE:1: events.0.role: unknown role "usr" (did you mean "user"?), want one of system, user, assistant; rules ignore the message (once)`},
		},
		{
			"a role of a result of tau-bench", `[{"task_id":0,"reward":0,"info":{},"trial":0,"traj":[{"role":"usr","content":"a"}]}]`,
			[]string{`FILE:1: 0.traj.0.role: unknown role "usr" (did you mean "user"?), want one of system, developer, user, assistant, tool, function; rules ignore the message (once)`},
		},
		{
			"a role of mini-swe-agent", `{"trajectory_format":"mini-swe-agent-1.1","messages":[{"role":"sytem","content":"a"},{"role":"exit","content":"b"}]}`,
			[]string{`FILE: messages.0.role: unknown role "sytem" (did you mean "system"?), want one of exit, system, developer, user, assistant, tool, function; rules ignore the message (once)`},
		},
		{
			"a role of Codex", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}` + "\n" +
				`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"usr","content":[]}}`,
			[]string{`FILE:2: payload.role: unknown role "usr" (did you mean "user"?), want one of user, assistant, system, developer; rules ignore the message (once)`},
		},
		{
			"a role of opencode", `{"info":{"id":"ses_1"},"messages":[{"info":{"role":"usr"},"parts":[{"type":"text","text":"a"}]}]}`,
			[]string{`FILE: messages.0.info.role: unknown role "usr" (did you mean "user"?), want one of user, assistant; rules ignore the message (once)`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "runs.jsonl")
			if err := os.WriteFile(file, []byte(tc.lines+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, hints := range map[string][]string{"scan": scanHints(t, file), "import": importHints(t, file), "watch": watchHints(t, file)} {
				var want []string
				for _, text := range tc.want {
					if name == "watch" { // tells a name when it occurs, so without its number
						text = text[:strings.LastIndex(text, " (")]
					}
					want = append(want, strings.Replace(text, "FILE", file, 1))
				}
				if diff := cmp.Diff(want, hints); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
	t.Run("the number of names is bounded", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "runs.jsonl")
		if err := os.WriteFile(file, []byte(strings.Join(many, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		hints := scanHints(t, file)
		if last := hints[len(hints)-1]; len(hints) != maxUnknown+1 || last != "more than 16 unknown names; further names are not reported" {
			t.Errorf("%d hints, the last %q", len(hints), last)
		}
	})
}

func scanHints(t *testing.T, file string) (hints []string) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	s := Scanner{
		Profile: p, Verdict: func(*report.Run) error { return nil }, Warn: func(err error) { t.Error(err) },
		Hint: func(text string) { hints = append(hints, text) },
	}
	if _, err := s.Run(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	return hints
}

func importHints(t *testing.T, file string) (hints []string) {
	f := Importer{
		Take: func(*unloop.Event, string) error { return nil }, Warn: func(err error) { t.Error(err) },
		Hint: func(text string) { hints = append(hints, text) },
	}
	if _, err := f.Run(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	return hints
}

func watchHints(t *testing.T, file string) (hints []string) {
	f := Follower{
		Once: true, Take: func(context.Context, *unloop.Event, string) error { return nil }, Warn: func(err error) { t.Error(err) },
		Hint: func(text string) { hints = append(hints, text) },
	}
	if err := f.Run(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	return hints
}
