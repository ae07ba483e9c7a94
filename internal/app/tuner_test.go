package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
)

// failing sends a run whose agent fails n times in a row with read_file, and labels it.
func failing(t *testing.T, url, run, label string, n int) {
	t.Helper()
	post(t, url+"/api/events", "application/x-ndjson", failures(run, n))
	post(t, url+"/api/acts", "application/json", fmt.Appendf(nil, `{"action":"label","run_id":%q,"value":%q}`, run, label))
}

// failures returns the events of a run whose agent fails n times in a row with read_file.
func failures(run string, n int) []byte {
	lines := []string{fmt.Sprintf(`{"event_id":"%s-0","run_id":%q,"sequence":1,"type":"run_started"}`, run, run)}
	for k := range n {
		lines = append(lines,
			fmt.Sprintf(`{"event_id":"%s-s%d","run_id":%q,"sequence":%d,"type":"tool_call_started","tool":"read_file","call_id":"c%d","input":{"path":"a/%d.go"}}`, run, k, run, 2*k+2, k, k),
			fmt.Sprintf(`{"event_id":"%s-e%d","run_id":%q,"sequence":%d,"type":"tool_call_failed","tool":"read_file","call_id":"c%d","error":"permission denied"}`, run, k, run, 2*k+3, k))
	}
	return []byte(strings.Join(lines, "\n"))
}

// serveFile runs a server with a configuration file until the test ends, and returns its URL.
func serveFile(t *testing.T, file string) string { return serveFileAt(t, file).URL }

