package proxy

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/reverseproxy"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// withholder is an API from whose answers single calls can be taken.
type withholder interface {
	api
	// calls returns the path to the list in an answer that contains the calls.
	calls() []string
	// asItem returns an element of that list as an item of a history, and nil if it is no call that the client makes.
	asItem(element jsontext.Value) jsontext.Value
	// mustStay reports whether a call cannot be taken out of the list. It is behind the element before, which is nil for none.
	mustStay(call, before jsontext.Value) bool
	// instead returns what is written in the place of a call in the list: the text, or nil if the list can hold no text.
	instead(text string) jsontext.Value
	// filter returns the filter of a stream.
	filter(a *streamedAnswer) callFilter
}

func (chat) calls() []string { return []string{"choices", "0", "message", "tool_calls"} }

func (chat) asItem(call jsontext.Value) jsontext.Value {
	return bytes.Join([][]byte{[]byte(`{"role":"assistant","tool_calls":[`), call, []byte(`]}`)}, nil)
}

func (chat) mustStay(_, _ jsontext.Value) bool { return false }

func (chat) instead(string) jsontext.Value { return nil }

func (anthropic) calls() []string { return []string{"content"} }

func (anthropic) asItem(block jsontext.Value) jsontext.Value {
	if typeOf(block) != "tool_use" {
		return nil
	}
	return bytes.Join([][]byte{[]byte(`{"role":"assistant","content":[`), block, []byte(`]}`)}, nil)
}

func (anthropic) mustStay(_, _ jsontext.Value) bool { return false }

func (anthropic) instead(text string) jsontext.Value {
	return encode(map[string]string{"type": "text", "text": text})
}

func (gemini) calls() []string { return []string{"candidates", "0", "content", "parts"} }

func (gemini) asItem(part jsontext.Value) jsontext.Value {
	var p struct {
		Call jsontext.Value `json:"functionCall"`
	}
	if jsonv2.Unmarshal(part, &p, lenient) != nil || p.Call == nil {
		return nil
	}
	return bytes.Join([][]byte{[]byte(`{"role":"model","parts":[`), part, []byte(`]}`)}, nil)
}

// mustStay: the API wants the signature of a call back.
func (gemini) mustStay(part, _ jsontext.Value) bool {
	var p struct {
		Signature string `json:"thoughtSignature"`
	}
	return jsonv2.Unmarshal(part, &p, lenient) != nil || p.Signature != ""
}

func (gemini) instead(text string) jsontext.Value { return encode(map[string]string{"text": text}) }

func (responses) calls() []string { return []string{"output"} }

// asItem leaves out the calls that the API has made itself, such as a search of the web.
func (responses) asItem(element jsontext.Value) jsontext.Value {
	switch typeOf(element) {
	case "function_call", "custom_tool_call", "local_shell_call":
		return element
	}
	return nil
}

// mustStay: the API wants the call behind its reasoning.
func (responses) mustStay(_, before jsontext.Value) bool { return typeOf(before) == "reasoning" }

func (responses) instead(text string) jsontext.Value {
	m := newResponsesMessage(newID("msg_"), 0, text)
	return encode(m.item("completed"))
}

// typeOf returns the type of an element of an answer, or "".
func typeOf(element jsontext.Value) string {
	var e struct {
		Type string `json:"type"`
	}
	_ = jsonv2.Unmarshal(element, &e, lenient) // another form has no type
	return e.Type
}

