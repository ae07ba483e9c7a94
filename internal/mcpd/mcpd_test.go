package mcpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/goldentest"
)

// memorySource is a source that holds one looping run and one healthy one, and remembers what it was asked for.
type memorySource struct {
	runs  []api.RunSummary
	asked []int // limits
	err   error
}

func (s *memorySource) Runs(_ context.Context, limit int) ([]api.RunSummary, error) {
	s.asked = append(s.asked, limit)
	return s.runs[:min(limit, len(s.runs))], s.err
}

func (s *memorySource) Run(_ context.Context, id string) (*api.RunSummary, error) {
	for i := range s.runs {
		if s.runs[i].ID == id {
			return &s.runs[i], s.err
		}
	}
	return nil, ErrNoRun
}

func (s *memorySource) Metrics(ctx context.Context, id string) (*api.Metrics, error) {
	if _, err := s.Run(ctx, id); err != nil {
		return nil, err
	}
	return &api.Metrics{
		RunID: id, Totals: api.Totals{Events: 9, ToolCalls: 4, BusiestTool: api.OrNull("search")},
		RunVerdict: api.RunVerdict{HealthScore: 15, HealthStatus: "stuck", WorstDecision: "block"},
	}, nil
}

func (s *memorySource) Warnings(ctx context.Context, id string) ([]api.Warning, error) {
	run, err := s.Run(ctx, id)
	if err != nil || run.WarningCount == 0 {
		return nil, err
	}
	return []api.Warning{
		{Type: "long_running_step", Severity: "info", Message: "A step took 31 s", EventID: api.OrNull("e9"), Details: json.RawMessage(`{"count":9,"why":"It holds up the run.","try":"Look at it."}`)},
		{Type: "repeated_tool_call", Severity: "warning", Message: "search was called 3 times", EventID: api.OrNull("e5"), Details: json.RawMessage(`{"count":3}`)},
		{Type: "same_call", Severity: "warning", Message: "search was called 4 times with the same input", EventID: api.OrNull("e7"), Details: json.RawMessage(`{"count":4,
			"why":"The answer did not change.","try":"Use what is known, or ask another question.","first_error":"timeout",
			"changed":"nothing","evidence":[{"event_id":"e3","number":3},{"event_id":"e5","number":5},{"event_id":"e7","number":7}]}`)},
	}, nil
}

func (s *memorySource) Events(ctx context.Context, id string, limit int) ([]api.Event, error) {
	s.asked = append(s.asked, limit)
	if _, err := s.Run(ctx, id); err != nil {
		return nil, err
	}
	if id == "panics" {
		panic("the secret of a user")
	}
	return []api.Event{{ID: "e1", Type: "tool_call_started", Tool: api.OrNull("search"), Input: json.RawMessage(`{"q":1}`)}}, nil
}

func looping() *memorySource {
	run := func(id, name, status string, verdict api.RunVerdict) api.RunSummary {
		return api.RunSummary{Run: api.Run{ID: id, RunBasics: api.RunBasics{Name: name, Status: status}}, RunVerdict: verdict}
	}
	stuck := run("stuck", "nightly", "running", api.RunVerdict{HealthScore: 15, HealthStatus: "stuck", WorstDecision: "block"})
	stuck.StartedAt, stuck.RunCounts = api.OrNull("2026-01-02T03:04:05Z"), api.RunCounts{EventCount: 9, WarningCount: 3}
	return &memorySource{runs: []api.RunSummary{
		stuck,
		run("guarded", "guarded", "failed", api.RunVerdict{HealthScore: 100, HealthStatus: "healthy", WorstDecision: "halt", GuardedBy: api.OrNull("Go")}),
		run("well", "well", "completed", api.RunVerdict{HealthScore: 100, HealthStatus: "healthy", WorstDecision: "allow"}),
		run("panics", "panics", "failed", api.RunVerdict{HealthScore: 100, HealthStatus: "healthy", WorstDecision: "allow"}),
	}}
}

// connect returns a client of the SDK that talks to a server over s, in memory.
func connect(t *testing.T, s Source) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	server, err := New(s, "1.2.3").Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Wait()
	})
	return client
}

