package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/profile"
)

// recorded keeps events. It is safe for concurrent use.
type recorded struct {
	mu     sync.Mutex
	events []unloop.Event
}

func (r *recorded) add(e *unloop.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, *e)
}

func (r *recorded) of(types ...unloop.EventType) (found []unloop.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		for _, t := range types {
			if e.Type == t {
				found = append(found, e)
			}
		}
	}
	return found
}

func TestAModelCallIsRecordedWithTheTokensOfItsAnswer(t *testing.T) {
	want := unloop.Usage{Input: 100, Output: 10, CachedInput: 50, Reasoning: 4}
	withWrite := want
	withWrite.CacheWrite = 10
	chatUsage := `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":50},"completion_tokens_details":{"reasoning_tokens":4}}`
	responsesUsage := `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":50},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":4}}`
	geminiUsage := `"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":6,"thoughtsTokenCount":4,"cachedContentTokenCount":50}`
	begun := `"usage":{"input_tokens":40,"cache_read_input_tokens":50,"cache_creation_input_tokens":10,"output_tokens":1}`
	for name, tc := range map[string]struct {
		dialect, kind, answer string
		want                  unloop.Usage
	}{
		"chat":             {"chat", "application/json", `{"id":"c","model":"gpt",` + chatUsage + `}`, want},
		"chat stream":      {"chat", "text/event-stream", "data: {\"id\":\"c\",\"model\":\"gpt\",\"choices\":[]}\n\ndata: {\"id\":\"c\",\"choices\":[]," + chatUsage + "}\n\ndata: [DONE]\n\n", want},
		"responses":        {"responses", "application/json", `{"id":"r","model":"gpt",` + responsesUsage + `}`, want},
		"responses stream": {"responses", "text/event-stream; charset=utf-8", "event: response.completed\r\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"model\":\"gpt\"," + responsesUsage + "}}\r\n\r\n", want},
		"messages":         {"anthropic", "application/json", `{"id":"m","model":"gpt","usage":{"input_tokens":40,"cache_read_input_tokens":50,"cache_creation_input_tokens":10,"output_tokens":10,"output_tokens_details":{"thinking_tokens":4}}}`, withWrite},
		"messages stream": {"anthropic", "text/event-stream", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"gpt\"," + begun + "}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":10,\"output_tokens_details\":{\"thinking_tokens\":4}}}\n\n", withWrite},
		"gemini":        {"gemini", "application/json", `[{"modelVersion":"gpt"},{` + geminiUsage + `}]`, want},
		"gemini stream": {"gemini", "text/event-stream", "data: {\"modelVersion\":\"gpt\"," + geminiUsage + "}\r\n\r\n", want},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				_, _ = io.WriteString(w, tc.answer)
			}
			var r recorded
			s, _ := start(t, u, func(o *Options) { o.Record = r.add })
			d := dialects[tc.dialect]
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
			if _, got := a.ask(); got != tc.answer {
				t.Fatalf("the answer became %q", got)
			}
			s.Close() // waits until the answer is read
			calls := r.of(unloop.LLMCallCompleted)
			if len(calls) != 1 || calls[0].Usage == nil || *calls[0].Usage != tc.want || calls[0].Tokens != 110 || calls[0].Model != "gpt" || calls[0].Latency == nil {
				t.Errorf("the model calls are %+v, want one with %+v", calls, tc.want)
			}
		})
	}
}

func TestAFailedModelCallIsRecordedAsFailed(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "slow down", http.StatusTooManyRequests) }
	var r recorded
	s, _ := start(t, u, func(o *Options) { o.Record = r.add })
	d := dialects["chat"]
	(&agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}).ask()
	s.Close()
	if calls := r.of(unloop.LLMCallFailed); len(calls) != 1 || string(calls[0].Error) != `"status 429"` {
		t.Errorf("the failed calls are %+v", calls)
	}
}

