package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/profile"
)

// severalCalls are answers of the APIs with a call of each command, not streamed.
var severalCalls = map[string]func(commands ...string) string{
	"chat": func(commands ...string) string {
		var calls []string
		for k, command := range commands {
			args, _ := json.Marshal(fmt.Sprintf(`{"command":%q}`, command))
			calls = append(calls, fmt.Sprintf(`{"id":"new_%d","type":"function","function":{"name":"bash","arguments":%s}}`, k, args))
		}
		return `{"id":"x","big":12345678901234567890,"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"on it","tool_calls":[` +
			strings.Join(calls, ",") + `]}}]}`
	},
	"responses": func(commands ...string) string {
		items := []string{
			`{"type":"reasoning","id":"rs","summary":[]}`,
			`{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":"on it","annotations":[]}]}`,
		}
		for k, command := range commands {
			args, _ := json.Marshal(fmt.Sprintf(`{"command":%q}`, command))
			items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"new_%d","name":"bash","arguments":%s}`, k, k, args))
		}
		return `{"id":"x","object":"response","status":"completed","big":12345678901234567890,"output":[` + strings.Join(items, ",") + `]}`
	},
	"anthropic": func(commands ...string) string {
		calls := []string{`{"type":"thinking","thinking":"<b>","signature":"s=="}`}
		for k, command := range commands {
			calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"new_%d","name":"bash","input":{"command":%q}}`, k, command))
		}
		return `{"id":"x","type":"message","role":"assistant","stop_reason":"tool_use","content":[` + strings.Join(calls, ",") + `]}`
	},
	"gemini": func(commands ...string) string {
		var calls []string
		for _, command := range commands {
			calls = append(calls, fmt.Sprintf(`{"functionCall":{"name":"bash","args":{"command":%q}}}`, command))
		}
		return `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[` + strings.Join(calls, ",") + `]}}]}`
	},
}

// streamedCalls is an answer of the Messages API as a stream. The inputs come in pieces.
func streamedCalls(commands ...string) string {
	var s stream
	s.event("message_start", map[string]any{"type": "message_start", "message": map[string]any{"id": "x", "content": []any{}}})
	for k, command := range commands {
		s.event("content_block_start", map[string]any{
			"type": "content_block_start", "index": k,
			"content_block": map[string]any{"type": "tool_use", "id": fmt.Sprint("new_", k), "name": "bash", "input": map[string]any{}},
		})
		input := fmt.Sprintf(`{"command":%q}`, command)
		for _, piece := range []string{"", input[:5], input[5:]} {
			s.event("content_block_delta", map[string]any{
				"type": "content_block_delta", "index": k, "delta": map[string]any{"type": "input_json_delta", "partial_json": piece},
			})
		}
		s.raw("event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n")
		s.event("content_block_stop", map[string]any{"type": "content_block_stop", "index": k})
	}
	s.event("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "tool_use"}})
	s.event("message_stop", map[string]any{"type": "message_stop"})
	return s.b.String()
}

// askWith plays an agent that repeats a call until its calls are blocked, and returns what an answer with the commands becomes.
func askWith(t *testing.T, name string, mode Mode, commands ...string) (sent, got string, p *Proxy) {
	return askAndRecord(t, name, mode, nil, commands...)
}

func askAndRecord(t *testing.T, name string, mode Mode, record func(*unloop.Event), commands ...string) (sent, got string, p *Proxy) {
	u := newUpstream(t)
	s, p := start(t, u, func(o *Options) { o.Mode, o.Record = mode, record })
	d := dialects[name]
	d.path = strings.Replace(d.path, "streamGenerateContent?alt=sse", "generateContent", 1)
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
	blocks := func() bool {
		a.ask()
		c := p.conversations
		for _, key := range c.kept.Keys() {
			if e, _ := c.kept.Peek(key); e.conversation.turn.decision.Code == "blocked" {
				return true
			}
		}
		return false
	}
	for !blocks() {
		if a.call("make", "make: *** no rule to make target all"); a.n > 40 {
			t.Fatal("no call was blocked")
		}
	}
	sent = severalCalls[name](commands...)
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, sent)
	}
	_, got = a.ask()
	return sent, got, p
}

