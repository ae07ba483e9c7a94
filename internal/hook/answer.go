package hook

// The answers of the agents. Each has only fields that the agent documents for the event. Codex drops an answer with any other
// field.

type claudeOutput struct {
	Continue   *bool           `json:"continue,omitempty"`
	StopReason string          `json:"stopReason,omitempty"`
	Decision   string          `json:"decision,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Specific   *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

type cursorOutput struct {
	Permission string `json:"permission,omitempty"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
	Context    string `json:"additional_context,omitempty"`
	FollowUp   string `json:"followup_message,omitempty"`
}

type copilotOutput struct {
	Permission string `json:"permissionDecision,omitempty"`
	Why        string `json:"permissionDecisionReason,omitempty"`
	Context    string `json:"additionalContext,omitempty"`
	Decision   string `json:"decision,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

type crushOutput struct {
	Decision string `json:"decision,omitempty"`
	Halt     bool   `json:"halt,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"context,omitempty"`
}

// pluginOutput is read by the plugins that install writes.
type pluginOutput struct {
	Deny   string `json:"deny,omitempty"`
	Append string `json:"append,omitempty"`
}

type clineOutput struct {
	Cancel  bool   `json:"cancel"`
	Context string `json:"contextModification,omitempty"`
	Error   string `json:"errorMessage,omitempty"`
}

// Can is the set of answers that an agent supports at an event.
type Can struct{ Deny, Context, EndTurn, SendBack bool }

// canOf returns the answers that the agent supports at the event.
func canOf(e *Event) Can {
	before, after, stop := e.Kind == Before, e.Kind == After, e.Kind == Stop
	switch e.Agent {
	case Claude:
		// At PreToolUse and PostToolUseFailure, continue:false does not end the turn; PostToolBatch follows both.
		return Can{Deny: before, Context: before || after || e.Kind == Batch || e.Kind == Prompt, EndTurn: e.Kind == Batch || stop, SendBack: stop}
	case Qwen:
		return Can{Deny: before, Context: after || e.Kind == Batch || e.Kind == Prompt, EndTurn: after || e.Kind == Batch || stop, SendBack: stop}
	case Droid:
		return Can{Deny: before, Context: after || e.Kind == Prompt, EndTurn: before || after || stop, SendBack: stop}
	case Codex:
		return Can{Deny: before, Context: before || after || e.Kind == Prompt, SendBack: stop}
	case Gemini:
		return Can{Deny: before, Context: after || e.Kind == Prompt, EndTurn: before || after, SendBack: stop}
	case Copilot:
		return Can{Deny: before, Context: after, SendBack: stop}
	case Cursor:
		return Can{Deny: before, Context: e.Name == "postToolUse", SendBack: stop}
	case Crush:
		return Can{Deny: before, Context: before, EndTurn: before}
	case OpenCode, Amp:
		return Can{Deny: before, Context: after}
	case Cline:
		return Can{Deny: before, Context: before || after, EndTurn: before || after}
	case Kiro:
		return Can{Deny: before, Context: after || e.Kind == Prompt}
	case Windsurf:
		return Can{Deny: before}
	}
	return Can{}
}

// maxText is the maximum size of a text for an agent in bytes: Claude Code and Copilot CLI accept 10,000 characters.
const maxText = 8000

// Reply is the answer of a hook's process.
type Reply struct {
	Out    []byte // standard output
	Err    []byte // standard error
	Status int    // exit status
}

// denied is the exit status with which a hook denies a call in the agents that do not read JSON.
const denied = 2

// Encode returns the answer in the agent's protocol: one JSON object, except for agents that read texts. An empty answer is no output and
// the exit status 0, at which every agent continues.
func Encode(e *Event, a Answer) Reply {
	switch {
	case a.Empty():
		return Reply{}
	case e.Agent != Windsurf && e.Agent != Kiro:
		raw, err := plainJSON(encode(e, a))
		if err != nil {
			return Reply{} // these structs can always be encoded
		}
		return Reply{Out: append(raw, '\n')}
	case a.Deny != "":
		return Reply{Err: []byte(a.Deny + "\n"), Status: denied}
	}
	return Reply{Out: []byte(a.Context + "\n")}
}

func encode(e *Event, a Answer) any {
	switch e.Agent {
	case Gemini:
		return geminiAnswer(e, a)
	case Crush:
		return crushAnswer(a)
	case OpenCode, Amp:
		return pluginOutput{Deny: a.Deny, Append: a.Context}
	case Cline:
		return clineOutput{Cancel: a.Deny != "" || a.EndTurn != "", Context: a.Context, Error: a.Deny + a.EndTurn}
	case Copilot, Cursor:
		if claudeKinds[e.Name] != Ignored {
			break // they run the hooks in Claude Code's settings
		}
		if e.Agent == Copilot {
			return copilotAnswer(a)
		}
		return cursorAnswer(a)
	}
	return claudeAnswer(e, a)
}

func claudeAnswer(e *Event, a Answer) any {
	specific := claudeSpecific{Event: e.Name}
	switch {
	case a.Deny != "":
		specific.Decision, specific.Reason = "deny", a.Deny
	case a.Context != "":
		specific.Context = a.Context
	case a.EndTurn != "" && e.Kind == Before: // the call must not run, either
		specific.Decision, specific.Reason = "deny", a.EndTurn
		return claudeOutput{Continue: new(bool), StopReason: a.EndTurn, Specific: &specific}
	case a.EndTurn != "":
		return claudeOutput{Continue: new(bool), StopReason: a.EndTurn}
	default:
		return claudeOutput{Decision: "block", Reason: a.SendBack}
	}
	return claudeOutput{Specific: &specific}
}

func geminiAnswer(e *Event, a Answer) any {
	switch {
	case a.Deny != "":
		return claudeOutput{Decision: "deny", Reason: a.Deny}
	case a.SendBack != "":
		return claudeOutput{Decision: "deny", Reason: a.SendBack}
	case a.EndTurn != "":
		return claudeOutput{Continue: new(bool), StopReason: a.EndTurn}
	}
	return claudeOutput{Specific: &claudeSpecific{Event: e.Name, Context: a.Context}}
}

func copilotAnswer(a Answer) any {
	switch {
	case a.Deny != "":
		return copilotOutput{Permission: "deny", Why: a.Deny}
	case a.SendBack != "":
		return copilotOutput{Decision: "block", Reason: a.SendBack}
	}
	return copilotOutput{Context: a.Context}
}

func cursorAnswer(a Answer) any {
	if a.Deny != "" {
		return cursorOutput{Permission: "deny", User: a.Deny, Agent: a.Deny}
	}
	return cursorOutput{Context: a.Context, FollowUp: a.SendBack}
}

func crushAnswer(a Answer) any {
	switch {
	case a.Deny != "":
		return crushOutput{Decision: "deny", Reason: a.Deny}
	case a.EndTurn != "":
		return crushOutput{Halt: true, Reason: a.EndTurn}
	}
	return crushOutput{Context: a.Context}
}
