// Package autogen reads conversations of AutoGen and AG2 in their two forms. Messages are those of AutoGen 0.4 and later: the dump of a
// TaskResult ({"messages":[…]}), a list, or messages one after another. Chat is the chat history of AutoGen 0.2 and AG2: the dump of a
// ChatResult ({"chat_history":[…]}), a list, or lines of them. An Index counts the messages, from 0.
//
// Neither has an id of the run, which is the name of the file. A second conversation in a file has the suffix "#2".
//
// Traps of messages: each has the name of its agent as "source". Its usage has the tokens of the prompt and the completion only. A result
// says itself whether it is an error. The summary of the results of a call, and the fragments of a streamed answer, repeat other messages.
//
// Traps of chats: the role is that from the view of one agent, so it does not tell a person from an agent. The first message is the task;
// all others are said by agents, whose name each has. A message with several results has a member for each. An agent that executes code
// answers with "exitcode: …", which is the result of the code blocks in the message before. The tokens are only known for the whole chat,
// and count at its end.
package autogen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Messages is the format of the messages of AutoGen 0.4 and later.
func Messages() ingest.Format {
	return ingest.Format{
		Name:   "autogen",
		Title:  "AutoGen messages (0.4 and later)",
		Sniff:  sniffMessages,
		Decode: decodeMessages,
		Whole:  true,
	}
}

// types are the types of messages.
var types = []string{
	"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "StructuredMessage", "ToolCallSummaryMessage",
	"ToolCallRequestEvent", "ToolCallExecutionEvent", "UserInputRequestedEvent", "MemoryQueryEvent", "ModelClientStreamingChunkEvent",
	"ThoughtEvent", "SelectSpeakerEvent", "CodeGenerationEvent", "CodeExecutionEvent", "ToolCallMessage", "ToolCallResultMessage",
}

func sniffMessages(head []byte) bool {
	if messages := ingest.Member(head, "messages"); messages != nil {
		head = messages
	}
	m, _ := ingest.Members(head)
	if _, ok := m["source"]; !ok {
		return false
	}
	_, usage := m["models_usage"]
	_, content := m["content"]
	return usage && content || slices.Contains(types, m["type"])
}

// message is a message of any type.
type message struct {
	Type    string         `json:"type"`
	Source  string         `json:"source"`
	Time    jsontext.Value `json:"created_at"` // in newer versions
	Content jsontext.Value `json:"content"`
	Usage   *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"models_usage"`
	Target string `json:"target"` // of a handoff
	Result struct {
		Exit   int    `json:"exit_code"`
		Output string `json:"output"`
	} `json:"result"` // of code
}

// call is a call, or its result.
type call struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	CallID    string         `json:"call_id"` // of a result
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
}

type messages struct {
	in     *ingest.Input
	emit   ingest.Emit
	events *ingest.EventBuilder
	runs   int
	index  int // of the next message
}

func decodeMessages(in *ingest.Input, emit ingest.Emit) error {
	d := &messages{in: in, emit: emit}
	return in.Elements(func(_ int, value jsontext.Value) error {
		var v struct {
			Messages []jsontext.Value `json:"messages"`
			Reason   string           `json:"stop_reason"`
		}
		if err := in.Unmarshal(in.Line(), value, &v); err != nil {
			return err
		}
		if v.Messages == nil {
			return d.message("", value)
		}
		d.begin()
		for i, m := range v.Messages {
			if err := d.message(ingest.Path("messages", i), m); err != nil {
				return err
			}
		}
		return d.events.Add(ingest.Location{Index: max(0, d.index-1)}, &unloop.Event{Type: unloop.RunCompleted, Status: v.Reason})
	})
}

// begin begins a run.
func (d *messages) begin() {
	d.runs++
	d.index = 0
	d.events = ingest.NewEventBuilder(runName(d.in.Run, d.runs), d.emit)
}

func runName(name string, number int) string {
	if number == 1 {
		return name
	}
	return name + "#" + strconv.Itoa(number)
}

func (d *messages) message(path string, value jsontext.Value) error {
	if d.events == nil {
		d.begin()
	}
	var m message
	if err := d.in.Unmarshal(d.in.Line(), value, &m); err != nil {
		return ingest.Under(path, err)
	}
	at := ingest.Location{Index: d.index, Time: ingest.Time(m.Time), Agent: m.Source}
	d.index++
	if m.Usage != nil {
		kinds := ingest.TokenKinds(unloop.Usage{Input: m.Usage.Prompt, Output: m.Usage.Completion})
		u := ingest.Usage{Kinds: kinds}
		if kinds != nil {
			u.Tokens = kinds.Input + kinds.Output
		}
		if err := d.events.Model(at, u); err != nil {
			return err
		}
	}
	return d.send(path, at, &m)
}

func (d *messages) send(path string, at ingest.Location, m *message) error {
	switch m.Type {
	case "ToolCallRequestEvent", "ToolCallMessage", "ToolCallExecutionEvent", "ToolCallResultMessage":
		var calls []call
		if err := d.in.Unmarshal(d.in.Line(), m.Content, &calls); err != nil {
			return ingest.Under(path, ingest.Under("content", err))
		}
		return d.calls(at, m.Type, calls)
	case "HandoffMessage":
		return d.events.Handoff(ingest.Location{Index: at.Index, Time: at.Time}, m.Source, m.Target)
	case "CodeGenerationEvent":
		return d.events.Call(at, "", codeTool, codeArguments(codeOf(ingest.UnquoteText(m.Content))))
	case "CodeExecutionEvent":
		return d.events.Result(at, "", codeTool, ingest.Text(m.Result.Output), m.Result.Exit != 0, "")
	case "TextMessage", "MultiModalMessage", "StopMessage", "StructuredMessage", "":
		role := unloop.RoleAssistant
		if m.Source == "user" {
			role = unloop.RoleUser
		}
		text := ingest.Content(m.Content)
		if m.Type == "MultiModalMessage" {
			text = textsOf(m.Content)
		}
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return d.events.Message(at, role, text)
	}
	return nil
}

func (d *messages) calls(at ingest.Location, kind string, calls []call) error {
	for _, c := range calls {
		var err error
		if kind == "ToolCallRequestEvent" || kind == "ToolCallMessage" {
			err = d.events.Call(at, c.ID, c.Name, ingest.Arguments(c.Arguments))
		} else {
			err = d.events.Result(at, c.CallID, c.Name, ingest.Output(c.Content), c.IsError, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
