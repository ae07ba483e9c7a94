package proxy

import (
	"bytes"
	"cmp"
	"io"
	"mime"
	"net/http"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Limits of the answers that are read, in bytes. A longer document, or a longer line of a stream, passes unread.
const (
	maxDocument = 16 << 20 // an answer that is one document
	maxLine     = 16 << 20 // a line of a stream
)

// outcome is the part of an answer that is recorded.
type outcome struct {
	ID     string // of the response
	Model  string
	Usage  unloop.Usage
	Output []jsontext.Value // the items of a response of the Responses API
}

// answerPart is a document or an event of an answer, of any API, as far as it is read.
type answerPart struct {
	ID       string           `json:"id"`
	Model    string           `json:"model"`
	Usage    *answerUsage     `json:"usage"`
	Output   []jsontext.Value `json:"output"`
	Response *answerPart      `json:"response"` // in events of the Responses API
	Message  *answerPart      `json:"message"`  // in events of the Messages API

	ModelVersion string `json:"modelVersion"` // of Gemini
	Gemini       *struct {
		Prompt    int64 `json:"promptTokenCount"`
		Answer    int64 `json:"candidatesTokenCount"`
		Reasoning int64 `json:"thoughtsTokenCount"`
		Cached    int64 `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
}

// answerUsage is the usage in the forms of OpenAI's APIs and Anthropic's.
type answerUsage struct {
	Prompt        int64       `json:"prompt_tokens"`
	Completion    int64       `json:"completion_tokens"`
	PromptKinds   answerKinds `json:"prompt_tokens_details"`
	AnswerKinds   answerKinds `json:"completion_tokens_details"`
	Input         int64       `json:"input_tokens"`
	Output        int64       `json:"output_tokens"`
	InputDetails  answerKinds `json:"input_tokens_details"`
	OutputDetails answerKinds `json:"output_tokens_details"`
	CacheRead     int64       `json:"cache_read_input_tokens"` // Anthropic's Input has no tokens of the cache
	CacheWrite    int64       `json:"cache_creation_input_tokens"`
}

type answerKinds struct {
	Cached    int64 `json:"cached_tokens"`
	Reasoning int64 `json:"reasoning_tokens"`
	Thinking  int64 `json:"thinking_tokens"`
}

// take adds the members of a part. A later count replaces an earlier one.
func (o *outcome) take(p *answerPart) {
	for _, inner := range []*answerPart{p.Response, p.Message} {
		if inner != nil {
			o.take(inner)
		}
	}
	o.ID, o.Model = cmp.Or(o.ID, p.ID), cmp.Or(o.Model, p.Model, p.ModelVersion)
	if len(p.Output) > 0 {
		o.Output = p.Output
	}
	if u := p.Usage; u != nil {
		o.count(unloop.Usage{
			Input: u.Prompt + u.Input + u.CacheRead + u.CacheWrite, Output: u.Completion + u.Output,
			CachedInput: u.PromptKinds.Cached + u.InputDetails.Cached + u.CacheRead, CacheWrite: u.CacheWrite,
			Reasoning: u.AnswerKinds.Reasoning + u.OutputDetails.Reasoning + u.OutputDetails.Thinking,
		})
	}
	if g := p.Gemini; g != nil {
		o.count(unloop.Usage{Input: g.Prompt, Output: g.Answer + g.Reasoning, CachedInput: g.Cached, Reasoning: g.Reasoning})
	}
}

// count keeps the counts that are known.
func (o *outcome) count(u unloop.Usage) {
	known, more := ingest.TokenKinds(o.Usage), ingest.TokenKinds(u)
	if more == nil {
		return
	}
	if known == nil {
		known = &unloop.Usage{}
	}
	o.Usage = unloop.Usage{
		Input: max(known.Input, more.Input), Output: max(known.Output, more.Output), CachedInput: max(known.CachedInput, more.CachedInput),
		CacheWrite: max(known.CacheWrite, more.CacheWrite), Reasoning: max(known.Reasoning, more.Reasoning),
	}
}

// takeJSON adds the members of a document, which may be a list of parts.
func (o *outcome) takeJSON(data []byte) {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		var parts []answerPart
		if jsonv2.Unmarshal(data, &parts, lenient) == nil {
			for i := range parts {
				o.take(&parts[i])
			}
		}
		return
	}
	var p answerPart
	if jsonv2.Unmarshal(data, &p, lenient) == nil {
		o.take(&p)
	}
}

// tap is the body of an answer. It reads the answer while it passes, and changes nothing, except that it ends a stream that repeats
// itself.
type tap struct {
	body   io.ReadCloser
	stream bool // of server-sent events
	rest   []byte
	long   bool // the document, or the line, is over its limit
	out    outcome
	once   sync.Once
	done   func(*outcome)

	ending *ending // nil if streams are not ended
	last   []byte  // the unread bytes behind the end of an ended stream; nil before
}

// newTap returns a tap of an answer, which calls done once at its end. It reads no answer that is compressed.
func newTap(res *http.Response, done func(*outcome)) *tap {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // another one is not read
	t := &tap{body: res.Body, stream: kind == "text/event-stream", done: done}
	t.long = !t.stream && kind != "application/json" || res.Header.Get("Content-Encoding") != ""
	if t.long {
		t.stream = false
	}
	return t
}

func (t *tap) Read(p []byte) (int, error) {
	if t.last != nil {
		n := copy(p, t.last)
		if t.last = t.last[n:]; n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n, err := t.body.Read(p)
	switch {
	case t.stream:
		if border := t.feed(p[:n]); border >= 0 {
			_ = t.body.Close() // the rest is not wanted
			t.last = t.ending.end()
			t.end() // now, because a client may stop reading at the last event
			return border, nil
		}
	case !t.long:
		t.rest = append(t.rest, p[:n]...)
		if len(t.rest) > maxDocument {
			t.long, t.rest = true, nil
		}
	}
	if err != nil {
		t.end()
	}
	return n, err
}

// feed reads the lines of a stream. It returns the end of the event behind which the stream is to be ended, and -1 otherwise.
func (t *tap) feed(all []byte) int {
	for data := all; len(data) > 0; {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		switch {
		case !t.long && len(t.rest)+len(line) > maxLine:
			t.long, t.rest = true, nil
		case !t.long && (len(t.rest) > 0 || !ended):
			t.rest = append(t.rest, line...)
			line = t.rest
		}
		if !ended {
			return -1
		}
		if !t.long {
			t.line(line)
		}
		t.long, t.rest = false, t.rest[:0]
		if t.ending != nil && len(bytes.TrimRight(line, "\r")) == 0 && t.ending.complete() {
			return len(all) - len(data)
		}
	}
	return -1
}

// line reads a line of a stream. Most lines hold a piece of text, and no counts.
func (t *tap) line(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if ok && t.ending != nil {
		t.ending.take(data)
	}
	if !ok || t.out.ID != "" && !bytes.Contains(data, []byte(`"usage`)) {
		return
	}
	t.out.takeJSON(data)
}

// end calls done with the outcome.
func (t *tap) end() {
	t.once.Do(func() {
		if !t.stream && !t.long {
			t.out.takeJSON(t.rest)
		}
		t.rest = nil
		t.done(&t.out)
	})
}

func (t *tap) Close() error {
	err := t.body.Close()
	t.end()
	return err
}
