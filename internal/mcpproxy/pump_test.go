package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// searchInput is what the tool of the tests takes.
type searchInput struct {
	Query string `json:"query"`
}

// connect returns a client of the SDK that reaches a server of the SDK through the proxy, and counts the calls that reach the
// server.
func connect(t *testing.T, shadow bool, answer func(query string) *mcp.CallToolResult) (*mcp.ClientSession, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in searchInput) (*mcp.CallToolResult, any, error) {
			calls.Add(1)
			return answer(in.Query), nil, nil
		})
	clientSide, proxyFront := mcp.NewInMemoryTransports()
	proxyBack, serverSide := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), serverSide, nil); err != nil {
		t.Fatal(err)
	}
	front := endOf(t, proxyFront)
	back := endOf(t, proxyBack)
	p, err := profile.Load(profile.Source{Name: profile.Default, Config: []byte(fmt.Sprintf("shadow: %t", shadow))})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	session := NewSession(p, Options{})
	go func() { ended <- Pump(context.WithoutCancel(t.Context()), session, front, back) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-ended; err != nil {
			t.Errorf("the pump ended with %v", err)
		}
	})
	return client, &calls
}

// text returns the texts of a result.
func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

func says(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func TestARepeatedCallIsNudgedThenBlocked(t *testing.T) {
	client, calls := connect(t, false, func(string) *mcp.CallToolResult { return says("no results") })
	if _, err := client.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	nudged := 0
	for i := range 40 {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "loops"}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.IsError:
			if int64(i) != calls.Load() || !strings.HasPrefix(text(r), prefix) {
				t.Errorf("call %d was blocked with %q after %d calls reached the server", i, text(r), calls.Load())
			}
			if nudged == 0 {
				t.Error("the call was blocked without a nudge before")
			}
			return
		case strings.Contains(text(r), prefix):
			nudged++
			if !strings.HasPrefix(text(r), "no results\n") {
				t.Errorf("the nudge is not behind the result: %q", text(r))
			}
		}
	}
	t.Error("the call was never blocked")
}

func TestVariedCallsWithNewResultsPass(t *testing.T) {
	client, calls := connect(t, false, func(q string) *mcp.CallToolResult { return says("a page about " + q + strings.Repeat(q, 3)) })
	for i := range 20 {
		q := fmt.Sprintf("subject %c%d", 'a'+i, i*i)
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": q}})
		if err != nil || r.IsError || strings.Contains(text(r), prefix) {
			t.Fatalf("call %d: %v, %v", i, r, err)
		}
	}
	if calls.Load() != 20 {
		t.Errorf("%d calls reached the server, want 20", calls.Load())
	}
}

func TestShadowSaysNothing(t *testing.T) {
	client, calls := connect(t, true, func(string) *mcp.CallToolResult { return says("no results") })
	for range 40 {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "loops"}})
		if err != nil || text(r) != "no results" {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if calls.Load() != 40 {
		t.Errorf("%d calls reached the server, want 40", calls.Load())
	}
}

// request returns a request as a client sends it.
func request(t *testing.T, id any, method, params string) *jsonrpc.Request {
	t.Helper()
	made, err := jsonrpc.MakeID(id)
	if err != nil {
		t.Fatal(err)
	}
	return &jsonrpc.Request{ID: made, Method: method, Params: json.RawMessage(params)}
}

func newSession(t *testing.T) *Session {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	return NewSession(p, Options{})
}

