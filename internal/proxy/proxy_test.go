package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// upstream is a scripted model API. It keeps the bodies that it gets.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	answer http.HandlerFunc // nil for an empty object
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("upstream: %v", err)
		}
		u.mu.Lock()
		u.bodies = append(u.bodies, body)
		u.mu.Unlock()
		if u.answer != nil {
			u.answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(u.Close)
	return u
}

// last returns the last body, or nil if there was none since the last call.
func (u *upstream) last() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.bodies) == 0 {
		return nil
	}
	body := u.bodies[len(u.bodies)-1]
	u.bodies = nil
	return body
}

// start serves a proxy in front of u.
func start(t *testing.T, u *upstream, change func(*Options)) (*httptest.Server, *Proxy) {
	t.Helper()
	base, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Profile: p, Mode: Guard, OnHalt: HaltAnswer, MaxBody: 8 << 20, MaxBodies: 1 << 30, MaxMemory: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Upstreams: map[string]*url.URL{"openai": base, "anthropic": base, "gemini": base},
	}
	if change != nil {
		change(&o)
	}
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	made.patience = time.Hour // a verdict must not be late on a slow machine
	s := httptest.NewServer(made)
	t.Cleanup(s.Close)
	return s, made
}

// dialect is how a client of an API writes a history.
type dialect struct {
	path  string
	body  func(items []string, stream bool) string
	says  func(text string) string // an item of the user
	calls func(id, command, result string) []string
}

var dialects = map[string]dialect{
	"chat": {
		"/openai/v1/chat/completions",
		func(items []string, stream bool) string {
			return fmt.Sprintf(`{"model":"m","messages":[%s],"stream":%v}`, strings.Join(items, ","), stream)
		},
		func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) },
		func(id, command, result string) []string {
			args, _ := json.Marshal(fmt.Sprintf(`{"command":%q}`, command))
			return []string{
				fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"bash","arguments":%s}}]}`, id, args),
				fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, result),
			}
		},
	},
	"responses": {
		"/openai/v1/responses",
		func(items []string, stream bool) string {
			return fmt.Sprintf(`{"model":"m","stream":%v,"store":false,"input":[%s]}`, stream, strings.Join(items, ","))
		},
		func(text string) string {
			return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
		},
		func(id, command, result string) []string {
			args, _ := json.Marshal(fmt.Sprintf(`{"command":%q}`, command))
			return []string{
				fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"bash","arguments":%s}`, id, args),
				fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, result),
			}
		},
	},
	"anthropic": {
		"/anthropic/v1/messages?beta=true",
		func(items []string, stream bool) string {
			return fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[%s],"stream":%v,"tools":[]}`, strings.Join(items, ","), stream)
		},
		func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) },
		func(id, command, result string) []string {
			return []string{
				fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"bash","input":{"command":%q}}]}`, id, command),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, result),
			}
		},
	},
	"gemini": {
		"/gemini/v1beta/models/m:streamGenerateContent?alt=sse",
		func(items []string, _ bool) string { return fmt.Sprintf(`{"contents":[%s]}`, strings.Join(items, ",")) },
		func(text string) string { return fmt.Sprintf(`{"role":"user","parts":[{"text":%q}]}`, text) },
		func(id, command, result string) []string {
			return []string{
				fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"id":%q,"name":"bash","args":{"command":%q}}}]}`, id, command),
				fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"id":%q,"name":"bash","response":{"output":%q}}}]}`, id, result),
			}
		},
	},
}

// agent plays a client: its history grows with each call.
type agent struct {
	dialect
	t     *testing.T
	base  string
	items []string
	n     int
}

