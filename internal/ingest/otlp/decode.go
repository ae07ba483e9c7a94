// Package otlp converts OpenTelemetry's traces and logs of agents to events. The input is live requests of any size and order,
// or OTLP/JSON files: those of the collector's file exporter with one request per line, or one request as a document. The
// pipeline uses the events.
//
// Spans decodes a request. A trace.Trace takes the spans of one trace at any time, and returns the events that they add, change
// or remove. A file is read in the same way, with all spans of a trace at once. In a file, an Index counts the spans of all
// kinds and the log records, from 0; the start and the end of a span share it. Logs needs no state: each record gives its
// events.
//
// The attributes of a span have its meaning, in one of several dialects, each in its own file: the GenAI conventions, MCP's,
// OpenInference, OpenLLMetry, the Vercel AI SDK, Logfire and Claude Code. A span of a tool or of a model call gives two events,
// "<span id>.start" and "<span id>.end", so a request that is sent again gives the same ids. If log records describe the same
// calls, as for Claude Code, the ids are "call:<call id>.start" and ".end" for both. A tool named transfer_to_X or handoff_to_X
// gives only the handoff. The root of a trace ends the run. The span of a model call also gives the messages that are new in it. Calls
// without a tool span are unknown.
//
// Traps: a span is exported when it ends, children before their parents, possibly in another request, by another process and
// with another clock. One call may have three spans (of the agent, the MCP client and the MCP server) and counts once. An event
// without its own time has that of the other end of its span. Sequence numbers are not used, because Claude Code's start again
// when a session is resumed. Events are ordered by time, then Tie.
package otlp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Format returns the format of OTLP/JSON traces and logs.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "otlp",
		Title:  "OpenTelemetry traces and logs (OTLP/JSON)",
		Sniff:  sniff,
		Decode: decode,
	}
}

func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	_, spans := members["resourceSpans"]
	_, logs := members["resourceLogs"]
	return (spans || logs) && !list
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	head, err := in.Head()
	if err != nil {
		return err
	}
	d := decoder{in: in, emit: emit, window: newWindow(in.Run, 0)}
	if !byLine(head) {
		data, err := in.Document()
		if err != nil {
			return err
		}
		if err := d.request(0, data); err != nil {
			return err
		}
		return d.window.send(emit)
	}
	err = in.EachLine(func(line ingest.Line) error { return d.request(line.Number, line.Bytes) })
	if err != nil {
		return err
	}
	return d.window.send(emit)
}

// byLine reports whether the input has one request per line: its first line is a complete JSON value, or too long to check, which
// only happens without indentation.
func byLine(head []byte) bool {
	first, _, found := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return !found || jsontext.Value(first).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

type decoder struct {
	in     *ingest.Input
	emit   ingest.Emit
	window *window
	size   int // bytes in the window
}

// request decodes one request. It validates the JSON first, because pdata's reader accepts invalid JSON and reports no positions.
func (d *decoder) request(line int, data []byte) error {
	var spans, logs bool
	err := d.in.Object(line, data, func(name, _ []byte) string {
		spans = spans || string(name) == "resourceSpans"
		logs = logs || string(name) == "resourceLogs"
		return ""
	})
	if err != nil {
		return err
	}
	if d.size+len(data) > trace.WindowSize && d.size > 0 {
		if err := d.window.send(d.emit); err != nil {
			return err
		}
		d.window, d.size = newWindow(d.in.Run, d.window.next), 0
	}
	d.size += len(data)
	if spans {
		var reader ptrace.JSONUnmarshaler
		td, err := reader.UnmarshalTraces(data)
		if err != nil {
			return d.in.Bad(line, "resourceSpans", "valid JSON, but no OTLP trace request") // err quotes the trace
		}
		d.window.add(td)
	}
	if logs {
		var reader plog.JSONUnmarshaler
		ld, err := reader.UnmarshalLogs(data)
		if err != nil {
			return d.in.Bad(line, "resourceLogs", "valid JSON, but no OTLP log request")
		}
		d.window.addLogs(ld)
	}
	return nil
}