func TestWhatIsNoCallAgainIsNotCounted(t *testing.T) {
	for name, params := range map[string]string{
		"an answer to what the server asked": `{"name":"search","arguments":{"query":"x"},"inputResponses":{"a":{}}}`,
		"a state of the server":              `{"name":"search","arguments":{"query":"x"},"requestState":"s"}`,
		"no name":                            `{"arguments":{}}`,
		"no object":                          `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			for i := range 100 {
				if answer := s.Request(t.Context(), request(t, float64(i), "tools/call", params)); answer != nil {
					t.Fatalf("request %d was answered with %s", i, answer.Result)
				}
			}
			if n := s.guard.Stats().Decisions; n != 0 {
				t.Errorf("%d decisions, want none", n)
			}
		})
	}
}

func TestOtherMethodsPass(t *testing.T) {
	s := newSession(t)
	for _, method := range []string{"initialize", "server/discover", "tasks/get", "tools/list", "ping", "experimental/x"} {
		for i := range 100 {
			if answer := s.Request(t.Context(), request(t, float64(i), method, `{}`)); answer != nil {
				t.Fatalf("%s was answered with %s", method, answer.Result)
			}
		}
	}
}

func TestANudgeChangesNothingElseOfAResult(t *testing.T) {
	for name, tc := range map[string]struct{ result, want string }{
		"one text": {
			`{ "content":[{"type":"text","text":"a"}],"structuredContent":{"n":1.0},"_meta":{"x":[1,2]} }`,
			`{ "content":[{"type":"text","text":"a"},{"text":"b","type":"text"}],"structuredContent":{"n":1.0},"_meta":{"x":[1,2]} }`,
		},
		"no content":                {`{"content":[ ]}`, `{"content":[ {"text":"b","type":"text"}]}`},
		"a member named content":    {`{"_meta":{"content":[]},"content":[1]}`, `{"_meta":{"content":[]},"content":[1,{"text":"b","type":"text"}]}`},
		"a content that is no list": {`{"content":"a"}`, ""},
		"no object":                 {`7`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := appendText(json.RawMessage(tc.result), "b")
			if string(got) != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("got %s, %v; want %s", got, err, tc.want)
			}
		})
	}
}

// FuzzSession holds that no message makes the proxy panic, and that a result stays valid JSON.
func FuzzSession(f *testing.F) {
	f.Add([]byte(`{"name":"search","arguments":{"query":"x"}}`), []byte(`{"content":[{"type":"text","text":"a"}]}`))
	f.Add([]byte(`{"name":"search"}`), []byte(`{"resultType":"task","task":{"taskId":"t"}}`))
	p, err := profile.New(profile.Default)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, params, result []byte) {
		s := NewSession(p, Options{})
		for i := range 12 {
			r := request(t, float64(i), "tools/call", string(params))
			if s.Request(t.Context(), r) != nil {
				continue
			}
			answer := s.Response(t.Context(), &jsonrpc.Response{ID: r.ID, Result: result})
			if json.Valid(result) && !json.Valid(answer.Result) {
				t.Fatalf("%q became %q", result, answer.Result)
			}
		}
	})
}

func TestARunWithCallsEndsWithItsConnection(t *testing.T) {
	for _, test := range []struct {
		name  string
		calls int
		want  []unloop.EventType
	}{
		{"a connection without calls is no run", 0, nil},
		{"a connection with a call", 1, []unloop.EventType{unloop.ToolCallStarted, unloop.RunCompleted}},
		{"a halted run", 30, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := profile.New(profile.Default)
			if err != nil {
				t.Fatal(err)
			}
			var types []unloop.EventType
			s := NewSession(p, Options{Run: "r", Record: func(e *unloop.Event) { types = append(types, e.Type) }})
			for k := range test.calls {
				id, err := jsonrpc.MakeID(fmt.Sprint(k))
				if err != nil {
					t.Fatal(err)
				}
				s.Request(t.Context(), &jsonrpc.Request{ID: id, Method: "tools/call", Params: json.RawMessage(`{"name":"search","arguments":{}}`)})
				if test.calls > 1 {
					s.Response(t.Context(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`{"content":[{"type":"text","text":"nothing"}]}`)})
				}
			}
			pumpClosed(t, s)
			if test.want == nil && test.calls > 0 {
				types, test.want = types[len(types)-1:], []unloop.EventType{unloop.RunCompleted}
			}
			if diff := cmp.Diff(test.want, types); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// pumpClosed runs Pump for a client that has closed its connection.
func pumpClosed(t *testing.T, s *Session) {
	t.Helper()
	clientSide, proxyFront := mcp.NewInMemoryTransports()
	proxyBack, _ := mcp.NewInMemoryTransports()
	client := endOf(t, clientSide)
	front := endOf(t, proxyFront)
	back := endOf(t, proxyBack)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Pump(t.Context(), s, front, back); err != nil {
		t.Error(err)
	}
}

// endOf returns the connection of one end of a transport in memory.
func endOf(t *testing.T, transport mcp.Transport) mcp.Connection {
	t.Helper()
	connection, err := transport.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

// side is a side of the pump that a test plays.
type side struct {
	mcp.Connection
	read  func() (jsonrpc.Message, error)
	write func(jsonrpc.Message)
}

func (s side) Read(context.Context) (jsonrpc.Message, error) { return s.read() }

func (s side) Write(_ context.Context, m jsonrpc.Message) error {
	s.write(m)
	return nil
}

func TestACallThatIsCanceledAtOnceDuringAPauseDoesNotReachTheServer(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // the goroutine that waits begins sooner or later
		var order func(*unloop.Event)
		s := NewSession(p, Options{Run: "r", Controls: func(_ string, take func(*unloop.Event)) func() {
			order = take
			return func() {}
		}})
		order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlPause})
		sent := []jsonrpc.Message{
			request(t, float64(1), "tools/call", `{"name":"search","arguments":{}}`),
			&jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":1}`)},
		}
		ended := make(chan jsonrpc.Message, 1)
		client := side{read: func() (m jsonrpc.Message, err error) {
			if len(sent) == 0 {
				order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlResume})
				if _, ok := (<-ended).(*jsonrpc.Response); !ok {
					t.Error("the call reached the server")
				}
				return nil, io.EOF
			}
			m, sent = sent[0], sent[1:]
			return m, nil
		}, write: func(m jsonrpc.Message) { ended <- m }}
		server := side{write: func(m jsonrpc.Message) {
			if r, ok := m.(*jsonrpc.Request); ok && r.Method == "tools/call" {
				ended <- m
			}
		}}
		if err := s.passRequests(t.Context(), client, server); err != io.EOF {
			t.Fatal(err)
		}
	}
}
