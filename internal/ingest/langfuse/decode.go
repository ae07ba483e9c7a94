// Package langfuse reads observations of Langfuse, which are the spans of a trace: JSON, JSON Lines and CSV as the export of the page and
// of the blob storage writes them, the answers of the API ({"data":[…]}), and traces with their observations as the API and the page give
// them. Names may be in camel case (the API and the page) or with underscores (the blob storage). An Index counts the observations,
// from 0.
//
// The run is the session, which enriched observations and traces have, else the trace.
//
// Traps: only observations of type TOOL are calls, so the spans of tools of older integrations, which are of type SPAN, give no events.
// The kinds of tokens exclude each other, which their total tells: "input" has no cached ones. Inputs and outputs may be JSON in a text.
// An observation without an end has not ended.
package langfuse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Format returns the format of observations.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "langfuse",
		Title:  "Langfuse observations (JSON, JSON Lines or CSV)",
		Sniff:  sniff,
		Decode: decode,
	}
}

// sniff looks for the members, or the columns, that only observations have.
func sniff(head []byte) bool {
	if isCSV(head) {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		columns := make(map[string]string)
		for name := range bytes.SplitSeq(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(",")) {
			columns[plain(strings.Trim(string(name), "\"\r"))] = ""
		}
		return hasAll(columns, "id", "traceid", "type", "parentobservationid", "starttime")
	}
	for _, list := range []string{"data", "observations"} {
		if inner := ingest.Member(head, list); len(inner) > 0 && inner[0] == '[' {
			head = inner
		}
	}
	members, _ := ingest.Members(head)
	names := make(map[string]string)
	for name, value := range members {
		names[plain(name)] = value
	}
	types := "SPAN GENERATION EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL"
	return hasAll(names, "id", "traceid", "starttime") && names["type"] != "" && strings.Contains(types, names["type"]) ||
		hasAll(names, "id", "traceid", "parentobservationid")
}

func hasAll(members map[string]string, names ...string) bool {
	for _, name := range names {
		if _, ok := members[name]; !ok {
			return false
		}
	}
	return true
}

// isCSV reports whether an input is CSV: it does not begin like JSON.
func isCSV(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	return len(head) > 0 && head[0] != '{' && head[0] != '['
}

// plain returns a name in a form that both spellings share: parentObservationId and parent_observation_id.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// record is an observation or a trace, by the plain names of its members.
type record map[string]jsontext.Value

func decode(in *ingest.Input, emit ingest.Emit) error {
	head, err := in.Head()
	if err != nil {
		return err
	}
	d := decoder{in: in, window: trace.NewWindow(in.Run, emit)}
	if isCSV(head) {
		err = in.Rows(d.row)
	} else {
		err = in.Elements(func(_ int, value jsontext.Value) error { return d.value(value) })
	}
	if err != nil {
		return err
	}
	return d.window.Send()
}

type decoder struct {
	in     *ingest.Input
	window *trace.Window
}

func (d *decoder) row(header, row []string) error {
	r := make(record, len(row))
	for i, value := range row {
		if value != "" {
			r[plain(header[i])] = jsontext.Value(ingest.Text(value))
		}
	}
	return d.add("", r, record{})
}

// value adds a document: an observation, a trace with its observations, or an answer of the API with a list of them.
func (d *decoder) value(value jsontext.Value) error {
	r, err := d.members("", value)
	if err != nil {
		return err
	}
	if r["data"].Kind() == '[' {
		return d.list("data", r["data"], func(path string, r record) error { return d.record(path, r, record{}) })
	}
	of := record{}
	if inner := r["trace"]; inner.Kind() == '{' { // the page gives a trace and its observations side by side
		if of, err = d.members("trace", inner); err != nil {
			return err
		}
	}
	return d.record("", r, of)
}

// record adds an observation, or the observations of a trace. of is the trace beside it, or empty.
func (d *decoder) record(path string, r, of record) error {
	if r["observations"].Kind() != '[' {
		return d.add(path, r, of)
	}
	if len(of) == 0 {
		of = r
	}
	return d.list("observations", r["observations"], func(path string, r record) error { return d.add(path, r, of) })
}

// list calls each with the objects of a list. The list of observations in the API's list of traces has only their ids.
func (d *decoder) list(path string, list jsontext.Value, each func(path string, r record) error) error {
	var values []jsontext.Value
	if err := d.in.Unmarshal(d.in.Line(), list, &values); err != nil {
		return ingest.Under(path, err)
	}
	for i, v := range values {
		if v.Kind() == '"' {
			continue
		}
		path := ingest.Path(path, i)
		r, err := d.members(path, v)
		if err != nil {
			return err
		}
		if err := each(path, r); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) members(path string, value jsontext.Value) (record, error) {
	var members map[string]jsontext.Value
	if err := d.in.Unmarshal(d.in.Line(), value, &members); err != nil {
		return nil, ingest.Under(path, err)
	}
	r := make(record, len(members))
	for name, v := range members {
		if v.Kind() != 'n' {
			r[plain(name)] = v
		}
	}
	return r, nil
}

// add adds an observation. A trace without observations gives nothing.
func (d *decoder) add(path string, r, of record) error {
	traceID := cmp.Or(r.text("traceid"), of.text("id"))
	if r.text("id") == "" {
		return ingest.Under(path, d.in.Bad(d.in.Line(), "id", "missing"))
	}
	if r.text("type") == "" {
		return nil
	}
	d.window.Root(traceID, cmp.Or(r.text("tracename"), of.text("name")), cmp.Or(r.text("sessionid"), of.text("sessionid")))
	return d.window.Add(r.span(traceID))
}

func (r record) text(name string) string { return ingest.UnquoteText(r[name]) }

// json returns a member as JSON. A text that contains JSON becomes that JSON.
func (r record) json(name string) string { return string(ingest.Arguments(r[name])) }

// object returns a member that is an object, also if it is in a text.
func (r record) object(name string) map[string]jsontext.Value { return ingest.MembersOf(r.json(name)) }

func (r record) number(name string) float64 { return number(r[name]) }

func number(v jsontext.Value) float64 {
	if v.Kind() == '"' {
		v = jsontext.Value(ingest.UnquoteText(v))
	}
	var n float64
	if json.Unmarshal(v, &n) != nil || n < 0 || n > 1e15 {
		return 0
	}
	return n
}
