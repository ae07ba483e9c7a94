package unloop

import (
	"bytes"
	"encoding/json"
)

// GuardReport describes a guard and its decision at an event. It is the member guard of the event's metadata. A run with such an
// event is guarded. In other runs, no guard carries out decisions.
type GuardReport struct {
	By      string `json:"by"`                // the kind of guard: "Go", "Python", "TypeScript", "stdio", "hook: claude-code", "proxy", "mcp-proxy"
	Shadow  bool   `json:"shadow,omitempty"`  // the guard reports decisions and does not carry them out
	Action  string `json:"action,omitempty"`  // warn, block or halt; "" if the guard let the agent continue
	Code    string `json:"code,omitempty"`    // of the decision
	Message string `json:"message,omitempty"` // the text for the agent
	Rule    string `json:"rule,omitempty"`    // of the finding that decided
	Subject string `json:"subject,omitempty"` // of the finding that decided
	Count   int    `json:"count,omitempty"`   // of the finding that decided
	Span    int    `json:"span,omitempty"`    // number of events from the beginning of the loop to its latest repeat; 0 if unknown
}

// Metadata returns the report as the metadata of an event.
func (g GuardReport) Metadata() json.RawMessage {
	text, err := json.Marshal(map[string]any{"guard": g})
	if err != nil {
		return nil // strings and numbers always encode
	}
	return text
}

// GuardReport returns the report in the metadata of the event, and whether there is one.
func (e *Event) GuardReport() (GuardReport, bool) {
	if !bytes.Contains(e.Metadata, []byte(`"guard"`)) {
		return GuardReport{}, false
	}
	var metadata struct {
		Guard *GuardReport `json:"guard"`
	}
	if json.Unmarshal(e.Metadata, &metadata) != nil || metadata.Guard == nil || metadata.Guard.By == "" {
		return GuardReport{}, false
	}
	return *metadata.Guard, true
}