// call returns what a tool answers: the text and, decoded, the structured content.
func call(t *testing.T, c *mcp.ClientSession, tool string, args any) (text string, content any) {
	t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	if r.IsError {
		return "error: " + text, nil
	}
	return text, r.StructuredContent
}

func TestTheToolsAreReadOnly(t *testing.T) {
	c := connect(t, looping())
	got := map[string][]string{}
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Description == "" || tool.OutputSchema == nil {
			t.Errorf("%s: annotations %+v, description %q, output schema %v", tool.Name, tool.Annotations, tool.Description, tool.OutputSchema)
		}
		got[tool.Name] = []string{}
		properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for _, name := range []string{"limit", "run_id"} {
			if properties[name] != nil {
				got[tool.Name] = append(got[tool.Name], name)
			}
		}
	}
	want := map[string][]string{
		"list_runs": {"limit"}, "latest_run_diagnosis": {}, "get_run_diagnosis": {"run_id"}, "get_run_warnings": {"run_id"},
		"get_run_metrics": {"run_id"}, "get_run_events": {"limit", "run_id"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if i := c.InitializeResult(); i.ServerInfo.Name != "unloop" || i.ServerInfo.Version != "1.2.3" || i.Instructions == "" {
		t.Errorf("server: %+v", i)
	}
}

// TestAnswers holds the answers to those in testdata, which -update writes anew.
func TestAnswers(t *testing.T) {
	c := connect(t, looping())
	for name, ask := range map[string]struct {
		tool string
		args any
	}{
		"list_runs":             {"list_runs", nil},
		"latest_run_diagnosis":  {"latest_run_diagnosis", nil},
		"healthy_run_diagnosis": {"get_run_diagnosis", map[string]any{"run_id": "well"}},
		"guarded_run_diagnosis": {"get_run_diagnosis", map[string]any{"run_id": "guarded"}},
		"get_run_warnings":      {"get_run_warnings", map[string]any{"run_id": "stuck"}},
		"no_warnings":           {"get_run_warnings", map[string]any{"run_id": "well"}},
		"get_run_metrics":       {"get_run_metrics", map[string]any{"run_id": "stuck"}},
		"get_run_events":        {"get_run_events", map[string]any{"run_id": "stuck"}},
		"no_run":                {"get_run_diagnosis", map[string]any{"run_id": "gone"}},
		"no_events_of_no_run":   {"get_run_events", map[string]any{"run_id": "gone"}},
		"no_id":                 {"get_run_metrics", nil},
		"a_panic":               {"get_run_events", map[string]any{"run_id": "panics"}},
	} {
		text, content := call(t, c, ask.tool, ask.args)
		var got strings.Builder
		if !strings.HasPrefix(text, "{") { // else it is the content once more
			got.WriteString(text + "\n---\n")
		}
		e := json.NewEncoder(&got)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(content); err != nil {
			t.Fatal(err)
		}
		goldentest.Compare(t, filepath.Join("testdata", name+".txt"), []byte(got.String()))
	}
}

func TestErrorsNameLimitsOutOfRange(t *testing.T) {
	s := looping()
	c := connect(t, s)
	for _, limit := range []int{-4, 0, 1001, 100_000} {
		want := fmt.Sprintf("error: limit is %d; it must be from 1 to 1000", limit)
		for _, tool := range []string{"list_runs", "get_run_events"} {
			args := map[string]any{"limit": limit}
			if tool == "get_run_events" {
				args["run_id"] = "stuck"
			}
			if text, _ := call(t, c, tool, args); text != want {
				t.Errorf("%s of %d: %q, want %q", tool, limit, text, want)
			}
		}
	}
	for _, limit := range []int{1, 1000} {
		call(t, c, "list_runs", map[string]any{"limit": limit})
		call(t, c, "get_run_events", map[string]any{"run_id": "stuck", "limit": limit})
	}
	call(t, c, "list_runs", nil)
	call(t, c, "get_run_events", map[string]any{"run_id": "stuck"})
	if diff := cmp.Diff([]int{1, 1, 1000, 1000, 20, 100}, s.asked); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestAnUnknownRunAndABrokenSourceAreErrors(t *testing.T) {
	if text, _ := call(t, connect(t, &memorySource{}), "latest_run_diagnosis", nil); text != "error: there are no runs yet" {
		t.Errorf("without runs: %q", text)
	}
	if _, content := call(t, connect(t, &memorySource{}), "list_runs", nil); cmp.Diff(map[string]any{"result": []any{}}, content) != "" {
		t.Errorf("without runs: %v", content)
	}
	broken := &memorySource{err: errors.New("the disk is gone")}
	for _, tool := range []string{"latest_run_diagnosis", "list_runs"} {
		if text, _ := call(t, connect(t, broken), tool, nil); text != "error: the disk is gone" {
			t.Errorf("%s of a broken source: %q", tool, text)
		}
	}
}

func TestOverHTTP(t *testing.T) {
	server := httptest.NewServer(Handler(New(looping(), "1.2.3")))
	defer server.Close()
	for name, o := range map[string]*mcp.ClientSessionOptions{
		"the newest revision": nil,
		"an old revision":     {ProtocolVersion: "2025-06-18"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{Endpoint: server.URL}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if o != nil && c.InitializeResult().ProtocolVersion != o.ProtocolVersion {
				t.Errorf("revision %s", c.InitializeResult().ProtocolVersion)
			}
			if text, _ := call(t, c, "latest_run_diagnosis", nil); !strings.HasPrefix(text, "Stuck: ") {
				t.Errorf("answered %q", text)
			}
		})
	}
}

func TestInvalidRequestsAreRejectedOverHTTP(t *testing.T) {
	server := httptest.NewServer(Handler(New(looping(), "1.2.3")))
	defer server.Close()
	for name, c := range map[string]struct {
		body []byte
		want int
	}{
		"noise":    {[]byte("GET"), http.StatusBadRequest},
		"too long": {bytes.Repeat([]byte(" "), maxRequest+1), http.StatusRequestEntityTooLarge},
		"deep":     {bytes.Repeat([]byte("["), 100_000), http.StatusBadRequest},
	} {
		request, err := http.NewRequest(http.MethodPost, server.URL, bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
}

func TestOverStreamsALineForEachMessage(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), New(looping(), "1.2.3"), in, out) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := call(t, c, "get_run_diagnosis", map[string]any{"run_id": "well"}); !strings.HasPrefix(text, "No loop was found.") {
		t.Errorf("answered %q", text)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("the client has disconnected: %v", err)
	}
}

func TestAnInvalidLineIsAnsweredAndTheNextIsRead(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	lines := []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		"garbage", "", "{}", "7", "[]", `{"jsonrpc":"2.0"} {}`, "{\"jsonrpc\":\"2.0\",\"method\":", strings.Repeat("x", maxRequest+10_000), list + "\r", "more garbage",
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), New(looping(), "1.2.3"), in, out) }()
	go func() { _, _ = io.WriteString(toServer, strings.Join(lines, "\n")+"\n") }() // what is answered is looked at below
	var codes []string
	answers := bufio.NewScanner(fromServer)
	for len(codes) < 10 && answers.Scan() {
		var a struct {
			ID    *int
			Error struct{ Code int }
		}
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil {
			t.Fatalf("%v in %q", err, answers.Text())
		}
		said := fmt.Sprint("null ", a.Error.Code)
		if a.ID != nil {
			said = fmt.Sprint(*a.ID, " ", a.Error.Code)
		}
		codes = append(codes, said)
	}
	if err := errors.Join(toServer.Close(), <-served); err != nil {
		t.Errorf("the client has disconnected: %v", err)
	}
	slices.Sort(codes) // answers to requests are given when they are ready
	want := []string{"0 0", "1 0", "null -32600", "null -32600", "null -32600", "null -32600", "null -32700", "null -32700", "null -32700", "null -32700"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("ids and codes (-want +got):\n%s", diff)
	}
}