func TestACallThatContinuesALoopIsTakenOutOfAnAnswerWithOthers(t *testing.T) {
	for name := range severalCalls {
		t.Run(name, func(t *testing.T) {
			sent, got, p := askWith(t, name, Guard, "ls src", "make", "cat Makefile")
			if got == sent || !json.Valid([]byte(got)) || p.Stats().Blocked != 1 {
				t.Fatalf("the answer became %s; %+v", got, p.Stats())
			}
			for text, want := range map[string]int{"ls src": 1, "cat Makefile": 1, "[unloop] The call of bash was not made.": 1} {
				if n := strings.Count(got, text); n != want {
					t.Errorf("%q is there %d times, want %d, in %s", text, n, want, got)
				}
			}
			var without any
			if err := json.Unmarshal([]byte(severalCalls[name]("ls src", "cat Makefile")), &without); err != nil {
				t.Fatal(err)
			}
			for _, kept := range []string{`12345678901234567890`, `"signature":"s=="`, `"thinking":"<b>"`, `on it`} {
				if strings.Contains(sent, kept) && !strings.Contains(got, kept) {
					t.Errorf("%s is lost in %s", kept, got)
				}
			}
		})
	}
}

func TestWhatTheGuardDoesIsRecorded(t *testing.T) {
	var mu sync.Mutex
	var events []*unloop.Event
	record := func(e *unloop.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e.Clone())
	}
	askAndRecord(t, "chat", Guard, record, "ls src", "make", "cat Makefile")
	mu.Lock()
	defer mu.Unlock()
	if report, told := events[0].GuardReport(); !told || report.By != "proxy" || report.Action != "" {
		t.Errorf("the first event says %s", events[0].Metadata)
	}
	nudged, withheld, ids := 0, []string{}, make(map[string]bool)
	for _, e := range events {
		if ids[e.ID] {
			if e.Type != unloop.GuardDecision { // the same request again
				t.Errorf("the id %s comes twice", e.ID)
			}
			continue
		}
		ids[e.ID] = true
		report, _ := e.GuardReport()
		switch {
		case e.Type == unloop.GuardDecision && report.Action == "warn":
			nudged++
		case report.Action == "block" || e.Type == unloop.ToolCallBlocked:
			withheld = append(withheld, string(e.Type)+" "+e.CallID+" "+report.By)
		}
	}
	if diff := cmp.Diff([]string{"tool_call_started new_1 proxy", "tool_call_blocked new_1 "}, withheld); diff != "" || nudged == 0 {
		t.Errorf("%d nudges; withheld: %s", nudged, diff)
	}
}

func TestAnAnswerStaysAsItIs(t *testing.T) {
	for name := range severalCalls {
		for about, tc := range map[string]struct {
			mode     Mode
			commands []string
		}{
			"if all of its calls continue the loop": {Guard, []string{"make"}},
			"if none does":                          {Guard, []string{"ls src", "cat Makefile"}},
			"without a call":                        {Guard, nil},
			"in the mode nudge":                     {Nudge, []string{"make", "ls src"}},
		} {
			t.Run(name+" "+about, func(t *testing.T) {
				if sent, got, _ := askWith(t, name, tc.mode, tc.commands...); got != sent {
					t.Errorf("%s became %s", sent, got)
				}
			})
		}
	}
}

func TestACallIsTakenOutOfAStreamOfBlocksAndTheOthersPassWhereverTheChunksEnd(t *testing.T) {
	_, _, p := askWith(t, "anthropic", Guard, "ls src")
	v := verdict{kept: p.conversations.kept.Keys()[0]}
	e, _ := p.conversations.kept.Peek(v.kept)
	v.run, v.sequence = e.conversation.run, e.conversation.sequence
	read := func(t *rapid.T, sent string) (string, int) {
		blocked := 0
		sizes := rapid.SliceOfN(rapid.IntRange(1, 700), 1, 8).Draw(t, "sizes")
		w := newWithholdStream(io.NopCloser(nettest.NewChunks(sent, sizes...)), p.conversations.try(anthropic{}, v), func(*withheld) { blocked++ })
		got, err := io.ReadAll(w)
		if err != nil {
			t.Fatal(err)
		}
		return string(got), blocked
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, sent := range []string{streamedCalls("ls", "pwd"), streamedCalls("make", "make"), streamedCalls(), "event: x\n", "data: {\"type\":\n\n", streamedCalls("ls", "make")[:900]} {
			if got, _ := read(t, sent); got != sent {
				t.Fatalf("%s\nbecame\n%s", sent, got)
			}
		}
		for n, commands := range [][]string{{"make", "ls", "pwd"}, {"ls", "make", "pwd"}} {
			sent := streamedCalls(commands...)
			got, blocked := read(t, sent)
			from, to := strings.Index(sent, fmt.Sprintf("%q", fmt.Sprint("new_", n))), strings.Index(sent, fmt.Sprintf("%q", fmt.Sprint("new_", n+1)))
			from, to = strings.LastIndex(sent[:from], "event:"), strings.LastIndex(sent[:to], "event:")
			middle, ok := strings.CutPrefix(got, sent[:from])
			middle, end := strings.CutSuffix(middle, sent[to:])
			if blocked != 1 || !ok || !end || strings.Count(middle, fmt.Sprintf(`"index":%d`, n)) != 3 || !strings.Contains(middle, "[unloop] The call of bash") {
				t.Fatalf("%d blocked, and the stream became\n%s", blocked, got)
			}
		}
	})
}

