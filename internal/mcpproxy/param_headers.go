package mcpproxy

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// paramHeaders know which arguments of a tool are repeated in headers. It is safe for concurrent use.
type paramHeaders struct {
	mu    sync.Mutex
	lists map[any]bool                  // requests for the list of tools, by request id
	tools map[string][]paramHeaderField // by the name of the tool
}

// paramHeaderField is an argument that is repeated in a header.
type paramHeaderField struct {
	path   []string
	header string
}

func newParamHeaders() *paramHeaders {
	return &paramHeaders{lists: make(map[any]bool), tools: make(map[string][]paramHeaderField)}
}

// ask notes a request.
func (h *paramHeaders) ask(r *jsonrpc.Request) {
	if r.Method == "tools/list" {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.lists) < maxOpen {
			h.lists[r.ID.Raw()] = true
		}
	}
}

// paramSchema is the part of a schema that names headers.
type paramSchema struct {
	Header     jsontext.Value         `json:"x-mcp-header"`
	Properties map[string]paramSchema `json:"properties"`
}

// learn reads the schemas of tools in the answer to a request for them.
func (h *paramHeaders) learn(r *jsonrpc.Response) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.lists[r.ID.Raw()] {
		return
	}
	delete(h.lists, r.ID.Raw())
	var l struct {
		Tools []struct {
			Name   string      `json:"name"`
			Schema paramSchema `json:"inputSchema"`
		} `json:"tools"`
	}
	_ = jsonv2.Unmarshal(r.Result, &l, lenient) // an error lists none
	for _, t := range l.Tools {
		delete(h.tools, t.Name)
		var fields []paramHeaderField
		if t.Schema.fields(nil, &fields); len(fields) > 0 && len(h.tools) < maxTools && len(t.Name) <= maxName {
			h.tools[t.Name] = fields
		}
	}
}

// The greatest depth of an argument that is repeated in a header, and the greatest number of such arguments of a tool. Further ones are
// not repeated.
const (
	maxFieldDepth = 16
	maxFields     = 64
)

// fields adds the arguments that are repeated in headers to all.
func (s paramSchema) fields(path []string, all *[]paramHeaderField) {
	if len(*all) >= maxFields || len(path) > maxFieldDepth {
		return
	}
	var header string
	if jsonv2.Unmarshal(s.Header, &header, lenient) == nil && header != "" && len(header) <= maxName && len(path) > 0 {
		*all = append(*all, paramHeaderField{path, header})
	}
	for name, p := range s.Properties {
		if len(name) <= maxName {
			p.fields(append(path[:len(path):len(path)], name), all)
		}
	}
}

// set sets the headers of a call.
func (h *paramHeaders) set(header http.Header, tool string, args jsontext.Value) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.tools[tool] {
		if text, ok := argumentText(args, f.path); ok {
			header.Set("Mcp-Param-"+f.header, headerText(text))
		}
	}
}

// argumentText returns an argument as text, if it is a string, a boolean or an integer.
func argumentText(args jsontext.Value, path []string) (string, bool) {
	for _, name := range path {
		var members map[string]jsontext.Value
		if jsonv2.Unmarshal(args, &members, lenient) != nil || members[name] == nil {
			return "", false
		}
		args = members[name]
	}
	var value any
	if json.Unmarshal(args, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		const largest = 1<<53 - 1
		if v == float64(int64(v)) && v <= largest && v >= -largest {
			return strconv.FormatInt(int64(v), 10), true
		}
	}
	return "", false
}
