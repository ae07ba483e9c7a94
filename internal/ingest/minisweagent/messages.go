package minisweagent

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// decoder keeps the facts of earlier messages that a message needs.
type decoder struct {
	in    *ingest.Input
	trail *ingest.EventBuilder
	model string // the configured model, for messages without one
	plain bool   // the format of version 1: commands in the text, and an unreliable "extra"

	waiting []string // calls without their own id and without an observation, in order
	mute    bool     // the assistant's last message had no command
}

func (d *decoder) message(index int, m *message) error {
	at := ingest.Location{Index: index, Time: m.time()}
	switch {
	case m.Object == "response":
		if err := d.fromResponse(index, m); err != nil {
			return err
		}
		return d.reply(at, m)
	case m.Type == "function_call_output":
		return d.result(at, m.CallID, ingest.Output(m.Output), m)
	}
	switch m.Role {
	case "assistant":
		return d.reply(at, m)
	case "tool":
		return d.result(at, m.ToolCallID, ingest.Output(m.Content), m)
	case "user":
		return d.user(at, m)
	case "exit":
		return nil
	}
	d.in.CheckRole(ingest.Path("messages", index), m.Role, roles)
	return d.trail.Chat(at, &m.ChatMessage)
}

// roles are the roles of a message. The program ends its list with one of the role exit.
var roles = append([]string{"exit"}, ingest.ChatRoles...)

// reply sends the model call, the assistant's text, and its commands.
func (d *decoder) reply(at ingest.Location, m *message) error {
	if err := d.usage(at, m); err != nil {
		return err
	}
	m.Usage, m.Model = nil, "" // already counted
	d.waiting, d.mute = nil, false
	if len(m.ToolCalls) > 0 {
		return d.trail.Chat(at, &m.ChatMessage)
	}
	text := ingest.Content(m.Content)
	words, commands := split(text)
	if len(m.Extra.Actions) > 0 {
		commands = nil
		for _, a := range m.Extra.Actions {
			commands = append(commands, ingest.UnquoteText(a.Command))
		}
	}
	d.mute = len(commands) == 0
	if !blank(words) {
		if err := d.trail.Message(at, unloop.RoleAssistant, words); err != nil {
			return err
		}
	}
	for i, c := range commands {
		id := "m" + strconv.Itoa(at.Index) + "." + strconv.Itoa(i)
		d.waiting = append(d.waiting, id)
		if err := d.trail.Call(at, id, "bash", arguments(c)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) usage(at ingest.Location, m *message) error {
	u := ingest.Usage{Model: m.Model, Cost: m.Extra.Cost}
	tokens := m.Usage
	if r := m.Extra.Response; r != nil {
		tokens = r.Usage
		u.Model = r.Model
	}
	if tokens == nil && u.Cost == 0 {
		return nil
	}
	if tokens != nil {
		u.Tokens, u.Kinds = tokens.Tokens(), tokens.Kinds()
	}
	if u.Model == "" {
		u.Model = d.model
	}
	return d.trail.Model(at, u)
}

// fence matches the commands in an answer of version 1; there must be exactly one.
var fence = regexp.MustCompile("(?s)```(?:mswea_bash_command|bash)[ \\t\\r]*\\n(.*?)\\n```")

// split splits the assistant's text into the text and its command. A text without a command, or with several, has none, because
// the program rejects it.
func split(text string) (words string, commands []string) {
	found := fence.FindAllStringSubmatchIndex(text, 2)
	if len(found) != 1 {
		return text, nil
	}
	at := found[0]
	words = strings.TrimSpace(strings.TrimSpace(text[:at[0]]) + "\n" + strings.TrimSpace(text[at[1]:]))
	return words, []string{strings.TrimSpace(text[at[2]:at[3]])}
}

func arguments(command string) json.RawMessage {
	return append(append(json.RawMessage(`{"command":`), ingest.Text(command)...), '}')
}

// user sends a message of role user by its actual sender.
func (d *decoder) user(at ingest.Location, m *message) error {
	text := ingest.Content(m.Content)
	mute := d.mute
	d.mute = false
	switch {
	case m.Extra.ReturnCode != nil, len(d.waiting) > 0 && m.Extra.Interrupt == "" && !byUser(text):
		return d.observation(at, text, m)
	case m.Extra.Interrupt != "" && !strings.HasPrefix(m.Extra.Interrupt, "User"), d.plain && mute && !byUser(text):
		return d.complaint(at, text, m)
	case blank(text):
		return nil
	}
	d.waiting = nil
	return d.trail.Message(at, unloop.RoleUser, text)
}

// byUser reports whether a message of version 1 is from an intervening user.
func byUser(text string) bool {
	return strings.HasPrefix(text, "Command not executed. The user rejected") ||
		strings.HasPrefix(text, "Interrupted by user: ") ||
		strings.HasPrefix(text, "The user added a new task: ")
}

// observation sends the outcome of the longest waiting call. If none waits, a user's own command was run.
func (d *decoder) observation(at ingest.Location, text string, m *message) error {
	if len(d.waiting) == 0 {
		return nil
	}
	id := d.waiting[0]
	d.waiting = d.waiting[1:]
	return d.result(at, id, ingest.Text(text), m)
}

// complaint sends the program's message about a rejected answer, after that answer if it is known.
func (d *decoder) complaint(at ingest.Location, text string, m *message) error {
	if err := d.usage(at, m); err != nil {
		return err
	}
	answer := m.Extra.Refused
	if r := m.Extra.Response; answer == "" && r != nil && len(r.Choices) > 0 {
		answer = ingest.Content(r.Choices[0].Message.Content)
	}
	if !blank(answer) {
		if err := d.trail.Message(at, unloop.RoleAssistant, answer); err != nil {
			return err
		}
	}
	if blank(text) {
		return nil
	}
	return d.trail.Message(at, unloop.RoleSystem, text)
}

// head matches the beginning of an observation whose text contains the return code.
var head = regexp.MustCompile(`(?s)^\s*(?:<exception>(.*?)</exception>\s*)?<returncode>(-?\d+)</returncode>`)

// result sends the outcome of a call. A call that was not executed has none.
func (d *decoder) result(at ingest.Location, callID string, output json.RawMessage, m *message) error {
	reason := m.Extra.Exception
	if reason == "action was not executed" {
		return nil
	}
	failed := false
	if code := m.Extra.ReturnCode; code != nil {
		failed = *code != 0
	} else {
		failed, reason = failureOf(ingest.UnquoteText([]byte(output)))
	}
	return d.trail.Result(at, callID, "bash", output, failed, reason)
}

func failureOf(text string) (failed bool, reason string) {
	if strings.HasPrefix(text, "The last command <command>") && strings.Contains(text, "timed out and has been killed") {
		return true, ""
	}
	header := head.FindStringSubmatch(text)
	if header == nil {
		return false, ""
	}
	return strings.Trim(header[2], "-0") != "", header[1]
}
