package otlp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// kind is what a span is about.
type kind int

const (
	other    kind = iota
	workflow      // a chain of agents' work
	agent         // an agent at work
	model         // a model call
	tool          // a tool call
)

// facts is what a span tells of an agent's work, in whichever dialect.
type facts struct {
	kind  kind
	mcp   bool   // told by an MCP client or server
	agent string // who acts; an agent span's own name
	name  string // of the tool

	callID        string
	input, output json.RawMessage

	model  string
	tokens int64
	cost   float64 // US dollars
}

// read asks the dialects. The first that knows the span says what it is; the others may add what it left out.
func read(s span) facts {
	f := facts{agent: s.text("gen_ai.agent.name", "agent.name", "agent_name")}
	for _, told := range []facts{mcp(s), genAI(s), openInference(s), openLLMetry(s), vercel(s)} {
		if f.kind == other {
			f.kind = told.kind
		}
		if f.kind == told.kind {
			f.fill(told)
		}
	}
	if f.kind == tool {
		f.mcp = f.mcp || s.fromMCP()
	}
	if string(f.input) == `""` {
		f.input = nil
	}
	return f
}

// fill takes over what f does not have.
func (f *facts) fill(from facts) {
	f.mcp = f.mcp || from.mcp
	for _, text := range []struct{ to, from *string }{
		{&f.agent, &from.agent}, {&f.name, &from.name}, {&f.callID, &from.callID}, {&f.model, &from.model},
	} {
		if *text.to == "" {
			*text.to = *text.from
		}
	}
	if f.input == nil {
		f.input = from.input
	}
	if f.output == nil {
		f.output = from.output
	}
	if f.tokens == 0 {
		f.tokens = from.tokens
	}
	if f.cost == 0 {
		f.cost = from.cost
	}
}

// span is a span with the name of the instrumentation that made it.
type span struct {
	ptrace.Span
	scope string
}

// title is the span's name.
func (s span) title() string { return valid(s.Name()) }

// valid replaces what is no UTF-8, which pdata lets pass.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// text returns the first of the attributes that is a string and not empty.
func (s span) text(keys ...string) string { return text(s.Attributes(), keys...) }

func text(attributes pcommon.Map, keys ...string) string {
	for _, key := range keys {
		if v, ok := attributes.Get(key); ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
			return valid(v.Str())
		}
	}
	return ""
}

// number returns the first of the attributes that is a finite number above 0, as such or as a string.
func (s span) number(keys ...string) float64 {
	for _, key := range keys {
		v, ok := s.Attributes().Get(key)
		if !ok {
			continue
		}
		var n float64
		switch v.Type() {
		case pcommon.ValueTypeInt:
			n = float64(v.Int())
		case pcommon.ValueTypeDouble:
			n = v.Double()
		case pcommon.ValueTypeStr:
			n, _ = strconv.ParseFloat(v.Str(), 64) // what is no number is 0
		}
		if n > 0 && !math.IsInf(n, 1) {
			return n
		}
	}
	return 0
}

// count is number for what is counted; more than a float counts exactly is no count.
func (s span) count(keys ...string) int64 {
	n := s.number(keys...)
	if n > 1<<53 {
		return 0
	}
	return int64(n)
}

// json returns the first of the attributes that there is, as JSON.
func (s span) json(keys ...string) json.RawMessage {
	for _, key := range keys {
		if v, ok := s.Attributes().Get(key); ok && v.Type() != pcommon.ValueTypeEmpty {
			return asJSON(v)
		}
	}
	return nil
}

// asJSON returns a structured value as it is, a string that holds JSON as what it holds, and another string as a
// string.
func asJSON(v pcommon.Value) json.RawMessage {
	if v.Type() == pcommon.ValueTypeStr && v.Str() == "" {
		return json.RawMessage(`""`)
	}
	if v.Type() == pcommon.ValueTypeStr {
		return ingest.Arguments(jsontext.Value(ingest.Text(v.Str())))
	}
	raw, err := json.Marshal(v.AsRaw())
	if err == nil {
		return raw
	}
	if v.Type() == pcommon.ValueTypeDouble { // infinity and the like, which JSON has no form for
		return ingest.Text(v.AsString())
	}
	return nil
}
