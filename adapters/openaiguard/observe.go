package openaiguard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// recorded marks the contexts of requests that are already recorded.
type recorded struct{}

// maxBody is the size of an answer, in bytes, beyond which it is recorded without its content.
const maxBody = 32 << 20

// Observe is middleware for option.WithMiddleware. It records in the guard of the request's context, from guard.NewContext: the model
// calls, the messages of the user and the model, and the tool calls that the model wants, with their results, which the next request
// contains. It reads chat completions and responses, streamed or not. It changes nothing and never fails a request. A request whose
// context has no guard is not recorded, and the requests of a Loop are recorded by the Loop.
//
// Agents whose tools run under the guard use ObserveModel instead, since the guard already records the calls.
func Observe(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, true)
}

// ObserveModel is Observe without the tool calls and their results.
func ObserveModel(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, false)
}

func observe(req *http.Request, next option.MiddlewareNext, tools bool) (*http.Response, error) {
	ctx := req.Context()
	g, read := guard.FromContext(ctx), dialectOf(req)
	if g == nil || read == nil || ctx.Value(recorded{}) != nil {
		return next(req)
	}
	o := &observation{ctx: context.WithoutCancel(ctx), guard: g, dialect: read, tools: tools, began: time.Now()}
	o.begin(req)
	res, err := next(req)
	switch {
	case err != nil:
		o.guard.Record(o.ctx, failed(o.model, err.Error(), o.began))
	case res.StatusCode >= http.StatusBadRequest:
		o.guard.Record(o.ctx, failed(o.model, "status "+res.Status, o.began))
	default:
		o.header = res.Header
		res.Body = &tee{body: res.Body, end: o.end}
	}
	return res, err
}

// dialectOf returns how the requests and answers of an API are read, or nil if it is not one with messages.
func dialectOf(req *http.Request) dialect {
	switch {
	case req.Method != http.MethodPost || req.Body == nil || req.GetBody == nil:
		return nil
	case strings.HasSuffix(req.URL.Path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(req.URL.Path, "/responses"):
		return responsesAPI{}
	}
	return nil
}

// observation is one model call, from its request to the end of its answer.
type observation struct {
	ctx     context.Context
	guard   *guard.Guard
	dialect dialect
	tools   bool
	model   string
	began   time.Time
	header  http.Header
}

// begin records what is new in a request. A retry has nothing new.
func (o *observation) begin(req *http.Request) {
	if body, err := req.GetBody(); err == nil {
		data, err := io.ReadAll(body)
		_ = body.Close() // it is read from memory
		if asked := o.dialect.request(data); err == nil {
			o.model = asked.model
			if retry := req.Header.Get("X-Stainless-Retry-Count"); retry == "" || retry == "0" {
				o.news(asked)
			}
		}
	}
	o.guard.Record(o.ctx, unloop.Event{Type: unloop.LLMCallStarted, Model: o.model})
}

func (o *observation) news(asked request) {
	for _, r := range asked.results {
		if o.tools {
			o.guard.Record(o.ctx, unloop.Event{Type: unloop.ToolCallCompleted, CallID: r.id, Tool: r.tool, Output: r.output})
		}
	}
	if asked.user != "" {
		o.guard.Text(o.ctx, unloop.RoleUser, "", asked.user)
	}
}

// end records an answer. It reads data as the client does, and the rest of an answer that the client did not read is not known.
func (o *observation) end(data []byte, err error) {
	a := answer{model: o.model}
	switch {
	case err != nil:
		a.err = err.Error()
	case strings.HasPrefix(o.header.Get("Content-Type"), "text/event-stream"):
		a = o.dialect.stream(&http.Response{Header: o.header, Body: io.NopCloser(bytes.NewReader(data))})
	default:
		a = o.dialect.answer(data)
	}
	if a.model == "" {
		a.model = o.model
	}
	if a.err != "" {
		o.guard.Record(o.ctx, failed(a.model, a.err, o.began))
		return
	}
	o.guard.Record(o.ctx, completed(a, o.began))
	if a.text != "" {
		o.guard.Text(o.ctx, unloop.RoleAssistant, "", a.text)
	}
	for _, c := range a.calls {
		if o.tools {
			o.guard.Record(o.ctx, unloop.Event{Type: unloop.ToolCallStarted, CallID: c.id, Tool: c.tool, Input: asJSON(c.args)})
		}
	}
}

// tee passes a body on and keeps a copy. At the end of the body, or when it is closed, it calls end, once.
type tee struct {
	body io.ReadCloser
	copy bytes.Buffer
	long bool // the body is longer than maxBody
	once sync.Once
	end  func(data []byte, err error)
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if t.copy.Len()+n > maxBody {
		t.long, t.copy = true, bytes.Buffer{}
	}
	if !t.long {
		t.copy.Write(p[:n])
	}
	if errors.Is(err, io.EOF) {
		t.finish(nil)
	} else if err != nil {
		t.finish(err)
	}
	return n, err
}

func (t *tee) Close() error {
	err := t.body.Close()
	t.finish(nil)
	return err
}

func (t *tee) finish(err error) {
	t.once.Do(func() { t.end(t.copy.Bytes(), err) })
}

// completed is the event of a model call that was answered.
func completed(a answer, began time.Time) unloop.Event {
	e := unloop.Event{Type: unloop.LLMCallCompleted, Model: a.model, Tokens: a.tokens, Latency: since(began)}
	if a.usage != (unloop.Usage{}) {
		e.Usage = &a.usage
	}
	return e
}

// failed is the event of a model call that failed.
func failed(model, reason string, began time.Time) unloop.Event {
	e := unloop.Event{Type: unloop.LLMCallFailed, Model: model, Latency: since(began)}
	e.Error, _ = json.Marshal(reason) // a string always encodes
	return e
}

func since(began time.Time) *float64 {
	ms := float64(time.Since(began)) / float64(time.Millisecond)
	return &ms
}
