package guardio

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/policy"
)

// before decides about a call. If the call must not run, the answer contains the result for the model.
func (s *Server) before(ctx context.Context, q *request) {
	d := s.run().Before(ctx, guard.Call{ID: string(q.id), Tool: q.tool, Args: q.args, Agent: q.agent, Hints: q.hints})
	if d.Stops() {
		s.decided(d, d.Result())
		return
	}
	if q.id != nil {
		s.open.Set(openCall{q.run, string(q.id)}, d)
	}
	s.decided(d, nil)
}

// after decides about an outcome. A warning, including one from before the call, is attached to the result for the model.
func (s *Server) after(ctx context.Context, q *request) {
	c := guard.Call{Tool: q.tool, Args: q.args, Agent: q.agent, Hints: q.hints}
	key := openCall{q.run, string(q.id)}
	before, known := s.open.Get(key)
	if known {
		s.open.Remove(key)
		c.ID = string(q.id) // the guard does not know other ids and then uses the oldest open call of the tool
	}
	outcome := guard.Outcome{Result: q.result, Latency: q.took}
	if q.failure != nil {
		outcome.Err = errors.New(unquote(q.failure))
	}
	d := s.run().After(ctx, c, outcome)
	warning := d
	if warning.Action < before.Action {
		warning = before
	}
	content := q.result
	if content == nil {
		content = q.failure
	}
	if content == nil || warning.Action == policy.Allow {
		s.decided(d, nil)
		return
	}
	attached, _ := warning.Attach(content).(json.RawMessage)
	s.decided(d, attached)
}

// decided answers with a decision. It has all members except shadow, which is optional, and result, which is absent if the guard
// provides no result. The answer of a failed guard is an error.
func (s *Server) decided(d guard.Decision, result json.RawMessage) {
	if d.Code == guard.CodeFailed {
		s.refuse(runFailed(s.run().Failed().Error()))
		return
	}
	a := append(s.begin(), `"action":"`...)
	a = append(append(a, d.Action.String()...), '"')
	if d.Shadow != policy.Allow {
		a = append(append(append(a, `,"shadow":"`...), d.Shadow.String()...), '"')
	}
	a = appendText(append(a, `,"code":`...), d.Code)
	a = strconv.AppendInt(append(a, `,"count":`...), int64(d.Count), 10)
	a = appendText(append(a, `,"message":`...), d.Nudge)
	if result != nil {
		a = append(append(a, `,"result":`...), result...)
	}
	findings := []byte("[]")
	if len(d.Findings) > 0 {
		findings, _ = json.Marshal(d.Findings) // a finding can always be encoded
	}
	a = append(append(a, `,"findings":`...), findings...)
	s.answer = append(a, "}\n"...)
}

// runFailed is the error answer for a run whose guard failed.
func runFailed(why string) mistake {
	return mistake{"run_failed", "run: " + why + "; reset the run, or restore a snapshot"}
}

// value answers with a single member.
func (s *Server) value(name string, value any) {
	data, _ := json.Marshal(value) // these values can always be encoded
	s.raw(name, data)
}

func (s *Server) raw(name string, value []byte) {
	a := append(append(append(s.begin(), '"'), name...), `":`...)
	s.answer = append(append(a, value...), "}\n"...)
}

// refuse answers with an error.
func (s *Server) refuse(m mistake) {
	a := appendText(append(s.begin(), `"error":{"code":`...), m.Code)
	a = appendText(append(a, `,"message":`...), m.Message)
	s.answer = append(a, "}}\n"...)
}

// begin returns the beginning of an answer, up to the comma after the id. The id is null if the request has none or it is
// unknown.
func (s *Server) begin() []byte {
	a := s.answer
	if cap(a) > 1<<20 {
		a = nil // the memory of a huge answer is not reused
	}
	a = append(a[:0], `{"id":`...)
	if s.request.id == nil {
		return append(a, "null,"...)
	}
	return append(append(a, s.request.id...), ',')
}

func appendText(a []byte, text string) []byte {
	a, _ = jsontext.AppendQuote(a, text) // the error only reports that invalid UTF-8 was replaced
	return a
}
