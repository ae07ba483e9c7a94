package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Decision is what a guard decides about a call.
type Decision struct {
	Action   policy.Action
	Code     string // what decided
	Count    int    // how often what it is about happened; 0 where that has no count
	Nudge    string // the text for the agent
	Findings []unloop.Finding

	// Shadow is what would have been done if the profile were not in shadow. Action is then Allow.
	Shadow policy.Action

	tool   string
	prefix profile.MessagePrefix
}

func newDecision(d policy.Decision, tool string, p *profile.Profile) Decision {
	out := Decision{Action: d.Action, tool: tool, prefix: p.MessagePrefix()}
	if d.Action == policy.Allow {
		return out
	}
	out.Code, out.Count, out.Nudge, out.Findings = d.Code, d.Count, d.Message, slices.Clone(d.Findings)
	if p.Shadow() {
		out.Action, out.Shadow = policy.Allow, d.Action
	}
	return out
}

// Stops reports whether the call must not run.
func (d *Decision) Stops() bool { return d.Action >= policy.Block }

// Result returns what the agent is told in place of a result when the call does not run: a text or an object with an error,
// as the profile has it.
func (d *Decision) Result() json.RawMessage {
	text := "[" + d.prefix.Tag + "] " + d.Nudge
	var answer any = text
	if !d.prefix.Text {
		answer = map[string]any{"error": text, "loop_blocked": true}
	}
	raw, _ := json.Marshal(answer) // a text can always be written
	return raw
}

// Attach adds the warning to a result that the agent gets. To an object it adds the member _loop_guard, to a text an end;
// any other result stands beside it in an object. Without a warning the result stays as it is. It takes what JSON decodes
// to, or json.RawMessage.
func (d *Decision) Attach(result any) any {
	if d.Action == policy.Allow || d.Nudge == "" {
		return result
	}
	note := map[string]any{"action": d.Action.String(), "code": d.Code, "count": d.Count, "message": d.Nudge}
	switch r := result.(type) {
	case json.RawMessage:
		var value any
		decoder := json.NewDecoder(bytes.NewReader(r))
		decoder.UseNumber() // large integers keep their digits
		if decoder.Decode(&value) != nil {
			return result
		}
		raw, err := json.Marshal(d.Attach(value))
		if err != nil {
			return result
		}
		return json.RawMessage(raw)
	case string:
		return r + " [" + d.prefix.Tag + "] " + d.Nudge
	case map[string]any:
		with := make(map[string]any, len(r)+1)
		for k, v := range r {
			with[k] = v
		}
		with["_loop_guard"] = note
		return with
	}
	return map[string]any{"result": result, "_loop_guard": note}
}

// Err returns a *LoopError if the run must halt, and nil otherwise.
func (d *Decision) Err() error {
	if d.Action != policy.Halt {
		return nil
	}
	return &LoopError{Tool: d.tool, Count: d.Count, Code: d.Code, Nudge: d.Nudge}
}

// LoopError says that an agent was halted because it went round in circles. Trying again does not help.
type LoopError struct {
	Tool  string
	Count int
	Code  string
	Nudge string
}

// Error says what went round, how it was decided, and what the agent was told.
func (e *LoopError) Error() string {
	return fmt.Sprintf("loop of %s halted (%s, %d times): %s", e.Tool, e.Code, e.Count, e.Nudge)
}

// Retryable returns false: the next attempt would end the same way.
func (e *LoopError) Retryable() bool { return false }