func TestACallIsTakenOutOfAStreamOfGemini(t *testing.T) {
	_, _, p := askWith(t, "gemini", Guard, "ls src")
	v := verdict{kept: p.conversations.kept.Keys()[0]}
	e, _ := p.conversations.kept.Peek(v.kept)
	v.run, v.sequence = e.conversation.run, e.conversation.sequence
	chunk := func(parts ...string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]},"index":0}],"big":12345678901234567890}` + "\r\n\r\n"
	}
	call := func(command, more string) string {
		return fmt.Sprintf(`{"functionCall":{"name":"bash","args":{"command":%q}}%s}`, command, more)
	}
	const signed = `,"thoughtSignature":"s=="`
	const end = `data: {"candidates":[{"finishReason":"STOP","index":0}]}` + "\r\n\r\n"
	for name, tc := range map[string]struct {
		sent    string
		blocked int
	}{
		"the first call":         {chunk(`{"text":"a"}`, call("make", "")) + chunk(call("pwd", "")) + end, 1},
		"the second call":        {chunk(call("ls", "")) + chunk(call("make", ""), call("pwd", "")) + chunk(`{"text":"b"}`) + end, 1},
		"behind a signed call":   {chunk(call("pwd", signed)) + chunk(call("make", "")) + end, 1},
		"not if it is signed":    {chunk(call("make", signed)) + chunk(call("pwd", "")) + end, 0},
		"not the only call":      {chunk(call("make", "")) + end, 0},
		"not without an end":     {chunk(call("pwd", "")) + chunk(call("make", "")), 0},
		"not with invalid bytes": {chunk(call("ls", "")) + "data: {\"candidates\":\r\n\r\n: ping\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sizes := range chunkSizes {
				blocked := 0
				try := p.conversations.try(gemini{}, v)
				data, err := io.ReadAll(newWithholdStream(io.NopCloser(nettest.NewChunks(tc.sent, sizes...)), try, func(*withheld) { blocked++ }))
				if err != nil {
					t.Fatal(err)
				}
				got := string(data)
				if blocked != tc.blocked || tc.blocked == 0 && got != tc.sent {
					t.Fatalf("%d blocked, and %s became\n%s", blocked, tc.sent, got)
				}
				for _, data := range eventsOf(t, got) {
					if blocked > 0 && !json.Valid(data) {
						t.Fatalf("invalid data %s", data)
					}
				}
				if blocked > 0 && (strings.Contains(got, `"make"`) || !strings.Contains(got, "[unloop] The call of bash was not made.") || !strings.Contains(got, `"pwd"`) ||
					strings.Count(got, "12345678901234567890") != strings.Count(tc.sent, "12345678901234567890")) {
					t.Fatalf("%s became\n%s", tc.sent, got)
				}
			}
		})
	}
}

func TestACallStaysInAnAnswerOfTheResponsesAPI(t *testing.T) {
	for about, change := range map[string]func(body, answer string) (string, string){
		"that the API keeps": func(body, answer string) (string, string) {
			return strings.Replace(body, `"store":false,`, "", 1), answer
		},
		"behind its reasoning": func(body, answer string) (string, string) {
			return body, strings.Replace(answer, `{"type":"function_call","id":"fc_1"`, `{"type":"reasoning","id":"rs_1"},{"type":"function_call","id":"fc_1"`, 1)
		},
	} {
		t.Run(about, func(t *testing.T) {
			u := newUpstream(t)
			s, p := start(t, u, nil)
			d := dialects["responses"]
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
			sent := ""
			a.body = func(items []string, _ bool) (body string) {
				body, sent = change(d.body(items, false), severalCalls["responses"]("ls src", "make"))
				return body
			}
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, sent)
			}
			for p.Stats().Halted == 0 && a.n < 40 {
				a.call("make", "make: *** no rule to make target all")
				if _, got := a.ask(); p.Stats().Halted == 0 && got != sent {
					t.Fatalf("%s became %s", sent, got)
				}
			}
			if p.Stats().Halted != 1 || p.Stats().Blocked != 0 {
				t.Errorf("stats are %+v", p.Stats())
			}
		})
	}
}

func TestAStreamWithABlockedCallReachesTheClient(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, nil)
	d := dialects["anthropic"]
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
	u.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, streamedCalls("pwd", "make"))
	}
	for a.n < 40 && p.Stats().Blocked == 0 {
		a.call("make", "make: *** no rule to make target all")
		if _, got := a.ask(); p.Stats().Blocked > 0 && (!strings.Contains(got, "[unloop] The call of bash was not made.") || !strings.Contains(got, "message_stop")) {
			t.Errorf("got %s", got)
		}
	}
	if got := p.Stats(); got.Blocked != 1 || got.Halted != 0 {
		t.Errorf("stats are %+v", got)
	}
}

func TestAHistoryWithATextOfTheProxyKeepsTheCallsBesideIt(t *testing.T) {
	u := newUpstream(t)
	s, p := start(t, u, nil)
	d := dialects["chat"]
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
	for k := range 3 {
		calls := d.calls(fmt.Sprint("c", k), fmt.Sprint("ls ", k), "a")
		calls[0] = strings.Replace(calls[0], `"content":null`, `"content":"[unloop] The call of bash was not made."`, 1)
		a.items = slices.Concat(a.items, calls)
	}
	a.ask()
	key := p.conversations.kept.Keys()[0]
	e, _ := p.conversations.kept.Peek(key)
	if diff := cmp.Diff(3, e.conversation.session.Run().Calls()); diff != "" {
		t.Error(diff)
	}
}

// FuzzWithhold holds that no answer makes the proxy panic, and that a changed answer is valid JSON with fewer calls.
func FuzzWithhold(f *testing.F) {
	for _, answer := range severalCalls {
		f.Add([]byte(answer("make", "ls")))
	}
	f.Add([]byte(streamedCalls("make", "ls")))
	f.Add([]byte(streamedChunks("make", "ls", "make")))
	f.Add([]byte(streamedItems("ls", "make", "ls", "make")))
	for name := range dialects {
		for _, stream := range fixtures(f, name) {
			f.Add(stream)
		}
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		f.Fatal(err)
	}
	state := blocking(f, p)
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, a := range []withholder{chat{}, responses{}, anthropic{}, gemini{}} {
			try := func() *trial {
				session, err := p.Restore(state)
				if err != nil {
					t.Fatal(err)
				}
				return &trial{a, p, session, verdict{run: "r"}}
			}
			if changed, blocked := try().withhold(answer); len(blocked) > 0 && !json.Valid(changed) {
				t.Fatalf("%T makes %q of %q", a, changed, answer)
			}
			blocked := 0
			got, err := io.ReadAll(newWithholdStream(io.NopCloser(bytes.NewReader(answer)), try(), func(*withheld) { blocked++ }))
			if err != nil || blocked == 0 && !bytes.Equal(got, answer) {
				t.Fatalf("%q became %q, %v", answer, got, err)
			}
		}
	})
}

// blocking returns the state of a run whose next call of make is blocked.
func blocking(tb testing.TB, p *profile.Profile) []byte {
	s, d := newConversations(Options{Profile: p, MaxMemory: 1 << 20}), dialects["chat"]
	items := []string{d.says("fix the build")}
	for n := range 40 {
		items = append(items, d.calls(fmt.Sprint("c", n), "make", "make: *** no rule to make target all")...)
		v, err := s.judge(chat{}, []byte(d.body(items, true)), "s")
		if err != nil {
			tb.Fatal(err)
		}
		if v.turn.decision.Code != "blocked" {
			continue
		}
		e, _ := s.kept.Peek(v.kept)
		state, err := e.conversation.session.AppendBinary(nil)
		if err != nil {
			tb.Fatal(err)
		}
		return state
	}
	tb.Fatal("no call was blocked")
	return nil
}
