package claudecode

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// entry is a line of the conversation, of type user or assistant. Session files have names in camelCase, the stream mostly with
// underscores.
type entry struct {
	Type    string         `json:"type"`
	UUID    string         `json:"uuid"`
	Time    jsontext.Value `json:"timestamp"`
	Message message        `json:"message"`

	FileSession string  `json:"sessionId"`
	Sidechain   bool    `json:"isSidechain"`
	AgentID     string  `json:"agentId"`
	Meta        bool    `json:"isMeta"`           // inserted by the program
	Summary     bool    `json:"isCompactSummary"` // replaces compacted messages
	Cost        float64 `json:"costUSD"`          // of the message; versions before 1.0.9

	StreamSession string `json:"session_id"`
	Parent        string `json:"parent_tool_use_id"`
	Synthetic     bool   `json:"isSynthetic"` // inserted by the program

	APIError bool           `json:"isApiErrorMessage"`
	Error    jsontext.Value `json:"error"` // the API error that the message replaces
}

type message struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Content jsontext.Value `json:"content"`
	Usage   usage          `json:"usage"`
}

// synthetic is the model's name if the program itself wrote the message.
const synthetic = "<synthetic>"

func (e *entry) session() string {
	if e.FileSession != "" {
		return e.FileSession
	}
	return e.StreamSession
}

func (e *entry) agent() string {
	switch {
	case e.Parent != "":
		return e.Parent
	case !e.Sidechain:
		return ""
	case e.AgentID != "":
		return e.AgentID
	}
	return "sidechain"
}

// injected reports whether a text of type user is not from the user: insertions of the program, the output of a user's command,
// and the main agent's prompt for a sub-agent, which its tool call also contains. None begins a turn.
func (e *entry) injected(text string) bool {
	if e.Meta || e.Summary || e.Synthetic || e.agent() != "" {
		return true
	}
	for _, tag := range []string{
		"<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>",
		"<bash-stdout>", "<bash-stderr>", "<system-reminder>", "<task-notification>",
	} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

// said sends the events of a user line: its results, then the user's message, if it is one.
func (r *run) addMessage(at ingest.Location, e *entry, blocks []ingest.Block) error {
	if err := r.trail.Blocks(at, blocks); err != nil {
		return err
	}
	for i := range blocks {
		delete(r.open, blocks[i].CallID)
	}
	text := ingest.Prose(blocks)
	if text == "" || e.injected(text) {
		return nil
	}
	return r.trail.Message(at, unloop.RoleUser, text)
}

// answered sends the events of an assistant line: the model call, its text, and the requested calls.
func (r *run) answered(at ingest.Location, e *entry, blocks []ingest.Block) error {
	text := ingest.Prose(blocks)
	if e.APIError || e.Message.Model == synthetic {
		return r.stoodIn(at, e, text)
	}
	if err := r.model(at, e); err != nil {
		return err
	}
	if text != "" {
		if err := r.trail.Message(at, unloop.RoleAssistant, text); err != nil {
			return err
		}
	}
	return r.trail.Blocks(at, slices.DeleteFunc(blocks, r.isOpen))
}

// isOpen reports whether an earlier line contains the same call, with the same id, without a result. A broken stream is sent
// again with its calls; each of them is one call.
func (r *run) isOpen(b ingest.Block) bool {
	if !b.IsCall() || b.ID == "" {
		return false
	}
	known := r.open[b.ID]
	r.open[b.ID] = true
	return known
}

// stoodIn sends the event of a message that the program wrote instead of the model: a failed model call, or none.
func (r *run) stoodIn(at ingest.Location, e *entry, text string) error {
	if !e.APIError && e.Error.Kind() != '"' {
		return nil
	}
	return r.trail.Add(at, &unloop.Event{Type: unloop.LLMCallFailed, Error: ingest.Text(text)})
}
