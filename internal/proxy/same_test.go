package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/hook"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/openai"
	"github.com/unloop-ai/unloop/internal/ingest/otlp"
	"github.com/unloop-ai/unloop/profile"
)

// step is a call of a run with its result.
type step struct{ command, result string }

// works are runs of all sorts: what an agent does, step by step.
var works = map[string][]step{
	"a call with the same result again and again": repeat(12, func(int) step { return step{"make", "make: *** no rule to make target all"} }),
	"a call whose result changes in its numbers":  repeat(12, func(i int) step { return step{"make", fmt.Sprintf("error 17 after %d ms", 100+i*7)} }),
	"two calls in turns": repeat(16, func(i int) step {
		return [2]step{{"cat a.go", "package a"}, {"cat b.go", "package b"}}[i%2]
	}),
	"three calls in turns": repeat(24, func(i int) step {
		return [3]step{{"go build", "ok"}, {"go test", "--- FAIL: TestParse"}, {"git diff", "- a + b"}}[i%3]
	}),
	"other arguments and nothing found": repeat(20, func(i int) step { return step{fmt.Sprintf("grep word%d", i), "no results"} }),
	"polling for a job":                 repeat(30, func(int) step { return step{"status 4711", "running"} }),
	"counting down":                     repeat(20, func(i int) step { return step{"status 4711", fmt.Sprintf("%d items left", 100-i*5)} }),
	"progress": repeat(20, func(i int) step {
		return step{fmt.Sprintf("cat file%d.go", i), fmt.Sprintf("package part%d\nfunc F%d() { use(%q) }", i, i, strings.Repeat(string(rune('a'+i)), 9))}
	}),
	"one step": {{"ls", "a.go"}},
}

func repeat(n int, make func(int) step) (all []step) {
	for i := range n {
		all = append(all, make(i))
	}
	return all
}

// verdictOf is what must be the same of a finding.
type verdictOf struct {
	Rule, Subject, Severity string
	Count                   int
}

func verdictsOf(findings []unloop.Finding) (all []verdictOf) {
	for _, f := range findings {
		all = append(all, verdictOf{f.Rule, f.Subject, string(f.Severity), f.Count})
	}
	return all
}

// guarded returns what a guard finds, and the steps up to the call that it blocks.
func guarded(t *testing.T, p *profile.Profile, steps []step) ([]verdictOf, []step) {
	t.Helper()
	g := guard.New(p, guard.Options{Run: "r"})
	g.Text(t.Context(), unloop.RoleUser, "", "fix the build")
	var found []verdictOf
	for i, s := range steps {
		call := guard.Call{ID: fmt.Sprint("call_", i+1), Tool: "bash", Args: encode(map[string]string{"command": s.command})}
		if g.Before(t.Context(), call).Stops() {
			return found, steps[:i]
		}
		result, err := json.Marshal(s.result)
		if err != nil {
			t.Fatal(err)
		}
		g.After(t.Context(), call, guard.Outcome{Result: result})
		found = verdictsOf(g.State().Warnings)
	}
	return found, steps
}

// scanned returns what a scan of the run's file finds.
func scanned(t *testing.T, p *profile.Profile, steps []step) []verdictOf {
	t.Helper()
	d := dialects["chat"]
	items := []string{d.says("fix the build")}
	for i, s := range steps {
		items = append(items, d.calls(fmt.Sprint("call_", i+1), s.command, s.result)...)
	}
	session := p.NewSession("r")
	in := ingest.NewInput("run.json", "r", strings.NewReader(d.body(items, false)))
	if err := openai.Format().Decode(in, func(e *unloop.Event) error { session.Add(e); return nil }); err != nil {
		t.Fatal(err)
	}
	return verdictsOf(session.Warnings())
}

// proxied returns what a proxy finds that passes the run's requests.
func proxied(t *testing.T, d dialect, steps []step) []verdictOf {
	t.Helper()
	u := newUpstream(t)
	s, p := start(t, u, func(o *Options) { o.Mode = Observe })
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
	a.ask()
	for _, s := range steps {
		a.call(s.command, s.result)
		a.ask()
	}
	kept := p.conversations.kept.Values()
	if len(kept) != 1 {
		t.Fatalf("%d conversations, want 1", len(kept))
	}
	return verdictsOf(kept[0].conversation.session.Warnings())
}

