package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/mcpproxy"
	"github.com/unloop-ai/unloop/profile"
)

// proxiedAgent is an agent behind the model proxy of a server.
type proxiedAgent struct {
	*controlled
	proxy   string
	history []string
	n       int

	mu   sync.Mutex
	seen []string // requests that reached the model
}

func newProxiedAgent(t *testing.T, mode string) *proxiedAgent {
	t.Helper()
	a := &proxiedAgent{history: []string{`{"role":"user","content":"find it"}`}}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"role":"assistant","content":"model"}}]}`)
	}))
	t.Cleanup(model.Close)
	at := serveAt(t, func(c *config.Config) { c.Proxy.Addr, c.Proxy.OpenAI, c.Proxy.Mode = "127.0.0.1:0", model.URL, mode })
	a.proxy = "http://" + at.Proxy + "/openai/v1/chat/completions"
	a.controlled = &controlled{t: t, base: at.URL}
	a.work()
	a.run = recordedRun(t, at.URL).ID
	a.until("proxy that listens", func(s api.ControlState) bool { return s.Listening })
	return a
}

// recordedRun waits for the only run of a server.
func recordedRun(t *testing.T, base string) api.RunSummary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var list []api.RunSummary
		if unmarshal(t, get(t, base+"/api/runs"), &list); len(list) > 0 {
			return list[0]
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("no run")
		}
	}
}

// ask sends the history until ctx is done, and returns the answer.
func (a *proxiedAgent) ask(ctx context.Context) (string, error) {
	body := `{"model":"m","messages":[` + strings.Join(a.history, ",") + `]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.proxy, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// work makes one more call with a new result, and asks the model.
func (a *proxiedAgent) work() string {
	a.t.Helper()
	a.n++
	args, _ := json.Marshal(fmt.Sprintf(`{"path":"f%d"}`, a.n))
	a.history = append(a.history,
		fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":%s}}]}`, a.n, args),
		fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"text %s"}`, a.n, strings.Repeat(string(rune('a'+a.n)), 20)))
	return a.again()
}

// again sends the same history once more.
func (a *proxiedAgent) again() string {
	a.t.Helper()
	answer, err := a.ask(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	return answer
}

// reached returns the requests that reached the model.
func (a *proxiedAgent) reached() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

func TestAPersonControlsARunOfTheModelProxy(t *testing.T) {
	for _, mode := range []string{"nudge", "observe"} {
		t.Run("in the mode "+mode, func(t *testing.T) {
			a := newProxiedAgent(t, mode)
			a.order(`{"act":"nudge","text":"Look into the archive."}`)
			a.work()
			a.again()
			a.work()
			for k, want := range []bool{false, true, true, false} {
				if got := strings.Contains(a.reached()[k], "[unloop] A person who watches this run says: Look into the archive."); got != want {
					t.Errorf("request %d has the nudge: %v", k, got)
				}
			}
			a.order(`{"act":"pause"}`)
			short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if answer, err := a.ask(short); err == nil || len(a.reached()) != 4 {
				t.Errorf("a paused run was answered with %s after %d requests", answer, len(a.reached()))
			}
			answered := make(chan string, 1)
			go func() {
				answer, err := a.ask(t.Context())
				answered <- fmt.Sprint(answer, err)
			}()
			a.order(`{"act":"resume"}`)
			if answer := <-answered; !strings.Contains(answer, `"model"`) || len(a.reached()) != 5 {
				t.Errorf("after the pause: %s", answer)
			}
			a.order(`{"act":"halt","text":"Enough."}`)
			if answer := a.again(); !strings.Contains(answer, "[unloop] A person halted this run: Enough.") || len(a.reached()) != 5 {
				t.Errorf("after the halt: %s", answer)
			}
			if answer := a.work(); !strings.Contains(answer, "A person halted this run") {
				t.Errorf("the halt does not hold: %s", answer)
			}
			a.history = append(a.history, `{"role":"user","content":"look into the archive"}`)
			if answer := a.again(); !strings.Contains(answer, `"content":"model"`) {
				t.Errorf("a person's message got %s", answer)
			}
			a.until("state without a halt", func(s api.ControlState) bool { return !s.Halted && s.Waiting == 0 })
			ended := a.state()
			last := ended.Orders[len(ended.Orders)-1]
			if last.Act != "resume" || last.By != "proxy" || last.Why != "a new message of a person" || last.Ends != last.Number-1 {
				t.Errorf("the last order is %+v", last)
			}
			a.order(`{"act":"halt","text":"Enough."}`)
			if answer := a.again(); !strings.Contains(answer, "A person halted this run") {
				t.Errorf("a halt behind the message got %s", answer)
			}
			a.order(`{"act":"allow"}`)
			if answer := a.again(); !strings.Contains(answer, `"content":"model"`) {
				t.Errorf("after it was allowed: %s", answer)
			}
		})
	}
}

func TestARunOfTheModelProxyIsGuarded(t *testing.T) {
	a := newProxiedAgent(t, "guard")
	a.order(`{"act":"halt","text":"Enough."}`)
	a.again()
	for run := recordedRun(t, a.base); ; run = recordedRun(t, a.base) {
		if run.GuardedBy == nil || *run.GuardedBy != "proxy" {
			t.Fatalf("guarded by %v", run.GuardedBy)
		}
		if run.Stopped {
			return // the record of the halt has arrived
		}
		if t.Context().Err() != nil {
			t.Fatal("the halt is not recorded")
		}
	}
}

func TestAPersonControlsARunOfTheMCPProxy(t *testing.T) {
	base := serve(t, nil)
	c, err := client.New(base, "")
	if err != nil {
		t.Fatal(err)
	}
	background := c.NewSender().Background(client.Bounds{Events: 100, Bytes: 1 << 20, Every: 10 * time.Millisecond})
	orders := client.NewOrders(c.Listen)
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	session := mcpproxy.NewSession(p, mcpproxy.Options{
		Run: "mcp", Controls: orders.Controls, Record: func(e *unloop.Event) { background.Add(e, nil) },
	})
	tool := connectThrough(t, session)
	t.Cleanup(func() {
		orders.Close()
		if err := background.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	a := &controlled{t: t, base: base, run: "mcp"}
	if _, err := tool(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	a.until("proxy that listens", func(s api.ControlState) bool { return s.Listening })
	a.order(`{"act":"nudge","text":"Look into the archive."}`)
	if answer, err := tool(t.Context(), "a"); err != nil || !strings.Contains(answer, "page a\n[unloop] A person who watches this run says: Look into the archive.") {
		t.Errorf("%s, %v", answer, err)
	}
	if answer, _ := tool(t.Context(), "b"); answer != "page b" {
		t.Errorf("the nudge comes again: %s", answer)
	}
	a.order(`{"act":"pause"}`)
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if answer, err := tool(short, "c"); err == nil {
		t.Errorf("a paused run was answered with %s", answer)
	}
	answered := make(chan string, 1)
	go func() {
		answer, err := tool(t.Context(), "d")
		answered <- fmt.Sprint(answer, err)
	}()
	a.order(`{"act":"resume"}`)
	if answer := <-answered; !strings.Contains(answer, "page d") {
		t.Errorf("after the pause: %s", answer)
	}
	a.order(`{"act":"halt","text":"Enough."}`)
	if answer, err := tool(t.Context(), "e"); err != nil || !strings.Contains(answer, "[unloop] A person halted this run: Enough.") {
		t.Errorf("after the halt: %s, %v", answer, err)
	}
	a.order(`{"act":"allow"}`)
	if answer, err := tool(t.Context(), "f"); err != nil || answer != "page f" {
		t.Errorf("after it was allowed: %s, %v", answer, err)
	}
	if run := recordedRun(t, base); run.GuardedBy == nil || *run.GuardedBy != "mcp-proxy" {
		t.Errorf("guarded by %v", run.GuardedBy)
	}
}

// connectThrough connects a client to a server through a session, and returns the server's tool. The server fails if it is called with
// c, which a client canceled during a pause.
func connectThrough(t *testing.T, session *mcpproxy.Session) func(ctx context.Context, query string) (string, error) {
	t.Helper()
	type input struct {
		Query string `json:"query"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "search"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		if in.Query == "c" {
			t.Error("a canceled call reached the server")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "page " + in.Query}}}, nil, nil
	})
	clientSide, front := mcp.NewInMemoryTransports()
	back, serverSide := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), serverSide, nil); err != nil {
		t.Fatal(err)
	}
	fromClient, err := front.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	toServer, err := back.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pumping := begin(func() error { return mcpproxy.Pump(context.WithoutCancel(t.Context()), session, fromClient, toServer) })
	connected, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connected.Close()
		if err := pumping.wait(); err != nil {
			t.Errorf("the pump ended with %v", err)
		}
	})
	return func(ctx context.Context, query string) (string, error) {
		r, err := connected.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": query}})
		if err != nil {
			return "", err
		}
		var texts []string
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				texts = append(texts, text.Text)
			}
		}
		return strings.Join(texts, "\n"), nil
	}
}
