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

// openCodeOutput is read by the plugin that install writes.
type openCodeOutput struct {
	Deny   string `json:"deny,omitempty"`
	Append string `json:"append,omitempty"`
}

// Can is the set of answers that an agent supports at an event.
type Can struct{ Deny, Context, EndTurn, SendBack bool }

// CanOf returns the answers that the agent supports at the event.
func CanOf(e *Event) Can {
	before, after, stop := e.Kind == Before, e.Kind == After, e.Kind == Stop
	switch e.Agent {
	case Claude:
		// At PreToolUse and PostToolUseFailure, continue:false does not end the turn; PostToolBatch follows both.
		return Can{Deny: before, Context: before || after || e.Kind == Batch || e.Kind == Prompt, EndTurn: e.Kind == Batch || stop, SendBack: stop}
	case Qwen, Droid:
		return Can{Deny: before, Context: after || e.Kind == Prompt, EndTurn: after || stop, SendBack: stop}
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
	case OpenCode:
		return Can{Deny: before, Context: after}
	}
	return Can{}
}

// maxText is the maximum size of a text for an agent in bytes: Claude Code and Copilot CLI accept 10,000 characters.
const maxText = 8000

// Encode returns the answer in the agent's protocol: one JSON object, or nothing for an empty answer, at which every agent
// continues.
func Encode(e *Event, a Answer) []byte {
	out := encode(e, a)
	if a.Empty() || out == nil {
		return nil
	}
	raw, err := plainJSON(out)
	if err != nil {
		return nil // these structs can always be encoded
	}
	return append(raw, '\n')
}

func encode(e *Event, a Answer) any {
	if claudeKinds[e.Name] != Ignored && e.Agent != Crush {
		return claudeAnswer(e, a) // also Copilot CLI and Cursor, if they run the hooks in Claude Code's settings
	}
	switch e.Agent {
	case Gemini:
		return geminiAnswer(e, a)
	case Copilot:
		return copilotAnswer(a)
	case Cursor:
		return cursorAnswer(a)
	case Crush:
		return crushAnswer(a)
	case OpenCode:
		return openCodeOutput{Deny: a.Deny, Append: a.Context}
	}
	return nil
}

func claudeAnswer(e *Event, a Answer) any {
	specific := claudeSpecific{Event: e.Name}
	switch {
	case a.Deny != "":
		specific.Decision, specific.Reason = "deny", a.Deny
	case a.Context != "":
		specific.Context = a.Context
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
