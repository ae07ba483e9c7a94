package autogen

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Chat is the format of the chat history of AutoGen 0.2 and AG2.
func Chat() ingest.Format {
	return ingest.Format{
		Name:   "ag2",
		Title:  "AutoGen 0.2 and AG2 chat history",
		Sniff:  sniffChat,
		Decode: decodeChat,
		Whole:  true,
	}
}

func sniffChat(head []byte) bool {
	if history := ingest.Member(head, "chat_history"); history != nil {
		m, list := ingest.Members(history)
		_, content := m["content"]
		return list && content && m["role"] != ""
	}
	return ingest.DialectOf(head) == ingest.AutoGen
}

// chatMessage is a message of a chat.
type chatMessage struct {
	ingest.ChatMessage
	Responses []ingest.ChatMessage `json:"tool_responses"`
}

// result is the dump of a ChatResult.
type result struct {
	History  []jsontext.Value          `json:"chat_history"`
	Messages []jsontext.Value          `json:"messages"`
	Cost     map[string]jsontext.Value `json:"cost"`
}

type chat struct {
	in     *ingest.Input
	emit   ingest.Emit
	events *ingest.EventBuilder
	runs   int
	index  int    // of the next message
	text   string // of the message before
	name   string // of its agent
}

func decodeChat(in *ingest.Input, emit ingest.Emit) error {
	d := &chat{in: in, emit: emit}
	return in.Elements(func(_ int, value jsontext.Value) error {
		if value.Kind() == '[' {
			var list []jsontext.Value
			if err := in.Unmarshal(in.Line(), value, &list); err != nil {
				return err
			}
			return d.list("", list)
		}
		var r result
		if err := in.Unmarshal(in.Line(), value, &r); err != nil {
			return err
		}
		switch {
		case r.History != nil:
			if err := d.list("chat_history", r.History); err != nil {
				return err
			}
			return d.end(&r)
		case r.Messages != nil:
			return d.list("messages", r.Messages)
		}
		return d.message("", value)
	})
}

// list sends the messages of a run of their own.
func (d *chat) list(path string, list []jsontext.Value) error {
	d.begin()
	for i, v := range list {
		if err := d.message(ingest.Path(path, i), v); err != nil {
			return err
		}
	}
	return nil
}

func (d *chat) begin() {
	d.runs++
	d.index, d.text, d.name = 0, "", ""
	d.events = ingest.NewEventBuilder(runName(d.in.Run, d.runs), d.emit)
}

func (d *chat) message(path string, value jsontext.Value) error {
	if d.events == nil {
		d.begin()
	}
	var m chatMessage
	if err := d.in.Unmarshal(d.in.Line(), value, &m); err != nil {
		return ingest.Under(path, err)
	}
	at := ingest.Location{Index: d.index, Agent: m.Name}
	d.index++
	text := ingest.Content(m.Content)
	before, coder := d.text, d.name
	d.text, d.name = text, m.Name
	switch {
	case len(m.Responses) > 0:
		for _, r := range m.Responses {
			if err := d.events.Result(at, r.ToolCallID, r.Name, ingest.Output(r.Content), false, ""); err != nil {
				return err
			}
		}
		return nil
	case m.Role == "tool", m.Role == "function", m.Role == "system":
		return d.events.Chat(at, &m.ChatMessage)
	case at.Index > 0 && strings.HasPrefix(text, "exitcode: "):
		return d.executed(at, coder, before, text)
	}
	m.Role = "assistant"
	if at.Index == 0 {
		m.Role = "user"
	}
	return d.events.Chat(at, &m.ChatMessage)
}

// executed sends the execution of the code in the message before: "exitcode: 1 (execution failed)\nCode output: …".
func (d *chat) executed(at ingest.Location, coder, before, text string) error {
	if err := d.events.Call(ingest.Location{Index: at.Index, Agent: coder}, "", codeTool, codeArguments(codeOf(before))); err != nil {
		return err
	}
	status, output, _ := strings.Cut(text, "\n")
	output = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(output), "Code output:"))
	return d.events.Result(at, "", codeTool, ingest.Text(output), !strings.HasPrefix(status, "exitcode: 0"), "")
}

// end sends the end of the run, with the tokens and the cost of the whole chat by its models.
func (d *chat) end(r *result) error {
	e := &unloop.Event{Type: unloop.RunCompleted}
	var tokens unloop.Usage
	for name, value := range ingest.MembersOf(string(r.Cost["usage_excluding_cached_inference"])) {
		if name == "total_cost" {
			var cost float64
			if json.Unmarshal(value, &cost) == nil {
				e.Cost = max(0, cost)
			}
			continue
		}
		var u ingest.ChatUsage
		if json.Unmarshal(value, &u) == nil {
			tokens.Input, tokens.Output = tokens.Input+u.Prompt, tokens.Output+u.Completion
		}
	}
	if e.Usage = ingest.TokenKinds(tokens); e.Usage != nil {
		e.Tokens = e.Usage.Input + e.Usage.Output
	}
	return d.events.Add(ingest.Location{Index: max(0, d.index-1)}, e)
}

// codeTool is the name of the execution of code, which the conversations do not have as a call.
const codeTool = "execute_code"

var codeBlock = regexp.MustCompile("(?s)```[^\n`]*\n(.*?)```")

// codeOf returns the code blocks of a text, or the text if it has none.
func codeOf(text string) string {
	var blocks []string
	for _, found := range codeBlock.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, strings.TrimSpace(found[1]))
	}
	if blocks == nil {
		return text
	}
	return strings.Join(blocks, "\n")
}

func codeArguments(code string) json.RawMessage {
	return append(append(json.RawMessage(`{"code":`), ingest.Text(code)...), '}')
}

// textsOf returns the texts in a list of texts and pictures.
func textsOf(v jsontext.Value) string {
	var parts []jsontext.Value
	if json.Unmarshal(v, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if text := ingest.UnquoteText(p); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}