// responder is an API that keeps histories: each answer calls the same tool again.
func responder(t *testing.T) *upstream {
	u := newUpstream(t)
	n := 0
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"resp_%d","object":"response","output":[{"type":"function_call","call_id":"c%d","name":"bash","arguments":"{\"command\":\"make\"}"}]}`, n, n)
	}
	return u
}

func TestAHistoryOnTheServerIsJudged(t *testing.T) {
	u := responder(t)
	s, p := start(t, u, nil)
	post := func(body string) string {
		res, err := http.Post(s.URL+"/openai/v1/responses", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	post(`{"model":"m","input":[{"role":"user","content":"fix the build"}]}`)
	for i := 1; i < 40; i++ {
		body := fmt.Sprintf(`{"model":"m","previous_response_id":"resp_%d","input":[{"type":"function_call_output","call_id":"c%d","output":"make: *** no rule to make target all"}]}`, i, i)
		if got := post(body); strings.Contains(got, haltPrefix) {
			if stats := p.Stats(); stats.Nudged == 0 || i < 4 {
				t.Errorf("halted at request %d after %d nudges", i, stats.Nudged)
			}
			if again := post(body); !strings.Contains(again, haltPrefix) {
				t.Errorf("the same request again got %s", again)
			}
			return
		}
	}
	t.Error("the run was never halted")
}

func TestARetryIsNoFurtherStepOfAHistoryOnTheServer(t *testing.T) {
	u := responder(t)
	var r recorded
	s, _ := start(t, u, func(o *Options) { o.Record = r.add })
	for _, body := range []string{
		`{"model":"m","input":[{"role":"user","content":"go"}]}`,
		`{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`,
		`{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`,
	} {
		res, err := http.Post(s.URL+"/openai/v1/responses", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	s.Close()
	if n := len(r.of(unloop.ToolCallStarted, unloop.ToolCallCompleted)); n != 2 {
		t.Errorf("%d events of calls, want the start and the end of one", n)
	}
}

func TestARequestBehindAHaltSendsTheItemsThatTheAPIHasNotSeen(t *testing.T) {
	for name, of := range map[string]func(id string) string{
		"behind a response": func(id string) string { return fmt.Sprintf(`"previous_response_id":%q`, id) },
		"in a conversation": func(string) string { return `"conversation":"conv_1"` },
	} {
		t.Run(name, func(t *testing.T) {
			u := responder(t)
			s, p := start(t, u, nil)
			latest := ""
			ask := func(link, input string) (sent string) {
				status, answer := send(t, s.URL+"/openai/v1/responses", []byte(`{"model":"m",`+link+`"input":`+input+`}`))
				var response struct{ ID string }
				if err := json.Unmarshal([]byte(answer), &response); err != nil || status != http.StatusOK {
					t.Fatalf("%d %s", status, answer)
				}
				latest = response.ID
				return string(u.last())
			}
			result := func(n int) string {
				return fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"make: *** no rule to make target all"}`, n)
			}
			first := ""
			if name == "in a conversation" {
				first = of("") + ","
			}
			ask(first, `"fix the build"`)
			n, before := 1, latest
			for ; p.Stats().Halted == 0 && n < 40; n++ {
				before = latest
				ask(of(latest)+",", "["+result(n)+"]")
			}
			halted := result(n - 1)
			if sent := ask(of(latest)+",", `[{"role":"user","content":"go on"}]`); name == "in a conversation" {
				if want := `{"conversation":"conv_1","input":[` + halted + `,{"role":"user","content":"go on"}],"model":"m"}`; sent != want {
					t.Errorf("sent %s, want %s", sent, want)
				}
			} else if want := fmt.Sprintf(`{"input":[%s,{"role":"user","content":"go on"}],"model":"m","previous_response_id":%q}`, halted, before); sent != want {
				t.Errorf("sent %s, want %s", sent, want)
			}
			if p.Stats().Halted != 1 {
				t.Errorf("stats are %+v", p.Stats())
			}
		})
	}
}

func TestTheLinksOfResponsesAreForgottenOverTheLimitOfMemory(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":%q,"output":[{"type":"message","role":"assistant","content":%q}]}`, r.URL.RawQuery, strings.Repeat("x", 10_000))
	}
	s, p := start(t, u, func(o *Options) { o.MaxMemory = 64 << 10 })
	for i := range 20 {
		send(t, fmt.Sprintf("%s/openai/v1/responses?resp_%d", s.URL, i), []byte(`{"input":[{"role":"user","content":"go"}]}`))
	}
	c := p.conversations
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.linkBytes > 64<<10 || c.links.Len() < 4 || c.links.Len() > 6 {
		t.Errorf("%d links of %d bytes are kept", c.links.Len(), c.linkBytes)
	}
}

