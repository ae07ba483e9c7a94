package otlp

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// mcp reads the conventions for the Model Context Protocol: spans of its clients and servers that call a tool.
func mcp(s span) facts {
	const method = "tools/call"
	if s.text("mcp.method.name") != method {
		return facts{}
	}
	f := facts{
		kind:   tool,
		mcp:    true,
		name:   s.text("gen_ai.tool.name", "mcp.tool.name"),
		callID: s.text("gen_ai.tool.call.id"),
		input:  s.json("gen_ai.tool.call.arguments"),
		output: s.json("gen_ai.tool.call.result", "mcp.response.value", "mcp.tool.result.content"),
	}
	request := s.json("mcp.request.argument")
	if target, ok := strings.CutPrefix(s.title(), method+" "); ok && f.name == "" {
		f.name = target
	}
	if f.name == "" {
		f.name = requested(request)
	}
	if f.name == "" { // the transport's share of a call
		return facts{}
	}
	f.fill(facts{input: arguments(request)})
	f.fill(facts{input: s.each("mcp.request.argument.")})
	return f
}

// requested returns the tool's name in a request or in its parameters.
func requested(request json.RawMessage) string {
	members := object(request)
	if params := object(json.RawMessage(members["params"])); params != nil {
		members = params
	}
	return ingest.UnquoteText(members["name"])
}

// each makes an object of all attributes that begin with the prefix, or nil.
func (s span) each(prefix string) json.RawMessage {
	members := make(map[string]json.RawMessage)
	for key, value := range s.Attributes().All() {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			members[name] = asJSON(value)
		}
	}
	if len(members) == 0 {
		return nil
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return raw
}

// fromMCP reports whether an instrumentation of MCP made the span.
func (s span) fromMCP() bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(s.scope), func(r rune) bool {
		return strings.ContainsRune("./-_@", r)
	}) {
		if part == "mcp" || part == "fastmcp" {
			return true
		}
	}
	return false
}

// object returns the members of a JSON object, and nil for any other value.
func object(raw json.RawMessage) map[string]jsontext.Value {
	if jsontext.Value(raw).Kind() != '{' {
		return nil
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}
