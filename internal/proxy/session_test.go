package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// lease returns a lease of a pool.
func lease(bytes int64) *reverseproxy.Lease { return reverseproxy.NewLease(memory.NewPool(bytes)) }

// runsOf returns the runs of the recorded events, in order.
func (r *recorded) runsOf() (runs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if !slices.Contains(runs, e.RunID) {
			runs = append(runs, e.RunID)
		}
	}
	return runs
}

// send sends a body with headers, and returns the answer.
func send(t *testing.T, address string, body []byte, header ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k := 0; k < len(header); k += 2 {
		r.Header.Set(header[k], header[k+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestAConversationHasTheNameThatItsClientGivesIt(t *testing.T) {
	messages := `"messages":[{"role":"user","content":"say \"metadata\": {\"session_id\":\"no\"}"},{"role":"assistant","content":"x","metadata":{"session_id":"inner"}}]`
	var headers []string
	for _, h := range sessionHeaders {
		headers = append(headers, h.session)
	}
	for _, tc := range []struct {
		name, path, body string
		header           []string
		want             string
	}{
		{"a header", "/openai/v1/chat/completions", "{" + messages + "}", []string{"X-Session-Id", "s1"}, "s1"},
		{"the header of an agent within a session", "/anthropic/v1/messages", "{" + messages + "}", []string{"X-Claude-Code-Session-Id", "s1", "X-Claude-Code-Agent-Id", "a1"}, "s1/a1"},
		{"nothing", "/anthropic/v1/messages", "{" + messages + `,"tools":[{"metadata":{"session_id":"inner"}}]}`, nil, "proxy"},
		{"metadata behind the history", "/anthropic/v1/messages", "{" + messages + `,"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s2\"}"},"max_tokens":9}`, nil, "s2"},
		{"metadata before the history", "/anthropic/v1/messages", `{"metadata":{"user_id":"user_1_account__session_s3"},` + messages + "}", nil, "s3"},
		{"the metadata of LiteLLM", "/openai/v1/chat/completions", "{" + messages + `, "metadata" : {"session_id":"s4"} }`, nil, "s4"},
		{"the key of the prompt cache", "/openai/v1/responses", `{"input":[{"role":"user","content":"go"}],"prompt_cache_key":"s5","store":false}`, nil, "s5"},
		{"a header before the body", "/openai/v1/responses", `{"input":[{"role":"user","content":"go"}],"prompt_cache_key":"s5"}`, []string{"Thread-Id", "s6"}, "s6"},
		{"a name that is too long", "/openai/v1/responses", `{"input":[{"role":"user","content":"go"}],"prompt_cache_key":"` + strings.Repeat("x", longestName+1) + `"}`, nil, "proxy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r recorded
			s, _ := start(t, newUpstream(t), func(o *Options) { o.Record = r.add })
			send(t, s.URL+tc.path, []byte(tc.body), tc.header...)
			s.Close()
			runs := r.runsOf()
			if len(runs) != 1 || runs[0][:strings.LastIndex(runs[0], "-")] != tc.want {
				t.Errorf("the runs are %v, want %s", runs, tc.want)
			}
		})
	}
	want := []string{
		"Helicone-Session-Id", "Thread-Id", "X-Amp-Thread-Id", "X-Claude-Code-Session-Id", "X-Dynamo-Session-Id", "X-Litellm-Session-Id",
		"X-Litellm-Trace-Id", "X-Session-Affinity", "X-Session-Id",
	}
	slices.Sort(headers)
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Error(diff)
	}
}

func TestAConversationAtTheAPIsSideIsOneRun(t *testing.T) {
	for name, of := range map[string]string{"by its id": `"conv_1"`, "by its object": `{"id":"conv_1"}`} {
		t.Run(name, func(t *testing.T) {
			u := responder(t)
			var r recorded
			s, p := start(t, u, func(o *Options) { o.Record = r.add })
			ask := func(item string) string {
				_, answer := send(t, s.URL+"/openai/v1/responses", fmt.Appendf(nil, `{"model":"m","conversation":%s,"input":%s}`, of, item))
				return answer
			}
			ask(`"fix the build"`)
			for i := 1; i < 40; i++ {
				if got := ask(fmt.Sprintf(`[{"type":"function_call_output","call_id":"c%d","output":"make: *** no rule to make target all"}]`, i)); !strings.Contains(got, haltPrefix) {
					continue
				}
				if got := ask(`"the target is called build"`); strings.Contains(got, haltPrefix) {
					t.Error("the person's message did not reach the model")
				}
				s.Close()
				if stats := p.Stats(); stats.Nudged == 0 || stats.Unjudged != 0 || len(r.runsOf()) != 1 {
					t.Errorf("the runs are %v, and stats %+v", r.runsOf(), stats)
				}
				return
			}
			t.Error("the run was never halted")
		})
	}
}

func TestACompressedRequestIsJudged(t *testing.T) {
	var z bytes.Buffer
	for encoding, compress := range map[string]func(body string) []byte{
		"gzip": func(body string) []byte {
			z.Reset()
			w := gzip.NewWriter(&z)
			_, _ = io.WriteString(w, body)
			_ = w.Close()
			return slices.Clone(z.Bytes())
		},
		"zstd": func(body string) []byte {
			z.Reset()
			w, err := zstd.NewWriter(&z)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(w, body)
			_ = w.Close()
			return slices.Clone(z.Bytes())
		},
	} {
		t.Run(encoding, func(t *testing.T) {
			u := newUpstream(t)
			var encodings []string
			u.answer = func(_ http.ResponseWriter, r *http.Request) {
				encodings = append(encodings, r.Header.Get("Content-Encoding"))
			}
			s, p := start(t, u, nil)
			d := dialects["responses"]
			a := &agent{dialect: d, t: t, items: []string{d.says("fix the build")}}
			for p.Stats().Halted == 0 && a.n < 40 {
				a.call("make", "make: *** no rule to make target all")
				body := compress(d.body(a.items, true))
				nudged := p.Stats().Nudged
				send(t, s.URL+d.path, body, "Content-Encoding", encoding)
				got := u.last()
				switch {
				case p.Stats().Halted > 0:
				case p.Stats().Nudged > nudged && (!bytes.Contains(got, []byte(haltPrefix)) || encodings[len(encodings)-1] != ""):
					t.Errorf("a nudged request is %q, %q", got, encodings[len(encodings)-1])
				case p.Stats().Nudged == nudged && (!bytes.Equal(got, body) || encodings[len(encodings)-1] != encoding):
					t.Error("a request without a nudge was changed")
				}
			}
			if got := p.Stats(); got.Halted != 1 || got.Nudged == 0 || got.Unjudged != 0 {
				t.Errorf("stats are %+v", got)
			}
			_, bomb := start(t, u, func(o *Options) { o.MaxBody = 1 << 20 })
			if _, err := decompress(compress(strings.Repeat("x", 2<<20)), encoding, bomb.options.MaxBody, reverseproxy.NewLease(bomb.bodies)); err == nil {
				t.Error("a body that grows over the limit is decompressed")
			}
		})
	}
}

func TestHeadersOfTheConnectionStayAndOthersPass(t *testing.T) {
	u := newUpstream(t)
	var got http.Header
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("X-Request-Id", "r1")
	}
	s, _ := start(t, u, nil)
	d := dialects["chat"]
	r, err := http.NewRequest(http.MethodPost, s.URL+d.path, strings.NewReader(d.body([]string{d.says("go")}, false)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Connection": "X-Of-Connection", "X-Of-Connection": "1", "Te": "gzip", "Proxy-Authorization": "no", "Expect": "100-continue",
		"X-Stainless-Lang": "go", "Openai-Beta": "b", "Accept-Encoding": "br",
	} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for name, want := range map[string]string{
		"Connection": "", "X-Of-Connection": "", "Te": "", "Proxy-Authorization": "", "Expect": "", "X-Forwarded-For": "",
		"X-Stainless-Lang": "go", "Openai-Beta": "b", "Accept-Encoding": "identity",
	} {
		if got.Get(name) != want {
			t.Errorf("the upstream got %s: %q, want %q", name, got.Get(name), want)
		}
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Request-Id") != "r1" || res.Header.Get("Keep-Alive") != "" {
		t.Errorf("the client got %d %v", res.StatusCode, res.Header)
	}
}

// FuzzSession holds that no body makes the search for the name of a conversation panic, and that it finds a name that the body has behind
// its history.
func FuzzSession(f *testing.F) {
	f.Add([]byte(`{"messages":[{"metadata":{"session_id":"x"}}]`))
	f.Add([]byte(`{"messages":"","prompt_cache_key":{}`))
	f.Fuzz(func(t *testing.T, beginning []byte) {
		_ = sessionIn(beginning, "messages")
		body := append(slices.Clone(beginning), `,"metadata":{"session_id":"own"}}`...)
		session := sessionIn(body, "messages")
		if _, err := parse(body, "messages"); err == nil && sessionBefore(body, "messages") == "" && session != "own" {
			t.Fatalf("%q has the name %q", body, session)
		}
	})
}

func TestASmallBodyDoesNotAllocateALargeWindow(t *testing.T) {
	frame := func(window byte) []byte { // one raw block of three bytes, in a frame that declares a window of 1 KiB << (window / 8)
		return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window, 3<<3 | 1, 0, 0, 'a', 'b', 'c'}
	}
	if data, err := decompress(frame(13<<3), "zstd", 64<<20, lease(1<<30)); err != nil || string(data) != "abc" {
		t.Errorf("with a window of 8 MiB: %q, error %v", data, err)
	}
	if _, err := decompress(frame(15<<3), "zstd", 64<<20, lease(1<<30)); err == nil {
		t.Error("a window of 32 MiB is allocated")
	}
}

// FuzzDecompress holds that no body makes the proxy panic or read more than the limit.
func FuzzDecompress(f *testing.F) {
	f.Add("gzip", []byte("\x1f\x8b\x08\x00"))
	f.Add("zstd", []byte("\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00abc"))
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		const limit = 1 << 16
		if data, err := decompress(body, encoding, limit, lease(1<<30)); err == nil && encoding != "" && encoding != "identity" && len(data) > limit {
			t.Fatalf("%d bytes of %q", len(data), body)
		}
	})
}

