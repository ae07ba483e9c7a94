package otlp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Logs returns the events that the records of one request give, those of coding agents: Claude Code, Codex and Gemini CLI.
// A record that is sent again gives the same events with the same ids. Other programs' records are taken and say nothing. A
// record of an agent that names no session is refused: rejected says how many were, reason why. Services has the services, by run,
// of runs whose records name one. Safe for concurrent use.
func Logs(ld plog.Logs) (events []*unloop.Event, services map[string]string, rejected int, reason string) {
	services = make(map[string]string)
	eachRecord(ld, func(told []*unloop.Event, service string) {
		if len(told) > 0 && told[0].RunID == "" {
			rejected++
			return
		}
		events = append(events, told...)
		if len(told) > 0 && trace.IsNamed(service) {
			services[told[0].RunID] = service
		}
	})
	if rejected > 0 {
		reason = fmt.Sprintf("%d records name no session", rejected)
	}
	return events, services, rejected, reason
}

// Join gives an event of a span what a record tells of the same call, under the same id, and it does not: contents, the size
// of a result, a failure, a price. Their raw JSON is shared afterwards.
func Join(span, record *unloop.Event) {
	if span.Input == nil && span.Output == nil && span.Metadata == nil {
		span.Input, span.Output, span.Metadata = record.Input, record.Output, record.Metadata
	}
	if failed := record.Type == unloop.ToolCallFailed || record.Type == unloop.LLMCallFailed; failed && span.Error == nil {
		span.Type, span.Error = record.Type, record.Error
	}
	if span.Cost == 0 {
		span.Cost = record.Cost
	}
	if span.Tokens == 0 {
		span.Tokens, span.Usage = record.Tokens, record.Usage
	}
}

// eachRecord calls take with the events of each record, of which there may be none, and the service that sent it.
func eachRecord(ld plog.Logs, take func(events []*unloop.Event, service string)) {
	r := record{attributes: newAttributes()}
	for _, resource := range ld.ResourceLogs().All() {
		service := textOf(resource.Resource().Attributes(), "service.name")
		for _, scope := range resource.ScopeLogs().All() {
			for _, from := range scope.LogRecords().All() {
				r.set(from, scope.Scope().Name())
				take(r.events(), service)
			}
		}
	}
}

// record is a log record with its attributes and what it is about.
type record struct {
	plog.LogRecord
	attributes
	agent string // claude_code, codex, gemini_cli, or ""
	name  string // of what happened
	at    time.Time
}

func (r *record) set(from plog.LogRecord, scope string) {
	r.LogRecord = from
	r.attributes.set(from.Attributes())
	name := r.text("event.name")
	if name == "" {
		name = from.EventName()
	}
	body := ""
	if from.Body().Type() == pcommon.ValueTypeStr {
		body = from.Body().Str()
	}
	if strings.HasPrefix(scope, "com.anthropic.claude_code") || strings.HasPrefix(body, "claude_code.") {
		name = "claude_code." + strings.TrimPrefix(name, "claude_code.")
	}
	r.agent, r.name, _ = strings.Cut(name, ".")
	r.at = r.time()
}

// time is when it happened: Codex leaves the timestamp out.
func (r *record) time() time.Time {
	for _, t := range []pcommon.Timestamp{r.Timestamp(), r.ObservedTimestamp()} {
		if n := nanos(t); n != 0 {
			return trace.TimeOf(n, 0)
		}
	}
	return ingest.ParseTime(r.text("event.timestamp"))
}

func (r *record) events() []*unloop.Event {
	switch r.agent {
	case "claude_code":
		return r.claudeCode()
	case "codex":
		return r.codex()
	case "gemini_cli":
		return r.gemini()
	}
	return nil
}

// event returns an event of the record.
func (r *record) event(typ unloop.EventType, id string) *unloop.Event {
	e := &unloop.Event{
		ID:    id,
		RunID: r.text("session.id", "conversation.id"),
		Type:  typ,
		Time:  r.at,
		Agent: r.text("agent.name", "agent_id"),
	}
	if trace := r.TraceID(); !trace.IsEmpty() {
		e.TraceID = trace.String()
	}
	return e
}