// TestAnswersPassUnchangedToTheByte holds that any answer, in chunks with any borders, reaches the client as it is, and that what is
// read of it does not depend on the borders.
func TestAnswersPassUnchangedToTheByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"text/event-stream", "application/json", "text/plain"}).Draw(t, "kind")
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"data: {\"id\":\"a\",\"usage\":{\"input_tokens\":3}}\n", "data: {\"usage\":{\"output_tokens\":9}}\r\n", "\n", "\r\n", ": ping\n", "event: x\n",
			"{\"id\":\"b\"}", "data: [DONE]\n", "data: {\"id\":", "\x00\xff", strings.Repeat("z", 5000),
		})).Draw(t, "lines")
		want := strings.Join(lines, "")
		read := func(sizes ...int) (string, outcome) {
			var got outcome
			body := newTap(&http.Response{
				Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(nettest.NewChunks(want, sizes...)),
			}, func(o *outcome) { got = *o })
			data, err := io.ReadAll(body)
			if err != nil {
				t.Fatal(err)
			}
			return string(data), got
		}
		whole, o := read(len(want) + 1)
		parts, p := read(rapid.SliceOfN(rapid.IntRange(1, 30), 1, 8).Draw(t, "sizes")...)
		if whole != want || parts != want {
			t.Fatalf("got %q and %q, want %q", whole, parts, want)
		}
		if o.ID != p.ID || o.Usage != p.Usage {
			t.Fatalf("read %+v in one piece, %+v in chunks", o, p)
		}
	})
}

func TestACompressedAnswerPassesUnchanged(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{"id":"x"}`)
		_ = z.Close()
	}
	s, _ := start(t, u, nil)
	r, err := http.NewRequest(http.MethodPost, s.URL+"/openai/v1/chat/completions", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	z, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(z); err != nil || string(data) != `{"id":"x"}` || res.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestTheTrailerOfAnAnswerPasses(t *testing.T) {
	u := newUpstream(t)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.Header().Set("X-Sum", "7")
	}
	s, _ := start(t, u, nil)
	res, err := http.Post(s.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if data, err := io.ReadAll(res.Body); err != nil || string(data) != "data: 1\n\n" || res.Trailer.Get("X-Sum") != "7" {
		t.Errorf("got %q with the trailer %v, %v", data, res.Trailer, err)
	}
}

func TestACancellationByTheClientReachesTheUpstream(t *testing.T) {
	u := newUpstream(t)
	canceled := make(chan struct{})
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(canceled)
	}
	s, _ := start(t, u, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/openai/v1/chat/completions", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	cancel()
	<-canceled
}

// FuzzAnswer holds that no answer makes the proxy panic, and that none changes on its way unless its text repeats itself for certain.
func FuzzAnswer(f *testing.F) {
	f.Add("text/event-stream", []byte("data: {\"id\":\"a\",\"usage\":{\"input_tokens\":3}}\n\n"))
	f.Add("application/json", []byte(`[{"usageMetadata":{"promptTokenCount":1}}]`))
	for name := range documentedEvents {
		for _, stream := range fixtures(f, name) {
			f.Add("text/event-stream", stream)
		}
	}
	for name, say := range speech {
		f.Add("text/event-stream", []byte(say(pieces(name+strings.Repeat("Let me check the file once more. ", 200)))))
	}
	f.Fuzz(func(t *testing.T, kind string, answer []byte) {
		for _, a := range []api{chat{}, responses{}, anthropic{}, gemini{}} {
			body := newTap(&http.Response{Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(answer))}, func(*outcome) {})
			body.ending = &ending{api: a}
			got, err := io.ReadAll(body)
			if err != nil || !body.ending.certain && !bytes.Equal(got, answer) {
				t.Fatalf("got %q, %v, want %q", got, err, answer)
			}
		}
	})
}

// benchmarkProxy serves a proxy in front of address without a test's bookkeeping.
func benchmarkProxy(b *testing.B, address string) *httptest.Server {
	b.Helper()
	base, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		b.Fatal(err)
	}
	made, err := New(Options{
		Profile: p, Mode: Guard, OnHalt: HaltAnswer, MaxBody: 8 << 20, MaxBodies: 1 << 30, MaxMemory: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Upstreams: map[string]*url.URL{"openai": base},
	})
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(made)
	b.Cleanup(s.Close)
	return s
}
