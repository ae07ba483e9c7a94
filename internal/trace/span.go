package trace

import "strings"

// Kind is what a span is about.
type Kind string

// The kinds of spans.
const (
	Other    Kind = ""
	Workflow Kind = "workflow" // a chain of agents' work
	Agent    Kind = "agent"    // an agent at work
	Model    Kind = "model"    // a model call
	Tool     Kind = "tool"     // a tool call
)

// Span is one span as facts. It shares no memory with the request that it came in and can be kept, as JSON too. Texts
// are valid UTF-8.
type Span struct {
	TraceID  string `json:"trace_id,omitempty"`       // hexadecimal, as the other ids
	ID       string `json:"span_id,omitempty"`        //
	ParentID string `json:"parent_span_id,omitempty"` // "" for the root of a trace
	Title    string `json:"title,omitempty"`          // the span's name
	Service  string `json:"service,omitempty"`        // the name of the service that sent it
	Run      string `json:"run,omitempty"`            // the session or conversation that it names
	Graph    string `json:"graph,omitempty"`          // the node of a graph, its agent for want of a better name
	Start    int64  `json:"start,omitempty"`          // nanoseconds since 1970; 0 when unknown
	End      int64  `json:"end,omitempty"`            // not before Start; 0 when unknown
	Failed   bool   `json:"failed,omitempty"`
	Reason   string `json:"reason,omitempty"` // why it failed

	// Deleted says that the span's run was deleted: the span gives no events, but stands above the spans of other runs.
	Deleted bool `json:"deleted,omitempty"`

	Facts

	// Index is where the span stood in the file that it was read from, from 0. It is not part of what it tells.
	Index int `json:"-"`
}

// Facts are what a span tells of an agent's work, in whichever dialect.
type Facts struct {
	Kind   Kind   `json:"kind,omitempty"`
	MCP    bool   `json:"mcp,omitempty"`     // told by an MCP client or server
	ByCall bool   `json:"by_call,omitempty"` // CallID is told by log records too
	Agent  string `json:"agent,omitempty"`   // who acts; an agent span's own name
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`

	// Input and Output are raw JSON, kept as texts so that they stand byte for byte once written and read again; ""
	// when unknown.
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`

	// Refused says that Output tells of an error, although the span's status may not. Once the span is read it is no more set.
	Refused bool `json:"-"`

	Model  string  `json:"model,omitempty"`
	Tokens int64   `json:"tokens,omitempty"` // of a model call, all together
	Cost   float64 `json:"cost,omitempty"`   // US dollars
	Usage  Usage   `json:"usage,omitzero"`
}

// Usage is what a model call took, in tokens.
type Usage struct {
	Input       int64 `json:"input,omitempty"` // all of the prompt, the cached part included
	Output      int64 `json:"output,omitempty"`
	CachedInput int64 `json:"cached,omitempty"`
	CacheWrite  int64 `json:"cache_write,omitempty"`
	Reasoning   int64 `json:"reasoning,omitempty"` // the part of Output that the model reasoned with
}

// Whole counts the cached part of a prompt in, where it was told apart: a part cannot be more than the whole.
func (u Usage) Whole() Usage {
	if cached := u.CachedInput + u.CacheWrite; cached > u.Input {
		u.Input += cached
	}
	return u
}

// Fill takes over what f does not have.
func (f *Facts) Fill(from *Facts) {
	f.MCP = f.MCP || from.MCP
	if f.CallID == "" {
		f.CallID, f.ByCall = from.CallID, from.ByCall
	}
	if f.Output == "" {
		f.Refused = from.Refused
	}
	for _, text := range []struct{ to, from *string }{
		{&f.Agent, &from.Agent}, {&f.Tool, &from.Tool}, {&f.Input, &from.Input}, {&f.Output, &from.Output}, {&f.Model, &from.Model},
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

// IsCanonical reports whether a copy of a span is the one that stands, of all that were added.
func (t *Trace) IsCanonical(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// serves reports whether the span tells which service an agent is of. An MCP server is a service of its own.
func (s *Span) serves() bool { return s.Kind != Other && !s.MCP && IsNamed(s.Service) }

// IsNamed reports whether somebody gave a service its name: SDKs call one without a name unknown_service.
func IsNamed(service string) bool {
	return service != "" && !strings.HasPrefix(service, "unknown_service")
}
