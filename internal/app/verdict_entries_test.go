package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/internal/scan"
	"github.com/unloop-ai/unloop/profile"
)

// exchange is a call of an agent with its result.
type exchange struct{ tool, args, result string }

// deniedAgent is refused in the same way again and again. It asks for a new token now and then, which is a secret.
func deniedAgent() (calls []exchange) {
	for k := range 44 {
		switch {
		case k%9 == 8:
			calls = append(calls, exchange{"refresh_token", `{}`, fmt.Sprintf(`{"token": "tok_%024x", "expires_in": 3600}`, 0x48e67a0f2442a1+k*0x3f1d9c6b751)})
		case k%6 == 5:
			calls = append(calls, exchange{"whoami", `{}`, `{"id": "svc_agent", "roles": ["reader"]}`})
		default:
			calls = append(calls, exchange{
				"add_member", fmt.Sprintf(`{"project": %q, "user": "u_81", "role": %q}`, []string{"apollo", "prj_apollo", "Apollo"}[k%3], []string{"admin", "editor", "viewer", "member", "read"}[k%5]),
				fmt.Sprintf(`{"error": {"code": 403, "message": "Caller lacks permission projects.members.create", "request_id": "req_%08x"}}`, 0xada0a7ef-k*0x1f3d9b7),
			})
		}
	}
	return calls
}

// waitingAgent asks for a state that does not change.
func waitingAgent() (calls []exchange) {
	for k := range 30 {
		calls = append(calls, exchange{"get_deployment", `{"id": "d-77"}`, fmt.Sprintf(`{"id": "d-77", "state": "QUEUED", "elapsed_seconds": %d, "position": null}`, 3+10*k)})
	}
	return calls
}

