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

// Logs returns the events of the log records of one request from coding agents: Claude Code, Codex and Gemini CLI. A record that
// is sent again gives the same events with the same ids. Records of other programs are accepted and give no events. A record of
// an agent without a session is rejected: rejected is the number of such records, reason why. services has the services, by run,
// of the runs whose records name one. Logs is safe for concurrent use.
func Logs(ld plog.Logs) (events []*unloop.Event, services map[string]string, rejected int, reason string) {
	services = make(map[string]string)
	eachRecord(ld, func(record []*unloop.Event, service string) {
		if len(record) > 0 && record[0].RunID == "" {
			rejected++
			return
		}
		events = append(events, record...)
		if len(record) > 0 && trace.IsNamed(service) {
			services[record[0].RunID] = service
		}
	})
	if rejected > 0 {
		reason = fmt.Sprintf("%d records name no session", rejected)
	}
	return events, services, rejected, reason
}

// Join adds to an event of a span the facts that only a record of the same call has, under the same id: contents, the size of a
// result, a failure, a price. The events share raw JSON afterwards.
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

// eachRecord calls take with the events of each record, which may be empty, and the service that sent it.
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

// record is a log record with its attributes and its subject.
type record struct {
	plog.LogRecord
	attributes
	agent string // claude_code, codex, gemini_cli, or ""
	name  string // name of the record's event
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

// time returns the time of the event. Codex has only the observed time.
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

// call returns the start and the end of a call from a record about its end. base is the prefix of their ids, or "" if the call
// has no id.
func (r *record) call(base string, started, completed, failed unloop.EventType) (start, end *unloop.Event) {
	if base == "" {
		base = r.id()
	} else {
		base = trace.CallKey(base)
	}
	start, end = r.event(started, base+trace.StartSuffix), r.event(completed, base+trace.EndSuffix)
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

// took returns the duration of a call in milliseconds, at most a year.
func (r *record) took() (float64, bool) {
	const year = 365 * 24 * 60 * 60 * 1000
	if _, ok := r.byKey["duration_ms"]; !ok {
		return 0, false
	}
	took := r.number("duration_ms")
	return took, took <= year
}

// isFalse reports whether the attribute is false, as a boolean or a string.
func (a attributes) isFalse(key string) bool {
	v, ok := a.byKey[key]
	return ok && (v.Type() == pcommon.ValueTypeBool && !v.Bool() || v.Type() == pcommon.ValueTypeStr && v.Str() == "false")
}

// toolCall returns the events of a tool call. If only the sizes of arguments or result are known, a size replaces the content,
// because different sizes mean different contents, and the metadata record this. Without the size of the arguments, the size of
// the result is not used, because very different calls return 0 bytes.
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

// toolResult is the facts of a record about a tool call. Sizes are in bytes; 0 means unknown.
type toolResult struct {
	callID, tool          string
	input, output         string
	inputSize, outputSize int64
}

func sizeOnly(n int64) json.RawMessage {
	return trace.Raw(`{"size_bytes":` + strconv.FormatInt(n, 10) + `}`)
}

// modelCall returns the events of a model call.
func (r *record) modelCall(id string, u trace.Usage, cost float64) []*unloop.Event {
	start, end := r.call(id, unloop.LLMCallStarted, unloop.LLMCallCompleted, unloop.LLMCallFailed)
	start.Model = r.text("model")
	end.Model = start.Model
	end.Tokens, end.Usage = u.Input+u.Output, u.Known()
	end.Cost = cost
	return []*unloop.Event{start, end}
}

// message returns a message event. Its text is in the attributes, unless it is omitted.
func (r *record) message(role string, keys ...string) []*unloop.Event {
	e := r.event(unloop.MessageSent, r.id())
	e.Role = role
	if text := r.text(keys...); text != "<REDACTED>" && text != "[REDACTED]" {
		e.Text = text
	}
	return []*unloop.Event{e}
}

// id returns an id that derives from the whole record, so that it is the same when the record is sent again. The observed time is
// included only if the record has no other time, because intermediaries may change it.
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