// hooked returns what the hook of a coding agent finds that is run at each call and each result.
func hooked(t *testing.T, steps []step) []verdictOf {
	t.Helper()
	home := t.TempDir()
	h := hook.Hook{
		Folder: hook.Folder(filepath.Join(home, "hooks")), Agent: hook.Claude, Mode: hook.Shadow, Now: time.Now,
		Env: func(name string) string { return map[string]string{"HOME": home, "XDG_CONFIG_HOME": home}[name] },
	}
	run := func(event string, more map[string]any) {
		input := map[string]any{"session_id": "s", "hook_event_name": event, "cwd": home}
		maps.Copy(input, more)
		h.Run(t.Context(), bytes.NewReader(encode(input)), io.Discard)
	}
	run("UserPromptSubmit", map[string]any{"prompt": "fix the build"})
	for i, s := range steps {
		call := map[string]any{"tool_name": "bash", "tool_use_id": fmt.Sprint("call_", i+1), "tool_input": map[string]string{"command": s.command}}
		run("PreToolUse", call)
		call["tool_response"] = s.result
		run("PostToolUse", call)
	}
	run("Stop", nil) // the hook folds a result with the next event, when it knows what was said between
	_, state, err := h.Folder.Find("s")
	if err != nil {
		t.Fatal(err)
	}
	return verdictsOf(state.Warnings)
}

// traced returns what a scan finds of the run's spans, in OTLP as the conventions for generative AI name their attributes.
func traced(t *testing.T, p *profile.Profile, steps []step) []verdictOf {
	t.Helper()
	var spans []any
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, s := range steps {
		var attributes []any
		for name, value := range map[string]string{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": fmt.Sprint("call_", i+1),
			"gen_ai.tool.call.arguments": string(encode(map[string]string{"command": s.command})), "gen_ai.tool.call.result": string(encode(s.result)),
		} {
			attributes = append(attributes, map[string]any{"key": name, "value": map[string]string{"stringValue": value}})
		}
		at := begun.Add(time.Duration(i) * time.Second).UnixNano()
		spans = append(spans, map[string]any{
			"traceId": "5b000000000000000000000000000001", "spanId": fmt.Sprintf("%016x", i+1), "name": "execute_tool bash", "kind": 1,
			"startTimeUnixNano": fmt.Sprint(at), "endTimeUnixNano": fmt.Sprint(at + 1e6), "attributes": attributes,
		})
	}
	text := encode(map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": spans}}}}})
	session := p.NewSession("r")
	in := ingest.NewInput("run.json", "r", bytes.NewReader(text))
	if err := otlp.Format().Decode(in, func(e *unloop.Event) error { session.Add(e); return nil }); err != nil {
		t.Fatal(err)
	}
	return verdictsOf(session.Warnings())
}

// seen returns the verdicts without stalled_steps, whose estimate depends on messages of persons. Spans of tools do not have them.
func seen(verdicts []verdictOf) []verdictOf {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v verdictOf) bool { return v.Rule == "stalled_steps" })
}

func TestScanGuardHookProxyAndSpansFindTheSame(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	loops := 0
	for name, steps := range works {
		t.Run(name, func(t *testing.T) {
			want, steps := guarded(t, p, steps)
			loops += min(1, len(want))
			if diff := cmp.Diff(want, scanned(t, p, steps)); diff != "" {
				t.Errorf("guard and scan differ (-guard +scan):\n%s", diff)
			}
			if diff := cmp.Diff(want, hooked(t, steps)); diff != "" {
				t.Errorf("guard and hook differ (-guard +hook):\n%s", diff)
			}
			if diff := cmp.Diff(seen(want), seen(traced(t, p, steps))); diff != "" {
				t.Errorf("guard and a scan of spans differ (-guard +spans):\n%s", diff)
			}
			for api, d := range dialects {
				if diff := cmp.Diff(want, proxied(t, d, steps)); diff != "" {
					t.Errorf("guard and proxy in front of %s differ (-guard +proxy):\n%s", api, diff)
				}
			}
		})
	}
	if loops < 4 || loops == len(works) {
		t.Errorf("%d of %d works have findings: the table shows little", loops, len(works))
	}
}