func TestTheMarkOfTheCacheIsNoPartOfAnItem(t *testing.T) {
	want := hashItem([]byte(`{"role": "user", "content": [{"type": "text", "text": "a \"cache_control\" b"}, {"type":"x"}]}`))
	for name, tc := range map[string]struct {
		item string
		same bool
	}{
		"behind another member":   {`{"role": "user", "content": [{"type": "text", "text": "a \"cache_control\" b", "cache_control": {"type": "ephemeral"}}, {"type":"x"}]}`, true},
		"before another member":   {`{"role": "user", "content": [{"cache_control": {"a":[1,"]"]}, "type": "text", "text": "a \"cache_control\" b"}, {"type":"x"}]}`, true},
		"twice":                   {`{"role": "user", "content": [{"type": "text", "text": "a \"cache_control\" b", "cache_control":1}, {"type":"x", "cache_control":{}}]}`, true},
		"in another object":       {`{"cache_control": {}, "role": "user", "content": [{"type": "text", "text": "a \"cache_control\" b"}, {"type":"x"}]}`, true},
		"not as a name":           {`{"role": "user", "content": [{"type": "text", "text": "cache_control"}, {"type":"x"}]}`, false},
		"with another value kept": {`{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}, {"type":"x"}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hashItem([]byte(tc.item)) == want; got != tc.same {
				t.Errorf("%s has the same hash: %v", tc.item, got)
			}
		})
	}
}

func TestAKeyIsNeitherLoggedNorRecorded(t *testing.T) {
	u := newUpstream(t)
	var r recorded
	var log bytes.Buffer
	s, p := start(t, u, func(o *Options) {
		o.Record, o.Budgets.Key = r.add, Budget{Calls: 2}
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for name, d := range dialects {
		path := d.path + map[bool]string{false: "?", true: "&"}[strings.Contains(d.path, "?")] + "key=secret-key"
		for _, body := range []string{d.body([]string{d.says("go")}, true), "no JSON"} {
			send(t, s.URL+path, []byte(body), "Authorization", "Bearer secret-key", "X-Api-Key", "secret-key", "X-Goog-Api-Key", "secret-key")
			if got := string(u.last()); got != body && !strings.Contains(got, haltPrefix) {
				t.Errorf("%s: the upstream got %q", name, got)
			}
		}
	}
	u.Close()
	send(t, s.URL+"/gemini/v1beta/models?key=secret-key", nil, "Authorization", "Bearer secret-key")
	s.Close()
	kept, err := json.Marshal(r.events)
	if err != nil {
		t.Fatal(err)
	}
	if log.Len() == 0 || len(r.events) == 0 || strings.Contains(log.String(), "secret-key") || bytes.Contains(kept, []byte("secret-key")) {
		t.Errorf("the log is %s, and the events are %s", &log, kept)
	}
	for k := range p.budgets.units {
		for _, spender := range p.budgets.units[k].spent.Keys() {
			if strings.Contains(spender, "secret-key") {
				t.Errorf("the budget of %q is kept", spender)
			}
		}
	}
}

func TestNoRequestReachesAnotherHost(t *testing.T) {
	u := newUpstream(t)
	s, _ := start(t, u, nil)
	other := newUpstream(t)
	evil := strings.TrimPrefix(other.URL, "http://")
	for _, request := range []string{
		"POST http://evil.example/openai/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n",
		"POST " + other.URL + "/openai/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n",
		"POST /openai/" + other.URL + "/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n",
		"POST /openai//" + evil + "/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n",
		"POST /openai/@" + evil + "/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n",
		"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: " + evil + "\r\nForwarded: host=" + evil + "\r\n",
		"CONNECT " + evil + " HTTP/1.1\r\nHost: " + evil + "\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request+"Connection: close\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%q: %v", request, err)
		}
		_ = conn.Close()
		if other.last() != nil {
			t.Errorf("%q reached another host", request)
		}
	}
}
