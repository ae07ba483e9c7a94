package trace

import "strings"

// Kind is the kind of a span.
type Kind string

// The kinds of spans.
const (
	Other    Kind = ""
	Workflow Kind = "workflow" // a chain of agents
	Agent    Kind = "agent"    // the work of an agent
	Model    Kind = "model"    // a model call
	Tool     Kind = "tool"     // a tool call
)

// Span is a span in a form that does not depend on its encoding. It shares no memory with its request and can be stored as JSON.
// Its texts are valid UTF-8.
type Span struct {
	TraceID  string `json:"trace_id,omitempty"`       // hexadecimal, like the other ids
	ID       string `json:"span_id,omitempty"`        //
	ParentID string `json:"parent_span_id,omitempty"` // "" for the root of a trace
	Title    string `json:"title,omitempty"`          // name of the span
	Service  string `json:"service,omitempty"`        // name of the service that sent it
	Run      string `json:"run,omitempty"`            // session or conversation that it names
	Graph    string `json:"graph,omitempty"`          // node of a graph, used as the agent if there is no better name
	Start    int64  `json:"start,omitzero"`           // nanoseconds since 1970; 0 if unknown
	End      int64  `json:"end,omitzero"`             // not before Start; 0 if unknown
	Failed   bool   `json:"failed,omitzero"`
	Reason   string `json:"reason,omitempty"` // the error of a failed span
	Open     bool   `json:"open,omitzero"`    // it has not ended, so it gives no event for its end

	// Deleted means that the run of the span was deleted. The span gives no events, but remains the ancestor of spans of other
	// runs.
	Deleted bool `json:"deleted,omitzero"`

	Facts

	// Index is the position of the span in its file, from 0. It is not part of the span's facts.
	Index int `json:"-"`
}

// Facts are the facts of a span about an agent's work, independent of the dialect.
type Facts struct {
	Kind   Kind   `json:"kind,omitempty"`
	MCP    bool   `json:"mcp,omitzero"`     // from an MCP client or server
	ByCall bool   `json:"by_call,omitzero"` // log records report CallID, too
	Agent  string `json:"agent,omitempty"`  // the acting agent; for an agent span, its own name
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`

	// Input and Output are raw JSON. They are strings so that they stay byte for byte the same when the span is stored. "" means
	// unknown.
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`

	// Refused means that Output is an error, although the status of the span may be a success. It is used only while a span is
	// read.
	Refused bool `json:"-"`

	Model  string  `json:"model,omitempty"`
	Tokens int64   `json:"tokens,omitzero"` // total of a model call
	Cost   float64 `json:"cost,omitzero"`   // US dollars
	Usage  Usage   `json:"usage,omitzero"`

	// Messages is what Messages.Encode returns, of a model call.
	Messages string `json:"messages,omitempty"`
}

// Usage is the tokens of a model call.
type Usage struct {
	Input       int64 `json:"input,omitzero"` // the whole prompt, including the cached part
	Output      int64 `json:"output,omitzero"`
	CachedInput int64 `json:"cached,omitzero"`
	CacheWrite  int64 `json:"cache_write,omitzero"`
	Reasoning   int64 `json:"reasoning,omitzero"` // the part of Output that was used for reasoning
}

// Whole adds the cached part to a prompt that does not include it. A part cannot exceed the whole.
func (u Usage) Whole() Usage {
	if cached := u.CachedInput + u.CacheWrite; cached > u.Input {
		u.Input += cached
	}
	return u
}

// Fill copies the facts that f does not have.
func (f *Facts) Fill(from *Facts) {
	f.MCP = f.MCP || from.MCP
	if f.CallID == "" {
		f.CallID, f.ByCall = from.CallID, from.ByCall
	}
	if f.Output == "" {
		f.Refused = from.Refused
	}
	for _, text := range []struct{ to, from *string }{
		{&f.Agent, &from.Agent},
		{&f.Tool, &from.Tool},
		{&f.Input, &from.Input},
		{&f.Output, &from.Output},
		{&f.Model, &from.Model},
		{&f.Messages, &from.Messages},
	} {
		if *text.to == "" {
			*text.to = *text.from
		}
	}
	if f.Tokens == 0 {
		f.Tokens = from.Tokens
	}
	if f.Usage == (Usage{}) {
		f.Usage = from.Usage
	}
	if f.Cost == 0 {
		f.Cost = from.Cost
	}
}

// IsCanonical reports whether a copy of a span is the one that the trace uses.
func (t *Trace) IsCanonical(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// Has reports whether the trace uses an equal copy of a span.
func (t *Trace) Has(s *Span) bool {
	n := t.nodes[s.ID]
	return n != nil && n.known && s.TraceID == t.id && compareCopies(s, &n.span) == 0
}

// serves reports whether the span names the service of an agent. An MCP server is a different service.
func (s *Span) serves() bool { return s.Kind != Other && !s.MCP && IsNamed(s.Service) }

// IsNamed reports whether a service has a configured name. SDKs use unknown_service for one without.
func IsNamed(service string) bool {
	return service != "" && !strings.HasPrefix(service, "unknown_service")
}