// call returns the start and the end of a call that a record tells of at its end. Base is what their ids begin with, ""
// where the call has none of its own.
func (r *record) call(base string, started, well, failed unloop.EventType) (start, end *unloop.Event) {
	if base == "" {
		base = r.id()
	} else {
		base = trace.CallKey(base)
	}
	start, end = r.event(started, base+trace.StartSuffix), r.event(well, base+trace.EndSuffix)
	end.ParentEventID = start.ID
	if took, ok := r.took(); ok {
		end.Latency = &took
		if !start.Time.IsZero() {
			start.Time = start.Time.Add(-time.Duration(took * float64(time.Millisecond)))
		}
	}
	if reason := r.text("error.message", "error"); reason != "" || r.isFalse("success") {
		end.Type = failed
		if reason != "" {
			end.Error = ingest.Text(reason)
		}
	}
	return start, end
}

// took is how many milliseconds a call took, a year at most.
func (r *record) took() (float64, bool) {
	const year = 365 * 24 * 60 * 60 * 1000
	if _, ok := r.byKey["duration_ms"]; !ok {
		return 0, false
	}
	took := r.number("duration_ms")
	return took, took <= year
}

// isFalse reports whether the attribute says false, as such or as a string.
func (a attributes) isFalse(key string) bool {
	v, ok := a.byKey[key]
	return ok && (v.Type() == pcommon.ValueTypeBool && !v.Bool() || v.Type() == pcommon.ValueTypeStr && v.Str() == "false")
}

// toolCall returns a tool's call. Where only the size of what went in or came back is told, that stands for it, for what has
// another size is something else, and the metadata say so. But where nothing is known of what went in, the size of what came
// back says nothing: very different calls come back with 0 bytes.
func (r *record) toolCall(c toolResult) []*unloop.Event {
	start, end := r.call(c.callID, unloop.ToolCallStarted, unloop.ToolCallCompleted, unloop.ToolCallFailed)
	if c.callID == "" {
		c.callID = strings.TrimSuffix(start.ID, trace.StartSuffix)
	}
	start.Tool, end.Tool, start.CallID, end.CallID = c.tool, c.tool, c.callID, c.callID
	start.Input, end.Output = trace.Raw(c.input), trace.Raw(c.output)
	if start.Input == nil && c.inputSize > 0 {
		start.Input, start.Metadata = sizeOnly(c.inputSize), trace.Raw(`{"input":"size only"}`)
	}
	if end.Output == nil && start.Input != nil && c.outputSize > 0 {
		end.Output, end.Metadata = sizeOnly(c.outputSize), trace.Raw(`{"output":"size only"}`)
	}
	return []*unloop.Event{start, end}
}

// toolResult is what a record tells of a tool's call; sizes are in bytes, 0 when unknown.
type toolResult struct {
	callID, tool          string
	input, output         string
	inputSize, outputSize int64
}

func sizeOnly(n int64) json.RawMessage {
	return trace.Raw(`{"size_bytes":` + strconv.FormatInt(n, 10) + `}`)
}

// modelCall returns a call of a model.
func (r *record) modelCall(id string, u trace.Usage, cost float64) []*unloop.Event {
	start, end := r.call(id, unloop.LLMCallStarted, unloop.LLMCallCompleted, unloop.LLMCallFailed)
	start.Model = r.text("model")
	end.Model = start.Model
	end.Tokens, end.Usage = u.Input+u.Output, u.Known()
	end.Cost = cost
	return []*unloop.Event{start, end}
}

// message returns a message. Its text is what the attributes say, if it is not left out.
func (r *record) message(role string, keys ...string) []*unloop.Event {
	e := r.event(unloop.MessageSent, r.id())
	e.Role = role
	if text := r.text(keys...); text != "<REDACTED>" && text != "[REDACTED]" {
		e.Text = text
	}
	return []*unloop.Event{e}
}

// id is made of all that the record tells, so that it is the same when the record is sent again. The time at which it was
// observed counts only where it tells no other, for who passes it on may set that.
func (r *record) id() string {
	var b strings.Builder
	keys := make([]string, 0, len(r.byKey))
	timed := r.Timestamp() != 0
	for key := range r.byKey {
		keys = append(keys, key)
		timed = timed || key == "event.timestamp" || key == "event.sequence"
	}
	slices.Sort(keys)
	for _, key := range keys {
		v := r.byKey[key]
		fmt.Fprintf(&b, "%q=%q,", key, v.AsString())
	}
	fmt.Fprintf(&b, "%d %q", r.Timestamp(), r.Body().AsString())
	if !timed {
		fmt.Fprintf(&b, " %d", r.ObservedTimestamp())
	}
	return fmt.Sprintf("log:%016x", trace.Hash(b.String()))
}