// ask sends the history and returns the answer.
func (a *agent) ask() (status int, body string) {
	a.t.Helper()
	answer, err := http.Post(a.base+a.path, "application/json", strings.NewReader(a.body(a.items, true)))
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// call adds a call with its result to the history.
func (a *agent) call(command, result string) {
	a.n++
	a.items = append(a.items, a.calls(fmt.Sprint("call_", a.n), command, result)...)
}

func TestAnAgentThatRepeatsItselfIsNudgedThenHaltedThenReleasedByAPerson(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			s, p := start(t, u, nil)
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
			nudged, halted := 0, ""
			for range 40 {
				a.call("make", "make: *** no rule to make target all")
				_, answer := a.ask()
				got := u.last()
				if got == nil {
					halted = answer
					break
				}
				if !bytes.Equal(got, []byte(d.body(a.items, true))) {
					nudged++
					if !json.Valid(got) || !bytes.Contains(got, []byte(haltPrefix)) {
						t.Fatalf("the nudged request is %s", got)
					}
				}
			}
			if nudged == 0 || halted == "" {
				t.Fatalf("%d requests were nudged; the halt's answer is %q", nudged, halted)
			}
			if !strings.Contains(halted, "[unloop]") || !strings.Contains(halted, "no progress") {
				t.Errorf("the halt's answer is %s", halted)
			}
			if _, again := a.ask(); u.last() != nil || again == "" {
				t.Error("the same request again was not answered by the proxy")
			}
			a.items = append(a.items, d.says("the target is called build"))
			if a.ask(); u.last() == nil {
				t.Error("the person's message did not reach the model")
			}
			if got := p.Stats(); got.Halted != 2 || got.Nudged != int64(nudged) || got.Unjudged != 0 {
				t.Errorf("stats are %+v", got)
			}
		})
	}
}

func TestAnAgentThatMakesProgressPassesUnchanged(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			s, _ := start(t, u, nil)
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
			for i := range 20 {
				a.call(fmt.Sprintf("cat file%d.go", i), fmt.Sprintf("package part%d\nfunc F%d() { use(%q) }", i, i, strings.Repeat(string(rune('a'+i)), 9)))
				a.ask()
				if got, want := string(u.last()), d.body(a.items, true); got != want {
					t.Fatalf("the request was changed to %s", got)
				}
			}
		})
	}
}

func TestARestartedProxyGivesTheSameVerdict(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			kept, _ := start(t, u, nil)
			a := &agent{dialect: d, t: t, base: kept.URL, items: []string{d.says("fix the build")}}
			for range 12 {
				a.call("make", "make: *** no rule to make target all")
				a.base = kept.URL
				_, want := a.ask()
				wantBody := u.last()
				fresh, _ := start(t, u, nil)
				a.base = fresh.URL
				_, got := a.ask()
				if gotBody := u.last(); !bytes.Equal(gotBody, wantBody) {
					t.Fatalf("a fresh proxy sent\n%s\nthe other one\n%s", gotBody, wantBody)
				}
				if (wantBody == nil) != strings.Contains(got, "unloop") || (got == "") != (want == "") {
					t.Fatalf("a fresh proxy answered %q, the other one %q", got, want)
				}
			}
		})
	}
}

func TestTheMarkOfTheCacheMovesWithoutANewRun(t *testing.T) {
	u := newUpstream(t)
	var events []*unloop.Event
	s, _ := start(t, u, func(o *Options) { o.Record = func(e *unloop.Event) { events = append(events, e) } })
	d := dialects["anthropic"]
	items := []string{d.says("go")}
	for i := range 12 {
		items = append(items, d.calls(fmt.Sprint("c", i), fmt.Sprint("ls ", i), fmt.Sprint("file", i))...)
		marked := slices.Clone(items)
		last := len(marked) - 1
		marked[last] = strings.Replace(marked[last], `"type":"tool_result"`, `"type":"tool_result","cache_control":{"type":"ephemeral"}`, 1)
		(&agent{dialect: d, t: t, base: s.URL, items: marked}).ask()
	}
	runs := map[string]int{}
	events = slices.DeleteFunc(events, func(e *unloop.Event) bool { return strings.HasPrefix(string(e.Type), "llm_call") })
	for _, e := range events {
		runs[e.RunID]++
	}
	if len(runs) != 1 || len(events) != 1+12*2 {
		t.Errorf("%d events in runs %v, want 25 in one run", len(events), runs)
	}
}

func TestACompactedHistoryBeginsARun(t *testing.T) {
	u := newUpstream(t)
	var runs []string
	s, _ := start(t, u, func(o *Options) {
		o.Record = func(e *unloop.Event) {
			if !slices.Contains(runs, e.RunID) {
				runs = append(runs, e.RunID)
			}
		}
	})
	d := dialects["chat"]
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
	a.call("ls", "a")
	a.call("ls b", "c")
	a.ask()
	a.items = append(a.items[:1], d.says("the story so far"))
	a.ask()
	if len(runs) != 2 {
		t.Errorf("the runs are %v, want two", runs)
	}
}

func TestObserveChangesNothing(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, func(o *Options) { o.Mode = Observe })
	d := dialects["chat"]
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
	for range 30 {
		a.call("make", "make: *** no rule to make target all")
		a.ask()
		if got, want := string(u.last()), d.body(a.items, true); got != want {
			t.Fatalf("the request was changed to %s", got)
		}
	}
	if got := p.Stats(); got.Judged != 30 || got.Nudged+got.Halted != 0 {
		t.Errorf("stats are %+v", got)
	}
}