// change gives a value in a document another one. A name in the path that is a number is the index of an element.
func change(document jsontext.Value, path []string, to func(jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	if len(path) == 0 {
		return to(document)
	}
	if n, err := strconv.Atoi(path[0]); err == nil {
		var elements []jsontext.Value
		if err := jsonv2.Unmarshal(document, &elements, lenient); err != nil || n >= len(elements) {
			return nil, errors.Join(errNoCalls, err)
		}
		if elements[n], err = change(elements[n], path[1:], to); err != nil {
			return nil, err
		}
		return jsonv2.Marshal(elements, lenient)
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(document, &members, lenient); err != nil || members[path[0]] == nil {
		return nil, errors.Join(errNoCalls, err)
	}
	changed, err := change(members[path[0]], path[1:], to)
	if err != nil {
		return nil, err
	}
	members[path[0]] = changed
	return jsonv2.Marshal(members, lenient)
}

// errNoCalls is the error of an answer without a list that can contain calls.
var errNoCalls = errors.New("the answer has no calls")

// trial judges the calls in an answer of a model before the client receives them. It folds them into a copy of the run.
type trial struct {
	api     withholder
	profile *profile.Profile
	session *profile.Session
	verdict verdict // about the request
}

// try returns a trial of the calls that answer a request, or nil if none of them can be blocked: the run has no warning, or another
// request has continued it.
func (s *conversations) try(a withholder, v verdict) *trial {
	s.mu.Lock()
	e, ok := s.kept.Peek(v.kept)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	c := e.conversation
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.run != v.run || c.sequence != v.sequence || len(c.session.Warnings()) == 0 {
		return nil
	}
	state, err := c.session.AppendBinary(nil)
	if err != nil {
		return nil
	}
	session, err := c.profile.Restore(state)
	if err != nil {
		return nil
	}
	return &trial{a, c.profile, session, v}
}

// withheld is a call that the client does not receive.
type withheld struct {
	text             string // what the agent reads in the place of the call
	started, blocked unloop.Event
}

// blocked returns a call that must be withheld, and nil if it may be made or cannot be judged.
func (t *trial) blocked(item jsontext.Value) (call *withheld) {
	defer func() {
		if recover() != nil { // a detector has panicked
			call = nil
		}
	}()
	b := ingest.NewEventBuilder(t.verdict.run, func(e *unloop.Event) error {
		d := t.session.Add(e)
		if e.Type != unloop.ToolCallStarted || d.Action < policy.Block {
			return nil
		}
		call = &withheld{text: haltPrefix + "The call of " + e.Tool + " was not made. " + d.Message, started: *e}
		call.started.Metadata = policy.GuardReport(guardName, policy.Block, d.Code, d.Message, d.Count, d.Findings).Metadata()
		call.blocked = unloop.Event{ID: e.ID + "-blocked", RunID: e.RunID, Type: unloop.ToolCallBlocked, CallID: e.CallID, Tool: e.Tool, Time: e.Time}
		t.session.Add(&call.blocked)
		return nil
	})
	if t.api.addEvents(b, ingest.Location{}, item) != nil {
		return nil
	}
	return call
}

// withhold counts and records calls that the client does not receive. Their events have ids of their own, because no history contains
// them.
func (p *Proxy) withhold(v verdict, calls ...*withheld) {
	p.stats.blocked.Add(int64(len(calls)))
	if p.options.Record == nil {
		return
	}
	for _, c := range calls {
		id, now := "w-"+rand.Text(), time.Now()
		for k, e := range []*unloop.Event{&c.started, &c.blocked} {
			e.ID, e.Sequence, e.Time = id+"."+strconv.Itoa(k), v.sequence, now
			p.options.Record(e)
		}
	}
}

// withhold takes the blocked calls out of a whole answer and returns them, as long as one call remains: an answer without calls would
// end the agent's turn.
func (t *trial) withhold(body []byte) (changed []byte, blocked []*withheld) {
	calls, reasons := 0, ""
	changed, err := change(body, t.api.calls(), func(list jsontext.Value) (jsontext.Value, error) {
		var elements, kept []jsontext.Value
		if err := jsonv2.Unmarshal(list, &elements, lenient); err != nil {
			return nil, err
		}
		var before jsontext.Value
		for _, element := range elements {
			var call *withheld
			if item := t.api.asItem(element); item != nil {
				calls++
				if call = t.blocked(item); t.api.mustStay(element, before) {
					call = nil
				}
			}
			before = element
			if call != nil {
				blocked = append(blocked, call)
				if element = t.api.instead(call.text); element == nil {
					reasons += call.text + "\n\n"
					continue
				}
			}
			kept = append(kept, element)
		}
		return jsonv2.Marshal(kept, lenient)
	})
	if err == nil && reasons != "" {
		changed, err = sayIn(changed, reasons)
	}
	if err != nil || len(blocked) == calls {
		return nil, nil
	}
	return changed, blocked
}

// sayIn puts a text into the message of an answer of the Chat Completions API, before the model's own.
func sayIn(body jsontext.Value, text string) (jsontext.Value, error) {
	return change(body, []string{"choices", "0", "message"}, func(message jsontext.Value) (jsontext.Value, error) {
		var members map[string]jsontext.Value
		if err := jsonv2.Unmarshal(message, &members, lenient); err != nil {
			return nil, err
		}
		members["content"] = encode(text + ingest.UnquoteText(members["content"]))
		return jsonv2.Marshal(members, lenient)
	})
}

// withholdCalls takes blocked calls out of the answer of an upstream, if that is one document or a stream.
func (p *Proxy) withholdCalls(res *http.Response, j *judged) error {
	a, ok := j.api.(withholder)
	if _, stores := a.(responses); stores && !j.verdict.request.members.Unstored {
		return nil // the history at the API's side has the call, and waits for its result
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // another one is not read
	streamed := kind == "text/event-stream"
	if !ok || !streamed && kind != "application/json" || res.Header.Get("Content-Encoding") != "" || res.ContentLength > maxDocument {
		return nil
	}
	t := p.conversations.try(a, j.verdict)
	if t == nil {
		return nil
	}
	if streamed {
		res.Body = newWithholdStream(res.Body, t, func(c *withheld) { p.withhold(j.verdict, c) })
		res.ContentLength = -1
		res.Header.Del("Content-Length")
		return nil
	}
	body, err := reverseproxy.ReadUpTo(res.Body, maxDocument)
	if errors.Is(err, reverseproxy.ErrTooLarge) {
		res.Body = reverseproxy.Rejoin(body, res.Body)
		return nil
	}
	if err != nil {
		return err
	}
	if changed, calls := t.withhold(body); len(calls) > 0 {
		p.withhold(j.verdict, calls...)
		body = changed
		res.ContentLength = int64(len(body))
		res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	_ = res.Body.Close() // all of it was read
	res.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}
