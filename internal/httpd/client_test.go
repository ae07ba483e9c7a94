package httpd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

// python returns the path of a Python with the published client.
func python(t *testing.T) string {
	t.Helper()
	var wrong bytes.Buffer
	c := exec.Command("../../scripts/python-env", "../../sdk/python/requirements-test.txt")
	c.Stderr = &wrong
	path, err := c.Output()
	if err != nil {
		t.Fatalf("make a Python with the published client: %v\n%s", err, wrong.String())
	}
	return strings.TrimSpace(string(path))
}

// client runs the published client against a test server, and returns what it printed. Nothing may be left over in its folder for
// events that it could not send.
func client(t *testing.T, h *testServer, arguments ...string) string {
	t.Helper()
	left := t.TempDir()
	c := exec.Command(python(t), arguments...)
	c.Env = append(os.Environ(), "LOOPLENS_ENDPOINT="+h.listen().URL, "LOOPLENS_DEBUG=1", "LOOPLENS_TRACE_DIR="+left, "LOOPLENS_TIMEOUT=10",
		"LANGSMITH_TRACING=false", "NO_COLOR=1")
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, said)
	}
	if files, err := filepath.Glob(left + "/*.jsonl"); err != nil || len(files) > 0 {
		t.Errorf("unsent events: %v, %v\n%s", files, err, said)
	}
	return string(said)
}

// types counts a run's events by type.
func types(h *testServer, run string) map[string]int {
	counts := map[string]int{}
	for _, e := range get[[]api.Event](h, "/api/runs/"+run+"/events") {
		counts[e.Type]++
	}
	return counts
}

func hasWarning(h *testServer, run, about string) bool {
	for _, w := range get[[]api.Warning](h, "/api/runs/"+run+"/warnings") {
		if w.Tool != nil && *w.Tool == about {
			return true
		}
	}
	return false
}

func TestThePublishedClientWorksWithTheServer(t *testing.T) {
	h := newTestServer(t, nil)
	client(t, h, "testdata/sdk_agent.py")
	run := get[api.RunSummary](h, "/api/runs/sdk-run")
	if run.Name != "research-agent" || run.Project != "lab" || run.Status != "completed" || string(canonical(run.Metadata)) != `{"level":3,"team":"loops"}` ||
		run.Tokens != 321 || run.Cost != 0.004 || run.EndedAt == nil {
		t.Errorf("%+v", run)
	}
	want := map[string]int{
		"run_started": 1, "run_completed": 1, "llm_call_started": 1, "llm_call_completed": 1, "tool_call_started": 8, "tool_call_completed": 7,
		"tool_call_failed": 1, "retry_triggered": 1, "handoff_started": 1,
	}
	if diff := cmp.Diff(want, types(h, "sdk-run")); diff != "" {
		t.Error(diff)
	}
	events := get[[]api.Event](h, "/api/runs/sdk-run/events")
	if e := events[2]; string(canonical(e.Metadata)) != `{"temperature":0.5}` || *e.Tokens != 321 || *e.Latency != 12 || *e.Sequence != 3 {
		t.Errorf("the model call: %+v", e)
	}
	if !hasWarning(h, "sdk-run", "web_search") || hasWarning(h, "sdk-run", "divide") {
		t.Errorf("warnings: %+v", get[[]api.Warning](h, "/api/runs/sdk-run/warnings"))
	}
	if failed := get[api.RunSummary](h, "/api/runs/sdk-failed"); failed.Status != "failed" || failed.HealthStatus != "healthy" {
		t.Errorf("the failed run: %+v", failed)
	}
	if runs := get[[]api.RunSummary](h, "/api/runs"); len(runs) != 3 {
		t.Errorf("%d runs, want those two and the one around them: %+v", len(runs), runs)
	}
}

func TestThePublishedLangGraphAdapterWorksWithTheServer(t *testing.T) {
	h := newTestServer(t, nil)
	client(t, h, "testdata/langgraph_agent.py")
	runs := get[[]api.RunSummary](h, "/api/runs")
	if len(runs) != 1 || runs[0].Name != "graph-agent" || runs[0].Project != "graphs" || runs[0].Status != "completed" || !strings.HasPrefix(runs[0].ID, "lg-") {
		t.Fatalf("%+v", runs)
	}
	want := map[string]int{
		"run_started": 1, "run_completed": 1, "llm_call_started": 8, "llm_call_completed": 8, "tool_call_started": 7, "tool_call_completed": 7, "handoff_started": 1,
	}
	if diff := cmp.Diff(want, types(h, runs[0].ID)); diff != "" {
		t.Error(diff)
	}
	if !hasWarning(h, runs[0].ID, "search") || runs[0].Tokens != 105 {
		t.Errorf("%+v, warnings %+v", runs[0], get[[]api.Warning](h, "/api/runs/"+runs[0].ID+"/warnings"))
	}
}

func TestThePublishedCommandsWorkWithTheServer(t *testing.T) {
	h := newTestServer(t, nil)
	if said := client(t, h, "-m", "looplens.cli", "doctor"); !strings.Contains(said, "[ok]   server reachable (version 1.2.3)") ||
		!strings.Contains(said, "SDK round-trip - 4 events delivered") || !strings.Contains(said, "All checks passed.") {
		t.Errorf("doctor: %s", said)
	}
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(looping("imported", 6), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := client(t, h, "-m", "looplens.cli", "import", file); !strings.Contains(said, "Imported 13 events") {
		t.Errorf("import: %s", said)
	}
	var lines int
	for line := range strings.Lines(client(t, h, "-m", "looplens.cli", "export", "imported")) {
		var e api.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.RunID != "imported" {
			t.Errorf("export: %v in %s", err, line)
		}
		lines++
	}
	if lines != 13 {
		t.Errorf("export: %d lines, want 13", lines)
	}
}