// openAIMessages returns calls as the messages of OpenAI's API.
func openAIMessages(t *testing.T, calls []exchange) []byte {
	t.Helper()
	type object = map[string]any
	messages := []object{{"role": "user", "content": "Do it."}}
	for k, c := range calls {
		id := fmt.Sprintf("call_%d", k)
		messages = append(
			messages, object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": c.tool, "arguments": c.args}}}},
			object{"role": "tool", "tool_call_id": id, "content": c.result},
		)
	}
	text, err := json.Marshal(object{"messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// verdictOf returns what must be equal at each entry: the decisions with their events, the warnings, and the health of a run.
func verdictOf(r *report.Run) (lines []string) {
	for _, d := range r.Decisions {
		lines = append(lines, fmt.Sprint(d.Event.ID, " ", d.Action, " ", d.Code))
	}
	for _, w := range r.Warnings {
		lines = append(lines, fmt.Sprint(w.Rule, " ", w.Subject, " ", w.Count, " ", w.Event.ID))
	}
	return append(lines, fmt.Sprint(r.Health))
}

// maskedVerdicts folds the events of a file after masking with a key. It returns the verdicts by run.
func maskedVerdicts(t *testing.T, p *profile.Profile, file string, key byte) map[string][]string {
	t.Helper()
	m, err := mask.New(mask.Settings{Key: []byte(strings.Repeat(string('a'+rune(key)), 16))})
	if err != nil {
		t.Fatal(err)
	}
	sessions, runs := make(map[string]*profile.Session), make(map[string]*report.Run)
	imported(t, file, func(e *unloop.Event, _ string) error {
		m.Event(e)
		if sessions[e.RunID] == nil {
			sessions[e.RunID], runs[e.RunID] = p.NewSession(e.RunID), new(report.Run)
		}
		s, r := sessions[e.RunID], runs[e.RunID]
		if d := s.Add(e); d.Action > 0 {
			r.Decisions = append(r.Decisions, report.Decision{Event: s.Run().Current().Ref, Action: d.Action, Code: d.Code})
		}
		return nil
	})
	verdicts := make(map[string][]string)
	for id, s := range sessions {
		for _, f := range s.Warnings() {
			runs[id].Warnings = append(runs[id].Warnings, report.Warning{Finding: f})
		}
		runs[id].Health = s.Health()
		verdicts[id] = verdictOf(runs[id])
	}
	return verdicts
}

// imported reads a file as unloop import does.
func imported(t *testing.T, file string, take func(e *unloop.Event, project string) error) {
	t.Helper()
	feed := scan.Importer{Take: take, Warn: func(err error) { t.Error(err) }}
	if _, err := feed.Run(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
}

// servedLines returns the verdict of a server on a run, in the form of verdictOf.
func servedLines(t *testing.T, url, run string) (lines []string) {
	t.Helper()
	at := url + "/api/runs/" + run
	for _, page := range pages(t, at+"/decisions", "application/json") {
		for _, d := range decoded[[]struct {
			Event  string `json:"event_id"`
			Action string `json:"action"`
			Code   string `json:"code"`
		}](t, page) {
			lines = append(lines, fmt.Sprint(d.Event, " ", d.Action, " ", d.Code))
		}
	}
	for _, w := range decoded[[]struct {
		Type    string `json:"type"`
		Subject string `json:"subject"`
		Count   int    `json:"count"`
		Event   string `json:"event_id"`
	}](t, get(t, at+"/warnings")) {
		lines = append(lines, fmt.Sprint(w.Type, " ", w.Subject, " ", w.Count, " ", w.Event))
	}
	r := decoded[struct {
		Score  int    `json:"health_score"`
		Status string `json:"loop_health_status"`
	}](t, get(t, at))
	return append(lines, fmt.Sprintf("{%d %s}", r.Score, r.Status))
}

// TestEachEntryHasTheVerdictOfAScan gives traces of several formats to a scan, to a server, which masks secrets, and to folds after masking
// with eight other keys. The decisions, the warnings and the health must be equal.
func TestEachEntryHasTheVerdictOfAScan(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, nil)
	for _, file := range append(examples(t), fileWith(t, "denied.json", openAIMessages(t, deniedAgent())), fileWith(t, "waiting.json", openAIMessages(t, waitingAgent()))) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, at := make(map[string][]string), make(map[string]string)
			for _, r := range scanAll(t, p, filepath.Base(file), data) {
				want[r.ID], at[r.ID] = verdictOf(r), r.Format
			}
			for key := range byte(8) {
				if diff := cmp.Diff(want, maskedVerdicts(t, p, file, key)); diff != "" {
					t.Errorf("after masking with key %d (-scan +masked):\n%s", key, diff)
				}
			}
			c, err := client.New(url, "")
			if err != nil {
				t.Fatal(err)
			}
			sender := c.NewSender()
			imported(t, file, func(e *unloop.Event, project string) error { return sender.AddTo(t.Context(), e, project) })
			if err := sender.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, id := range slices.Sorted(maps.Keys(want)) {
				served := servedLines(t, url, id)
				slices.Sort(want[id])
				slices.Sort(served) // the API sorts warnings by severity
				if diff := cmp.Diff(want[id], served); diff != "" {
					t.Errorf("%s of format %s (-scan +server):\n%s", id, at[id], diff)
				}
			}
		})
	}
}

// examples returns the traces of examples/, and one trace of a loop in each of several formats.
func examples(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../examples/*.jsonl", "../../examples/healthy/*.jsonl", "../ingest/*/testdata/*loop*.json*"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file (%v)", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

func fileWith(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAGuardInShadowHasTheDecisionsOfAScan gives the calls of a trace to a guard that stops nothing.
func TestAGuardInShadowHasTheDecisionsOfAScan(t *testing.T) {
	settings := profile.DefaultSettings()
	settings.Shadow = true
	p, err := profile.FromSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	for name, calls := range map[string][]exchange{"denied": deniedAgent(), "waiting": waitingAgent()} {
		t.Run(name, func(t *testing.T) {
			var want, got []string
			for _, d := range scanAll(t, p, name+".json", openAIMessages(t, calls))[0].Decisions {
				want = append(want, d.Code)
			}
			g := guard.New(p, guard.Options{})
			g.Text(t.Context(), unloop.RoleUser, "", "Do it.")
			for _, c := range calls {
				call := guard.Call{Tool: c.tool, Args: json.RawMessage(c.args)}
				result, err := json.Marshal(c.result)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range []guard.Decision{g.Before(t.Context(), call), g.After(t.Context(), call, guard.Outcome{Result: result})} {
					if d.Code != "" {
						got = append(got, d.Code)
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("-scan +guard:\n%s", diff)
			}
		})
	}
}