func TestWhatCannotBeJudgedPassesUnchanged(t *testing.T) {
	long := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", 9<<20) + `"}]}`
	for name, tc := range map[string]struct {
		path, encoding, body string
	}{
		"no JSON":                    {"/openai/v1/chat/completions", "", "hello"},
		"cut JSON":                   {"/openai/v1/chat/completions", "", `{"messages":[{"role":`},
		"no history":                 {"/anthropic/v1/messages", "", `{"model":"m"}`},
		"a history of numbers":       {"/anthropic/v1/messages", "", `{"messages":[1,2]}`},
		"a compressed body":          {"/openai/v1/responses", "zstd", "\x28\xb5\x2f\xfd"},
		"a large body":               {"/openai/v1/chat/completions", "", long},
		"another path":               {"/openai/v1/embeddings", "", `{"input":"x"}`},
		"a count of tokens":          {"/anthropic/v1/messages/count_tokens", "", `{"messages":[]}`},
		"no body":                    {"/gemini/v1beta/models/m:generateContent", "", ""},
		"a history that is one text": {"/openai/v1/responses", "", `{"input":"hello","model":"m"}`},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			s, _ := start(t, u, nil)
			r, err := http.NewRequest(http.MethodPost, s.URL+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.encoding != "" {
				r.Header.Set("Content-Encoding", tc.encoding)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if got := u.last(); answer.StatusCode != http.StatusOK || string(got) != tc.body {
				t.Errorf("status %d, the upstream got %.100q, want %.100q", answer.StatusCode, got, tc.body)
			}
		})
	}
}

func TestTheAnswerPassesUnchanged(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "r1")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, r.Host+" "+r.URL.String()+" "+r.Header.Get("Authorization")+r.Header.Get("X-Forwarded-For"))
	}
	s, _ := start(t, u, nil)
	r, err := http.NewRequest(http.MethodPost, s.URL+"/openai/v1/chat/completions?a=b", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	want := strings.TrimPrefix(u.URL, "http://") + " /v1/chat/completions?a=b Bearer key"
	if answer.StatusCode != 429 || answer.Header.Get("X-Request-Id") != "r1" || answer.Header.Get("Retry-After") != "7" || string(body) != want {
		t.Errorf("got %d %v %q, want 429 and %q", answer.StatusCode, answer.Header, body, want)
	}
}

func TestAStreamIsNotHeldBack(t *testing.T) {
	u := newUpstream(t)
	next := make(chan struct{})
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-next
		_, _ = io.WriteString(w, "data: 2\n\n")
	}
	s, _ := start(t, u, nil)
	answer, err := http.Post(s.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[],"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 9)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "data: 1\n\n" {
		t.Fatalf("got %q, %v", first, err)
	}
	close(next)
	rest, err := io.ReadAll(answer.Body)
	if err != nil || string(rest) != "data: 2\n\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestAHaltMayBeAnError(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			s, _ := start(t, u, func(o *Options) { o.OnHalt = HaltError })
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
			status, body := 200, ""
			for status == 200 && a.n < 40 {
				a.call("make", "make: *** no rule to make target all")
				status, body = a.ask()
			}
			var failure struct {
				Error struct{ Message string }
			}
			if err := json.Unmarshal([]byte(body), &failure); status != 400 || err != nil || !strings.HasPrefix(failure.Error.Message, haltPrefix) {
				t.Errorf("got %d %s, %v", status, body, err)
			}
		})
	}
}

func TestAWebSocketIsRefusedSoThatTheClientTakesHTTP(t *testing.T) {
	u := newUpstream(t)
	s, _ := start(t, u, nil)
	r, err := http.NewRequest(http.MethodGet, s.URL+"/openai/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("got %d, want 426", answer.StatusCode)
	}
}

func TestAnUpstreamThatIsGoneIsABadGateway(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, nil)
	u.Close()
	a := &agent{dialect: dialects["chat"], t: t, base: s.URL, items: []string{dialects["chat"].says("go")}}
	if status, body := a.ask(); status != http.StatusBadGateway || !strings.Contains(body, "cannot be reached") || p.Stats().UpstreamErrors != 1 {
		t.Errorf("got %d %s", status, body)
	}
}

func TestConversationsAreForgottenOverTheLimitOfMemory(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, func(o *Options) { o.MaxMemory = 64 << 10 })
	d := dialects["chat"]
	for i := range 50 {
		a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says(fmt.Sprint("task ", i))}}
		a.call("ls", "a")
		a.ask()
	}
	c := p.conversations
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > 64<<10 || c.kept.Len() == 0 || c.kept.Len() == 50 {
		t.Errorf("%d conversations of %d bytes are kept", c.kept.Len(), c.bytes)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	good := Options{Profile: p, Mode: Nudge, OnHalt: HaltAnswer, Log: slog.New(slog.DiscardHandler)}
	for name, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no profile":      {func(o *Options) { o.Profile = nil }, "no profile"},
		"an unknown mode": {func(o *Options) { o.Mode = "loud" }, `invalid mode "loud": want observe, nudge or guard`},
		"an unknown halt": {func(o *Options) { o.OnHalt = "shout" }, `invalid answer to a halt "shout": want answer or error`},
		"an unknown API": {
			func(o *Options) { o.Upstreams = map[string]*url.URL{"x": {Scheme: "http", Host: "h"}} },
			`unknown API "x": want anthropic, gemini or openai`,
		},
		"an upstream that is a path": {
			func(o *Options) { o.Upstreams = map[string]*url.URL{"openai": {Path: "/v1"}} },
			`invalid upstream "/v1" of openai: want http://HOST or https://HOST`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			tc.change(&o)
			if _, err := New(o); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// FuzzRequest holds that no body makes the proxy panic, that a nudged body is valid JSON where the body was, and that a
// request that goes on with a known one is judged as it is alone.
func FuzzRequest(f *testing.F) {
	for _, d := range dialects {
		items := append([]string{d.says("go")}, d.calls("c1", "ls", "a")...)
		f.Add([]byte(d.body(items, true)), 3)
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}]}`), 1)
	p, err := profile.New(profile.Default)
	if err != nil {
		f.Fatal(err)
	}
	o := Options{Profile: p, MaxMemory: 1 << 20}
	f.Fuzz(func(t *testing.T, body []byte, cut int) {
		for _, a := range []api{chat{}, responses{}, anthropic{}, gemini{}} {
			v, err := newConversations(o).judge(a, body, "s")
			if err != nil {
				continue
			}
			if v.request.end >= 0 {
				nudged, err := a.nudge(v.request, "x")
				if err == nil && json.Valid(body) && !json.Valid(nudged) {
					t.Fatalf("%T nudges to %q", a, nudged)
				}
			}
			s := newConversations(o)
			before := withoutLastItems(v.request, cut)
			if _, err := s.judge(a, before, "s"); err != nil {
				continue
			}
			resumed, err := s.judge(a, body, "s")
			if err != nil || resumed.turn.decision.Action != v.turn.decision.Action || resumed.turn.message != v.turn.message {
				t.Fatalf("%T judges %q as %v, after %q as %v, %v", a, body, v.turn, before, resumed.turn, err)
			}
		}
	})
}

// withoutLastItems returns a request without the last n items of its history.
func withoutLastItems(r *request, n int) []byte {
	n = min(max(n, 0), len(r.items))
	if n == 0 || n == len(r.items) {
		return r.body
	}
	return slices.Concat(r.body[:r.items[len(r.items)-n-1].end], r.body[r.end:])
}

func TestASetProfileHoldsForNewRuns(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, nil)
	d := dialects["chat"]
	begin := func(task string) *agent { return &agent{dialect: d, t: t, base: s.URL, items: []string{d.says(task)}} }
	// callsUntilNudged returns how many equal calls an agent makes before the proxy says something.
	callsUntilNudged := func(a *agent) int {
		for k := 1; k < 12; k++ {
			a.call("ls", "a")
			if a.ask(); strings.Contains(string(u.last()), haltPrefix) {
				return k
			}
		}
		return 0
	}
	before, present := callsUntilNudged(begin("find it")), begin("find that")
	present.ask()
	later, err := profile.Load(profile.Source{Name: profile.Default, Sets: []string{"repeat_weight=9"}})
	if err != nil {
		t.Fatal(err)
	}
	p.SetProfile(later)
	if n := callsUntilNudged(present); n != before {
		t.Errorf("a present run is nudged after %d calls, want %d", n, before)
	}
	if n := callsUntilNudged(begin("find this")); before == 0 || n != 0 && n <= before {
		t.Errorf("a new run is nudged after %d calls, want more than %d", n, before)
	}
}
