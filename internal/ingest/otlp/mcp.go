package otlp

import (
	"encoding/json"
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// mcp reads the conventions for the Model Context Protocol: spans of its clients and servers that call a tool.
func mcp(s *span) trace.Facts {
	const method = "tools/call"
	if s.text("mcp.method.name") != method {
		return trace.Facts{}
	}
	f := trace.Facts{
		Kind:   trace.Tool,
		MCP:    true,
		Tool:   s.text("gen_ai.tool.name", "mcp.tool.name"),
		CallID: s.text("gen_ai.tool.call.id"),
		Input:  s.json("gen_ai.tool.call.arguments"),
		Output: s.json("gen_ai.tool.call.result", "mcp.response.value", "mcp.tool.result.content"),
	}
	request := s.json("mcp.request.argument")
	if target, ok := strings.CutPrefix(s.title(), method+" "); ok && f.Tool == "" {
		f.Tool = target
	}
	if f.Tool == "" {
		f.Tool = requested(request)
	}
	if f.Tool == "" { // a span of the transport
		return trace.Facts{}
	}
	if f.Input == "" {
		f.Input = ingest.UnwrapArguments(request)
	}
	if f.Input == "" {
		f.Input = s.each("mcp.request.argument.")
	}
	return f
}

// requested returns the name of the tool in a request or in its parameters.
func requested(request string) string {
	members := ingest.MembersOf(request)
	if params := ingest.MembersOf(string(members["params"])); params != nil {
		members = params
	}
	return ingest.UnquoteText(members["name"])
}

// each returns an object of all attributes with the prefix, or "".
func (s *span) each(prefix string) string {
	members := make(map[string]json.RawMessage)
	for key, value := range s.byKey {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			if raw := asJSON(value); raw != "" {
				members[name] = json.RawMessage(raw)
			}
		}
	}
	if len(members) == 0 {
		return ""
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return ""
	}
	return string(raw)
}

// fromMCP reports whether an instrumentation of MCP made the span.
func (s *span) fromMCP() bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(s.scope), func(r rune) bool {
		return strings.ContainsRune("./-_@", r)
	}) {
		if part == "mcp" || part == "fastmcp" {
			return true
		}
	}
	return false
}
