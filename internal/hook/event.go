// Package hook is what unloop runs at the hooks of coding agents. An agent starts a process at each hook, writes JSON to it and reads
// its answer. Run reads the state of the session, folds what happened into its guard, answers in the agent's own protocol, and writes
// the state back. Package guard decides; the packages of the command line call Run.
package hook

import (
	"encoding/json"
	"time"
)

// Kind is what a hook says has happened.
type Kind uint8

// The kinds of events. Agents have more; these are judged.
const (
	Ignored     Kind = iota // nothing that is judged
	Before                  // a call is about to run
	After                   // a call has ended
	Batch                   // all calls of one answer of the model have ended
	Prompt                  // a person has spoken
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
)

// Event is one event of an agent, in terms that all agents share.
type Event struct {
	Agent      string
	Name       string // the agent's own name of the event
	Kind       Kind
	Session    string
	SubAgent   string // "" for the main agent
	Dir        string // the working folder
	Transcript string // the file in which the agent records the session; "" if it names none
	Calls      []Call // one, but for Batch
	Text       string // of Prompt and Stop
	Continued  bool   // of Stop: a hook has already sent the agent back to work
}

// Call is a call of a tool.
type Call struct {
	ID     string `json:",omitempty"` // "" where the agent gives none
	Tool   string
	Args   json.RawMessage `json:",omitempty"`
	Result json.RawMessage `json:",omitempty"` // nil if the hook does not show it
	Failed bool            `json:",omitempty"`
	Error  string          `json:",omitempty"` // of a failed call
	Took   time.Duration   `json:",omitempty"` // 0 if it is not known
}

// Answer is what a hook answers. At most one field is set; none of them means that the agent goes on.
type Answer struct {
	Deny     string // the call does not run; why
	Context  string // a text for the model
	EndTurn  string // the agent's turn ends; why
	SendBack string // the agent does not stop yet; why
}

// Empty reports whether the agent simply goes on.
func (a Answer) Empty() bool { return a == Answer{} }

// input is the union of what agents write to their hooks.
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
}

// batched is a call in Claude Code's PostToolBatch.
type batched struct {
	Tool     string          `json:"tool_name"`
	Args     json.RawMessage `json:"tool_input"`
	ID       string          `json:"tool_use_id"`
	Response json.RawMessage `json:"tool_response"`
}
