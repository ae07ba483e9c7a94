// Package otlp turns OpenTelemetry's traces and logs of agents into events, when they come live, in requests of any size
// and order, and from OTLP/JSON files: those of the collector's file exporter, with one request a line, or one request as a
// document. Before it stands whoever received or opened them, behind it the pipeline.
//
// Spans decodes a request; a trace.Trace takes in the spans of one trace, whenever they come, and says which events that adds,
// changes or removes. A file goes the same way, with all spans of a trace at once; an Index counts its spans, of all kinds,
// and its log records, from 0, and a start and its end share it. Logs needs no memory: a record gives its events by itself.
//
// What a span means is told by its attributes, in one of several dialects, each in a file of its own: the GenAI
// conventions, MCP's, OpenInference, OpenLLMetry, the Vercel AI SDK, Logfire and Claude Code. A span of a tool or of a model
// call gives two events, "<span id>.start" and "<span id>.end", so that a request that is sent again gives the same ids.
// Where log records tell of the same calls, which is so for Claude Code, they are "call:<call id>.start" and ".end" in both.
// A tool named transfer_to_X or handoff_to_X gives the handoff only. The root of a trace ends the run. Messages are told by
// log records only, and calls that no tool span tells of are not known.
//
// Traps: a span is exported when it ends, children before their parents, perhaps in another request, by another process and
// with another clock. One call may have three spans (the agent's, the MCP client's and the MCP server's) and counts once.
// An event whose own time is not told has that of the other end of its span. Sequences are not told: Claude Code's start
// again when a session is resumed. The order of events is their time, and then Tie.
package otlp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
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

// windowSize is how many bytes of requests are looked at together. Beyond it, a span's parent or twin in an earlier
// window is not found any more.
const windowSize = 64 << 20

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

// byLine reports whether the input has a request a line: its first line is a JSON value by itself, or too long to
// say, as only a line without indentation is.
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

// request takes in one request. It is checked as JSON first, since pdata's reader is content with less and cannot
// say where a mistake is.
func (d *decoder) request(line int, data []byte) error {
	var spans, logs bool
	err := d.in.Object(line, data, func(name, _ []byte) bool {
		spans = spans || string(name) == "resourceSpans"
		logs = logs || string(name) == "resourceLogs"
		return true
	})
	if err != nil {
		return err
	}
	if d.size+len(data) > windowSize && d.size > 0 {
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
