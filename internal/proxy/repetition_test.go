package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// speech returns the events of a stream that says a text in pieces, without its end.
var speech = map[string]func(pieces []string) string{
	"chat": func(pieces []string) (s string) {
		for _, p := range pieces {
			s += fmt.Sprintf("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", p)
		}
		return s
	},
	"responses": func(pieces []string) string {
		s := "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"output\":[]}}\n\n"
		for i, p := range pieces {
			s += fmt.Sprintf("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":%q}\n\n", i+1, p)
		}
		return s
	},
	"anthropic": func(pieces []string) string {
		s := "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
		for _, p := range pieces {
			s += fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n", p)
		}
		return s
	},
	"gemini": func(pieces []string) (s string) {
		for _, p := range pieces {
			s += fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":%q}]},\"index\":0}]}\r\n\r\n", p)
		}
		return s
	},
}

// ends are how the stream of an API ends in order.
var ends = map[string]string{"chat": "data: [DONE]\n\n", "responses": "response.completed", "anthropic": "message_stop", "gemini": `"finishReason":"STOP"`}

// pieces returns a text in pieces of a few bytes.
func pieces(text string) (all []string) {
	for len(text) > 0 {
		n := min(7, len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

func TestAStreamThatRepeatsItselfIsEndedInOrder(t *testing.T) {
	for name, say := range speech {
		t.Run(name, func(t *testing.T) {
			whole := say(pieces("I will look. " + strings.Repeat("Let me check the file once more. ", 400)))
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, whole)
			}
			var r recorded
			s, p := start(t, u, func(o *Options) { o.Record = r.add })
			d := dialects[name]
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
			_, got := a.ask()
			s.Close()
			if len(got) > len(whole)/2 || !strings.Contains(got, haltPrefix) || !strings.Contains(got[len(got)-min(len(got), 12000):], ends[name]) {
				t.Fatalf("%d of %d bytes came, which end in %q", len(got), len(whole), got[max(0, len(got)-300):])
			}
			begun := 0
			for begun < len(got) && got[begun] == whole[begun] {
				begun++
			}
			if rest := got[begun:]; begun < 4000 || strings.Count(rest, "\n\n") > 8 {
				t.Errorf("after %d equal bytes came %q", begun, rest)
			}
			for line := range strings.Lines(got) {
				if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) && data != "[DONE]\n" {
					t.Errorf("invalid data %q", data)
				}
			}
			if p.Stats().Ended != 1 {
				t.Errorf("stats are %+v", p.Stats())
			}
			decisions := r.of(unloop.GuardDecision)
			if len(decisions) != 1 {
				t.Fatalf("the decisions are %+v", decisions)
			}
			if d, _ := decisions[0].GuardReport(); d.Action != "block" || d.Code != "repeating_answer" || d.Count < certainTimes || !strings.HasPrefix(d.Message, haltPrefix) {
				t.Errorf("the decision is %+v", d)
			}
		})
	}
}

// The official client of OpenAI for Go stops reading at the last event, so the end of the answer may reach the proxy late.
func TestAStreamThatIsEndedIsRecordedBeforeItsLastEventsAreSent(t *testing.T) {
	whole := speech["chat"](pieces(strings.Repeat("Let me check the file once more. ", 400)))
	recorded := false
	tapped := newTap(&http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(whole))}, func(*outcome) { recorded = true })
	tapped.ending = &ending{api: chat{}}
	for part := make([]byte, 100); tapped.last == nil; {
		if _, err := tapped.Read(part); err != nil {
			t.Fatalf("the stream is not ended: %v", err)
		}
	}
	if !recorded {
		t.Error("the last events are sent before the answer is recorded")
	}
}

// thoughts returns the events of a stream that reasons in pieces, without its end.
var thoughts = map[string]func(pieces []string) string{
	"chat": func(pieces []string) string {
		return strings.ReplaceAll(speech["chat"](pieces), `"content"`, `"reasoning_content"`)
	},
	"gemini": func(pieces []string) string {
		return strings.ReplaceAll(speech["gemini"](pieces), `{"text"`, `{"thought":true,"text"`)
	},
	"responses": func(pieces []string) string {
		return strings.ReplaceAll(speech["responses"](pieces), "output_text", "reasoning_text")
	},
	"anthropic": func(pieces []string) string {
		return strings.ReplaceAll(strings.ReplaceAll(speech["anthropic"](pieces), "text_delta", "thinking_delta"), `"text"`, `"thinking"`)
	},
}

func TestReasoningThatRepeatsItselfIsEndedWhereItIsNotSigned(t *testing.T) {
	for name, think := range thoughts {
		t.Run(name, func(t *testing.T) {
			whole := think(pieces("I will look. " + strings.Repeat("Let me check the file once more. ", 400)))
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, whole)
			}
			s, p := start(t, u, nil)
			d := dialects[name]
			_, got := (&agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}).ask()
			if name == "anthropic" { // signed
				if got != whole || p.Stats().Ended != 0 {
					t.Errorf("%d of %d bytes came", len(got), len(whole))
				}
				return
			}
			if p.Stats().Ended != 1 || len(got) > len(whole)/2 || !strings.Contains(got, ends[name]) || strings.Contains(got[strings.Index(got, haltPrefix):], "Let me check") {
				t.Errorf("%d of %d bytes came, which end in %q", len(got), len(whole), got[max(0, len(got)-900):])
			}
		})
	}
}

func TestAStreamThatIsNoRepetitionPasses(t *testing.T) {
	var numbered strings.Builder
	for i := range 200 {
		fmt.Fprintf(&numbered, "%d. The row of number %d has the value %d.\n", i, i, i*i)
	}
	for what, text := range map[string]string{
		"a rule": strings.Repeat("-", 6000), "zeros": strings.Repeat("0, ", 2000), "ten times": strings.Repeat(strings.Repeat("abcdefghi ", 5), 10),
		"numbered lines": numbered.String(),
	} {
		for name, say := range speech {
			t.Run(what+" in "+name, func(t *testing.T) {
				whole := say(pieces(text))
				u := newUpstream(t)
				u.answer = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					w.(http.Flusher).Flush()
					_, _ = io.WriteString(w, whole)
				}
				s, _ := start(t, u, nil)
				d := dialects[name]
				if _, got := (&agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}).ask(); got != whole {
					t.Errorf("%d of %d bytes came unchanged", len(got), len(whole))
				}
			})
		}
	}
}
