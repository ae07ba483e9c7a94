// Package otlp reads traces of agents in OpenTelemetry's OTLP/JSON: files of the collector's file exporter, with one
// ExportTraceServiceRequest a line, or one such request as a document. An Index counts the spans of the file, of all
// kinds, from 0; a span's start and its end share it.
//
// What a span means is told by its attributes, in one of several dialects, each in a file of its own: the GenAI
// conventions, MCP's, OpenInference, OpenLLMetry and the Vercel AI SDK. A span of a tool or of a model call gives two
// events, "<span id>.start" and "<span id>.end", so that a request that is sent again gives the same ids. A tool
// named transfer_to_X or handoff_to_X gives the handoff only. The root of a trace ends the run. Messages are not
// told, and calls that no tool span tells of are not known.
//
// Traps: a span is exported when it ends, children before their parents, perhaps in another request and by another
// process. One call may have three spans (the agent's, the MCP client's and the MCP server's) and counts once.
// Hence a file is read as a whole, up to a limit, and its events are sent in the order of their times. Sequences are
// not told.
package otlp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of OTLP/JSON traces.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "otlp",
		Title:  "OpenTelemetry traces (OTLP/JSON)",
		Sniff:  sniff,
		Decode: decode,
	}
}

// windowSize is how many bytes of requests are looked at together. Beyond it, a span's parent or twin in an earlier
// window is not found any more.
const windowSize = 64 << 20

func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	_, ok := members["resourceSpans"]
	return ok && !list
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	head, err := in.Head()
	if err != nil {
		return err
	}
	d := decoder{in: in, emit: emit, window: newBatch(in.Run, 0)}
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
	window *batch
	size   int // bytes in the window
}

// request takes in one request. It is checked as JSON first, since pdata's reader is content with less and cannot
// say where a mistake is.
func (d *decoder) request(line int, data []byte) error {
	var value jsontext.Value
	if err := d.in.Unmarshal(line, data, &value); err != nil {
		return err
	}
	var reader ptrace.JSONUnmarshaler
	traces, err := reader.UnmarshalTraces(data)
	if err != nil {
		return d.in.Bad(line, "resourceSpans", "valid JSON, but no OTLP trace request") // err quotes the trace
	}
	if d.size+len(data) > windowSize && d.size > 0 {
		if err := d.window.send(d.emit); err != nil {
			return err
		}
		d.window, d.size = newBatch(d.in.Run, d.window.next), 0
	}
	d.window.add(traces)
	d.size += len(data)
	return nil
}