// serveFileAt is serveFile. It returns all addresses.
func serveFileAt(t *testing.T, file string) (at Addresses) {
	t.Helper()
	loaded, err := config.Load(config.Source{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Addr, loaded.GRPCAddr, loaded.DB = "127.0.0.1:0", config.Off, filepath.Join(t.TempDir(), "test.db")
	ready := make(chan Addresses, 1)
	ctx, stop := context.WithCancel(context.Background())
	s := Serve{Config: loaded.Config, File: loaded.File, Log: slog.New(slog.DiscardHandler), Ready: func(a Addresses) { ready <- a }}
	serving := begin(func() error { return s.Run(ctx) })
	t.Cleanup(func() {
		stop()
		if err := serving.wait(); err != nil {
			t.Error(err)
		}
	})
	select {
	case at = <-ready:
	case <-serving.done:
		t.Fatal(serving.err)
	}
	return at
}

func TestASuggestedThresholdIsAppliedAndHoldsAfterTheNextStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "unloop.yaml")
	if err := os.WriteFile(file, []byte("project: web # of ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveFile(t, file)
	failing(t, url, "wait-1", "not_a_loop", 4)
	failing(t, url, "wait-2", "not_a_loop", 5)
	failing(t, url, "stuck", "loop", 30)
	got := decoded[api.Suggestions](t, get(t, url+"/api/suggestions"))
	if !got.Complete || got.Labels != 3 || got.File != file || !got.Writable || len(got.Suggestions) == 0 {
		t.Fatalf("%+v", got)
	}
	for _, s := range got.Suggestions {
		if len(s.Kept) != 1 && s.Rule == "same_error" || len(s.Dropped) == 0 || s.Value <= s.Present {
			t.Errorf("suggestion %+v", s)
		}
	}
	s := got.Suggestions[0]
	post(t, url+"/api/suggestions/apply", "application/json", fmt.Appendf(nil, `{"tool":%q,"setting":%q,"value":%v}`, s.Tool, s.Setting, s.Value))
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "project: web # of ours\n") || !strings.Contains(string(text), s.Setting) {
		t.Fatalf("%v, the file is\n%s", err, text)
	}
	for name, server := range map[string]string{"new": url, "restarted": serveFile(t, file)} {
		for _, like := range s.Dropped {
			run := name + "-" + like
			failing(t, server, run, "not_a_loop", map[string]int{"wait-1": 4, "wait-2": 5}[like])
			for _, w := range decoded[[]api.Warning](t, get(t, server+"/api/runs/"+run+"/warnings")) {
				if w.Type == s.Rule && w.Tool != nil && *w.Tool == s.Tool {
					t.Errorf("run %s has the warning %+v", run, w)
				}
			}
		}
	}
	if next := decoded[api.Suggestions](t, get(t, url+"/api/suggestions")); len(next.Suggestions) > 0 && next.Suggestions[0].Present == s.Present && next.Suggestions[0].Setting == s.Setting {
		t.Errorf("the same suggestion again: %+v", next.Suggestions[0])
	}
}

func TestAnAppliedSettingHoldsForGuardsOverHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "unloop.yaml")
	if err := os.WriteFile(file, []byte("project: web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveFile(t, file)
	// failuresUntilNudged returns how many calls of a run fail alike before the guard says something.
	failuresUntilNudged := func(run string) int {
		for k := range 12 {
			call := fmt.Sprintf(`"run":%q,"tool":"read_file","args":{"path":"a/%d.go"}`, run, k)
			told := ask(t, url+"/api/guard", `{"op":"before",`+call+`}`, `{"op":"after",`+call+`,"error":"permission denied"}`)
			if strings.Contains(told[1], `"same_error"`) {
				return k + 1
			}
		}
		return 0
	}
	before := failuresUntilNudged("before")
	post(t, url+"/api/suggestions/apply", "application/json", fmt.Appendf(nil, `{"setting":"same_errors","value":%d}`, before+2))
	if after := failuresUntilNudged("after"); before == 0 || after != before+2 {
		t.Errorf("the guard nudges after %d failures, and after %d with a limit of %d", before, after, before+2)
	}
}

func TestAnAppliedSettingHoldsForNewRunsOfTheProxy(t *testing.T) {
	var asked string // the body of the latest request that reached the model
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if asked = string(body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(upstream.Close)
	file := filepath.Join(t.TempDir(), "unloop.yaml")
	text := fmt.Sprintf("proxy:\n  addr: 127.0.0.1:0\n  mode: nudge\n  openai_upstream: %s\n", upstream.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := serveFileAt(t, file)
	// callsUntilNudged returns how many equal calls a run makes before the proxy says something.
	callsUntilNudged := func(task string) int {
		history := fmt.Sprintf(`{"role":"user","content":%q}`, task)
		for k := range 12 {
			post(t, "http://"+at.Proxy+"/openai/v1/chat/completions", "application/json", []byte(`{"model":"m","messages":[`+history+`]}`))
			if strings.Contains(asked, "[unloop] ") {
				return k
			}
			history += fmt.Sprintf(`,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]},`+
				`{"role":"tool","tool_call_id":"c%d","content":"the same"}`, k, k)
		}
		return 0
	}
	before := callsUntilNudged("before")
	post(t, at.URL+"/api/suggestions/apply", "application/json", []byte(`{"setting":"repeat_weight","value":9}`))
	if after := callsUntilNudged("after"); before == 0 || after != 0 && after <= before {
		t.Errorf("the proxy nudges after %d calls, and after %d with a higher limit", before, after)
	}
}

func TestASettingIsNotAppliedWithoutAFile(t *testing.T) {
	url := serve(t, nil)
	answer, err := http.Post(url+"/api/suggestions/apply", "application/json", strings.NewReader(`{"setting":"same_errors","value":6}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusConflict || !strings.Contains(string(body), "no configuration file") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}

func TestTheShadowProfileIsJudgedAndNotActedOn(t *testing.T) {
	url := serve(t, func(c *config.Config) { c.Shadow = config.Shadow{Profile: "loopguard"} })
	stuck(t, url, "r")
	recorded := decoded[[]api.Decision](t, get(t, url+"/api/runs/r/decisions"))
	got := decoded[api.Shadow](t, get(t, url+"/api/runs/r/shadow"))
	_, answer := askAgain(t, url, "r", `{"profile":"loopguard"}`)
	want := decoded[api.Replay](t, answer)
	if !got.Configured || got.Replay == nil || got.Replay.Profile != "loopguard" || len(got.Replay.Decisions) == 0 || len(got.Replay.Decisions) != len(want.Decisions) {
		t.Errorf("shadow %+v, want the decisions of %+v", got.Replay, want)
	}
	if after := decoded[[]api.Decision](t, get(t, url+"/api/runs/r/decisions")); len(after) != len(recorded) {
		t.Errorf("%d decisions are recorded, %d were", len(after), len(recorded))
	}
}

func TestTheShadowProfileJudgesAllRuns(t *testing.T) {
	url := serve(t, func(c *config.Config) {
		c.Shadow = config.Shadow{Profile: "default", Settings: config.Settings{"same_errors": "50"}}
	})
	stuck(t, url, "stuck")
	post(t, url+"/api/events", "application/x-ndjson", failures("brief", 2))
	var got api.ShadowRuns
	eventually(t, time.Minute, "both runs are judged", func() bool {
		got = decoded[api.ShadowRuns](t, get(t, url+"/api/shadow"))
		return got.Judged == 2
	})
	if !got.Configured || got.Profile != "default" || got.Runs != 2 || got.TooLong != 0 {
		t.Errorf("%+v", got)
	}
	recorded := decoded[api.RunSummary](t, get(t, url+"/api/runs/stuck")).WorstDecision
	shadow := decoded[api.Shadow](t, get(t, url+"/api/runs/stuck/shadow")).Replay
	all := decoded[api.ShadowRuns](t, get(t, url+"/api/shadow?decision="+recorded+"&shadow_decision="+shadow.WorstDecision))
	if len(all.Items) != 1 || all.Items[0].RunID != "stuck" || all.Items[0].StartedAt == nil || all.Items[0].EventNumber == nil || *all.Items[0].EventNumber != shadow.Decisions[0].EventNumber {
		t.Errorf("%+v, want the first decision of %+v", all.Items, shadow.Decisions)
	}
	post(t, url+"/api/events", "application/x-ndjson", failures("late", 30))
	eventually(t, time.Minute, "a new run is judged", func() bool {
		return decoded[api.ShadowRuns](t, get(t, url+"/api/shadow")).Judged == 3
	})
}
