package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Decision is the decision of a guard about a call.
type Decision struct {
	Action   policy.Action
	Code     string           // the rule or the level that decided; "" for Allow
	Count    int              // the count of the finding that decided; 0 if it has none
	Nudge    string           // the text for the agent; "" for Allow
	Findings []unloop.Finding // the findings that the decision is based on

	// Shadow is the action that the profile would take outside of shadow mode. If it is not Allow, Action is Allow.
	Shadow policy.Action

	Opinion *policy.Opinion // the second opinion that the decision takes into account; nil for none

	question *policy.Question // for a second opinion; nil for none
	tool     string
	prefix   profile.MessagePrefix
	inShadow bool
}

func newDecision(d policy.Decision, tool string, p *profile.Profile) Decision {
	out := Decision{Action: d.Action, tool: tool, prefix: p.MessagePrefix(), inShadow: p.Shadow()}
	if d.Action == policy.Allow {
		return out
	}
	out.Code, out.Count, out.Nudge, out.Findings = d.Code, d.Count, d.Message, slices.Clone(d.Findings)
	out.Opinion, out.question = d.Opinion, d.Question
	if p.Shadow() && d.Code != policy.CodePerson {
		out.Action, out.Shadow = policy.Allow, d.Action
	}
	return out
}

// InShadow reports whether the profile is in shadow mode: the guard reports decisions and does not carry them out.
func (d Decision) InShadow() bool { return d.inShadow }

// Stops reports whether the call must not run.
func (d Decision) Stops() bool { return d.Action >= policy.Block }

// Result returns the JSON that the agent receives instead of a result if the call does not run. It is a string or an object
// with the members error and loop_blocked, as the profile's MessagePrefix says.
func (d Decision) Result() json.RawMessage {
	var answer any = d.tagged()
	if !d.prefix.Text {
		answer = map[string]any{"error": d.tagged(), "loop_blocked": true}
	}
	raw, _ := json.Marshal(answer) // a string always encodes
	return raw
}

// Note returns the nudge as the agent reads it, with the tag of the profile before it, and "" if there is no nudge.
func (d Decision) Note() string {
	if d.Action == policy.Allow || d.Nudge == "" {
		return ""
	}
	return d.tagged()
}

// tagged returns the nudge with the tag of the profile before it.
func (d Decision) tagged() string { return "[" + d.prefix.Tag + "] " + d.Nudge }

// AttachError returns err with the nudge at the end of its message, and err itself if there is no nudge. The result wraps err.
func (d Decision) AttachError(err error) error {
	if err == nil || d.Note() == "" {
		return err
	}
	return fmt.Errorf("%w %s", err, d.Note())
}

// Attach returns the result with the nudge attached. Objects gain the member _loop_guard. Strings get the nudge appended.
// Other values are wrapped in an object with the members result and _loop_guard. If there is no nudge, or a json.RawMessage
// is invalid, Attach returns the result unchanged. The result is a json.RawMessage, or a value as encoding/json decodes it
// to any. Attach does not modify it.
func (d Decision) Attach(result any) any {
	if d.Note() == "" {
		return result
	}
	note := map[string]any{"action": d.Action.String(), "code": d.Code, "count": d.Count, "message": d.Nudge}
	switch r := result.(type) {
	case json.RawMessage:
		var value any
		decoder := json.NewDecoder(bytes.NewReader(r))
		decoder.UseNumber() // large integers keep their digits
		if decoder.Decode(&value) != nil || decoder.InputOffset() < int64(len(bytes.TrimRight(r, " \t\r\n"))) {
			return result
		}
		raw, err := json.Marshal(d.Attach(value))
		if err != nil {
			return result
		}
		return json.RawMessage(raw)
	case string:
		return r + " " + d.Note()
	case map[string]any:
		with := make(map[string]any, len(r)+1)
		maps.Copy(with, r)
		with["_loop_guard"] = note
		return with
	}
	return map[string]any{"result": result, "_loop_guard": note}
}

// Err returns a *LoopError if the run must halt, and nil otherwise.
func (d Decision) Err() error {
	if d.Action != policy.Halt {
		return nil
	}
	return &LoopError{Tool: d.tool, Count: d.Count, Code: d.Code, Nudge: d.Nudge}
}

// Halted returns the *LoopError of the latest decision that halted the run, and nil if there is none. A message of the user and a
// person's Allow reset it. It returns the reason for the end of a run if a framework has lost the error.
func (g *Guard) Halted() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.halted
}

// LoopError is the error of a run that the guard halted because of a loop. The call must not be retried.
type LoopError struct {
	Tool  string // of the call at which the run was halted
	Count int    // as in Decision
	Code  string // as in Decision
	Nudge string // as in Decision
}

// Error returns the tool, the code, the count and the nudge. It leaves out a tool and a count that there is not, as when a person
// halts the run.
func (e *LoopError) Error() string {
	at, times := "", ""
	if e.Tool != "" {
		at = " at " + e.Tool
	}
	if e.Count > 1 {
		times = fmt.Sprintf(", %d times", e.Count)
	}
	return fmt.Sprintf("run halted%s (%s%s): %s", at, e.Code, times, e.Nudge)
}

// Retryable returns false: a retry would be halted, too.
func (e *LoopError) Retryable() bool { return false }
