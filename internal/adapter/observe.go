package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// Request is what is new in a request: the results after the latest answer of the model, and a last message of the user.
type Request struct {
	Model   string
	Results []RequestResult
	User    string
}

// RequestResult is the result of a tool call. The tool is "" if the request does not contain the call.
type RequestResult struct {
	ID, Tool string
	Output   json.RawMessage
	Failed   bool
}

// API reads the requests and the answers of a model API. Of what it cannot read it returns the zero value.
type API interface {
	Request(body []byte) Request
	Answer(body []byte) Answer
	Stream(res *http.Response) Answer // of an event stream
}

// maxBody is the size of an answer, in bytes, beyond which it is recorded without its content.
const maxBody = 32 << 20

type recorded struct{}

// Recorded returns a context whose requests Observe passes on, because they are recorded elsewhere.
func Recorded(ctx context.Context) context.Context { return context.WithValue(ctx, recorded{}, true) }

// Observe sends a request with next, and records it and its answer in the guard of its context. It changes nothing and never fails a
// request. With tools, it also records the tool calls in the answer, and the results of earlier calls in the request.
func Observe(req *http.Request, next func(*http.Request) (*http.Response, error), api API, tools bool) (*http.Response, error) {
	ctx := req.Context()
	g := guard.FromContext(ctx)
	if g == nil || req.Method != http.MethodPost || req.Body == nil || req.GetBody == nil || ctx.Value(recorded{}) != nil {
		return next(req)
	}
	o := &observation{ctx: context.WithoutCancel(ctx), guard: g, api: api, tools: tools}
	o.begin(req)
	res, err := next(req)
	switch {
	case err != nil:
		o.call.Failed(err.Error())
	case res.StatusCode >= http.StatusBadRequest:
		o.call.Failed("status " + res.Status)
	default:
		o.header = res.Header
		res.Body = &tee{body: res.Body, end: o.end}
	}
	return res, err
}

// observation is one model call, from its request to the end of its answer.
type observation struct {
	ctx    context.Context
	guard  *guard.Guard
	api    API
	tools  bool
	call   *ModelCall
	header http.Header
}

// begin records what is new in a request. A retry has nothing new.
func (o *observation) begin(req *http.Request) {
	var request Request
	if body, err := req.GetBody(); err == nil {
		data, err := io.ReadAll(body)
		_ = body.Close() // it is read from memory
		if err == nil {
			request = o.api.Request(data)
		}
	}
	if retry := req.Header.Get("X-Stainless-Retry-Count"); retry == "" || retry == "0" {
		o.newMessages(request)
	}
	o.call = StartModelCall(o.ctx, o.guard, request.Model)
}

func (o *observation) newMessages(request Request) {
	for _, r := range request.Results {
		if !o.tools {
			break
		}
		e := unloop.Event{Type: unloop.ToolCallCompleted, CallID: r.ID, Tool: r.Tool, Output: r.Output}
		if r.Failed {
			e.Type, e.Output, e.Error = unloop.ToolCallFailed, nil, r.Output
		}
		o.guard.Record(o.ctx, e)
	}
	if request.User != "" {
		o.guard.Text(o.ctx, unloop.RoleUser, "", request.User)
	}
}

// end records an answer, as far as the client has read it.
func (o *observation) end(data []byte, err error) {
	var a Answer
	switch {
	case err != nil:
		a.Err = err.Error()
	case strings.HasPrefix(o.header.Get("Content-Type"), "text/event-stream"):
		a = o.api.Stream(&http.Response{Header: o.header, Body: io.NopCloser(bytes.NewReader(data))})
	default:
		a = o.api.Answer(data)
	}
	o.call.Answered(a)
	for _, c := range a.Calls {
		if o.tools && a.Err == "" {
			o.guard.Record(o.ctx, unloop.Event{Type: unloop.ToolCallStarted, CallID: c.ID, Tool: c.Tool, Input: c.Args})
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
