// Package hook is the command that coding agents run at their hooks. An agent starts a process at each hook, writes JSON to it
// and reads its answer. Run loads the session, folds the event into its guard, answers in the agent's protocol, and saves the
// session. Package guard makes the decisions. Package cli calls Run.
package hook

import (
	"encoding/json"
	"time"
)

// Kind is the kind of an event at a hook.
type Kind uint8

// The kinds of events. Agents have further events, which are ignored.
const (
	Ignored     Kind = iota // not judged
	Before                  // a call is about to run
	After                   // a call has ended
	Batch                   // all calls of one answer of the model have ended
	Prompt                  // a person has sent a message
	Stop                    // the agent is about to end its turn
	SessionEnds             // the session is over
)

// The names of the agents.
const (
	Claude   = "claude-code"
	Codex    = "codex"
	Gemini   = "gemini-cli"
	Cursor   = "cursor"
	Copilot  = "copilot-cli"
	Crush    = "crush"
	OpenCode = "opencode"
	Qwen     = "qwen-code"
	Droid    = "factory-droid"
	Cline    = "cline"
	Windsurf = "windsurf"
	Kiro     = "kiro"
	Amp      = "amp"
)

// agents are the names of all agents.
var agents = []string{Claude, Codex, Gemini, Cursor, Copilot, Crush, OpenCode, Qwen, Droid, Cline, Windsurf, Kiro, Amp}

// Event is an event of an agent in a form that all agents share.
type Event struct {
	Agent      string
	Name       string // the agent's name of the event
	Kind       Kind
	Session    string
	SubAgent   string // "" for the main agent
	Dir        string // the working folder
	Transcript string // the file in which the agent records the session; "" if unknown
	Calls      []Call // one call, except for Batch
	Text       string // for Prompt and Stop
	Continued  bool   // for Stop: a hook has already made the agent continue
}

// Call is a call of a tool.
type Call struct {
	ID     string `json:",omitempty"` // "" if the agent gives none
	Tool   string
	Args   json.RawMessage `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"` // nil if the hook does not contain it
	Failed bool            `json:",omitempty"`
	Error  string          `json:",omitempty"` // of a failed call
	Took   time.Duration   `json:",omitempty"` // 0 if unknown
}

// Answer is the answer of a hook. At most one field is set. Without any, the agent continues.
type Answer struct {
	Deny     string // why the call must not run
	Context  string // a text for the model
	EndTurn  string // why the agent's turn ends
	SendBack string // why the agent must continue its turn
}

// Empty reports whether the agent continues without an intervention.
func (a Answer) Empty() bool { return a == Answer{} }

// input is the union of the inputs that agents write to their hooks.
type input struct {
	SessionID       string          `json:"session_id"`
	SessionIDCamel  string          `json:"sessionId"`
	ConversationID  string          `json:"conversation_id"`
	AgentID         string          `json:"agent_id"`
	TranscriptPath  string          `json:"transcript_path"`
	TranscriptCamel string          `json:"transcriptPath"`
	Dir             string          `json:"cwd"`
	Roots           []string        `json:"workspace_roots"`
	EventName       string          `json:"hook_event_name"`
	CrushEvent      string          `json:"event"`
	Timestamp       json.RawMessage `json:"timestamp"`
	TurnID          string          `json:"turn_id"`

	Tool       string          `json:"tool_name"`
	ToolCamel  string          `json:"toolName"`
	Args       json.RawMessage `json:"tool_input"`
	ArgsCamel  json.RawMessage `json:"toolArgs"`
	CallID     string          `json:"tool_use_id"`
	Response   json.RawMessage `json:"tool_response"`
	Output     json.RawMessage `json:"tool_output"`
	Result     json.RawMessage `json:"toolResult"`
	Error      json.RawMessage `json:"error"`
	ErrorText  string          `json:"error_message"`
	FailedBy   string          `json:"failure_type"`
	DurationMS float64         `json:"duration_ms"`
	Duration   float64         `json:"duration"`
	Calls      []batched       `json:"tool_calls"`

	Prompt         string `json:"prompt"`
	StopActive     bool   `json:"stop_hook_active"`
	LastMessage    string `json:"last_assistant_message"`
	PromptResponse string `json:"prompt_response"`
	LoopCount      int    `json:"loop_count"`

	clineInput
	windsurfInput
}

// batched is a call in Claude Code's PostToolBatch.
type batched struct {
	Tool     string          `json:"tool_name"`
	Args     json.RawMessage `json:"tool_input"`
	ID       string          `json:"tool_use_id"`
	Response json.RawMessage `json:"tool_response"`
}
