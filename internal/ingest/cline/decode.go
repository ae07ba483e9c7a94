// Package cline reads the two files that Cline and Roo Code keep of a task in their folder tasks/<task>: api_conversation_history.json, the
// messages to and from the model in the form of Anthropic's API, and ui_messages.json, what the page shows of the same task. Each is a JSON
// list. An Index counts the messages, from 0.
//
// The run is the task, which is the name of the folder, else the name of the file. That of ui_messages.json has the suffix "/ui", because
// both files describe the same work.
//
// Traps: older versions, and models without tools of their own, request calls as XML in the text ("<read_file><path>…"), and their results
// are texts of the user that begin with "[read_file for '…'] Result:". The program writes most texts of the user: the environment, errors
// and reminders; only those in tags for a person's words begin a turn. The file ui_messages.json has the tokens and the cost of each model
// call, and only the outputs of commands, of MCP servers and of the browser; the results of other tools are unknown there. Cached tokens
// are beside the input tokens, except those of Roo Code for OpenAI's protocol.
package cline

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// History is the format of api_conversation_history.json.
func History() ingest.Format {
	return ingest.Format{
		Name:   "cline",
		Title:  "Cline or Roo Code task (api_conversation_history.json)",
		Sniff:  func(head []byte) bool { return ingest.DialectOf(head) == ingest.Cline },
		Decode: decodeHistory,
		Whole:  true,
	}
}

// runOf returns the task of a file, and a suffix for the page's.
func runOf(in *ingest.Input) string {
	name := filepath.ToSlash(in.Name)
	task := path.Base(path.Dir(name))
	if task == "." || task == "/" {
		return in.Run
	}
	switch path.Base(name) {
	case "api_conversation_history.json":
		return task
	case "ui_messages.json":
		return task + "/ui"
	}
	return in.Run
}

// message is a message of the model's API with what Cline and Roo Code add.
type message struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	Time    jsontext.Value `json:"ts"`
	Model   struct {
		ID string `json:"modelId"`
	} `json:"modelInfo"`
	Metrics struct {
		Tokens struct {
			Prompt     int64 `json:"prompt"`
			Completion int64 `json:"completion"`
			Cached     int64 `json:"cached"`
		} `json:"tokens"`
		Cost float64 `json:"cost"`
	} `json:"metrics"`
}

type decoder struct {
	in     *ingest.Input
	events *ingest.EventBuilder
	open   []string // the tools of XML calls without a result
}

func decodeHistory(in *ingest.Input, emit ingest.Emit) error {
	d := &decoder{in: in, events: ingest.NewEventBuilder(runOf(in), emit)}
	return in.Elements(func(i int, value jsontext.Value) error {
		var m message
		if err := in.Unmarshal(in.Line(), value, &m); err != nil {
			return err
		}
		blocks, err := in.Blocks(in.Line(), "content", m.Content)
		if err != nil {
			return err
		}
		at := ingest.Location{Index: i, Time: ingest.Time(m.Time)}
		if m.Role == "assistant" {
			return d.answer(at, &m, blocks)
		}
		return d.user(at, blocks)
	})
}

// answer sends a model call, its text and its calls.
func (d *decoder) answer(at ingest.Location, m *message, blocks []ingest.Block) error {
	t := m.Metrics.Tokens
	kinds := ingest.TokenKinds(unloop.Usage{Input: t.Prompt, Output: t.Completion, CachedInput: t.Cached})
	u := ingest.Usage{Model: m.Model.ID, Kinds: kinds, Cost: m.Metrics.Cost}
	if kinds != nil {
		u.Tokens = kinds.Input + kinds.Output
	}
	if err := d.events.Model(at, u); err != nil {
		return err
	}
	text, calls := parse(ingest.Prose(blocks))
	if text != "" {
		if err := d.events.Message(at, unloop.RoleAssistant, text); err != nil {
			return err
		}
	}
	d.open = d.open[:0]
	for _, c := range calls {
		d.open = append(d.open, c.tool)
		if err := d.events.Call(at, "", c.tool, c.arguments()); err != nil {
			return err
		}
	}
	return d.events.Blocks(at, blocks)
}

// user sends the results in a message, then what the person and the program said.
func (d *decoder) user(at ingest.Location, blocks []ingest.Block) error {
	if err := d.events.Blocks(at, blocks); err != nil {
		return err
	}
	var results []string
	type words struct{ role, text string }
	var messages []words
	for _, b := range blocks {
		if b.Type != "text" {
			continue
		}
		if rest, ok := resultOf(b.Text, d.open[min(len(results), len(d.open)):]); ok {
			results = append(results, rest)
			continue
		}
		role, text := wordsOf(b.Text)
		switch {
		case text == "":
		case role == "" && len(results) > 0:
			results[len(results)-1] += "\n" + text
		case role == "":
			messages = append(messages, words{unloop.RoleSystem, text})
		default:
			messages = append(messages, words{role, text})
		}
	}
	for i, r := range results {
		output := strings.TrimSpace(r)
		if err := d.events.Result(at, "", d.open[i], ingest.Text(output), failed(d.open[i], output), ""); err != nil {
			return err
		}
	}
	d.open = d.open[len(results):]
	for _, s := range messages {
		if err := d.events.Message(at, s.role, s.text); err != nil {
			return err
		}
	}
	return nil
}

// resultOf returns the part of a text after the header of a result: [tool for 'x'] Result:. The tool must be open.
func resultOf(text string, open []string) (string, bool) {
	if len(open) == 0 {
		return "", false
	}
	rest, ok := strings.CutPrefix(text, "["+open[0])
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, "] Result:")
	return rest, ok
}

// failed reports whether the text of a result says that the call failed: by the program's error, a person's refusal, or the exit code
// of a command.
func failed(tool, output string) bool {
	if strings.HasPrefix(output, "The tool execution failed") || strings.HasPrefix(output, "The user denied this operation") {
		return true
	}
	_, code, ok := strings.Cut(output, "Exit code: ")
	return ok && tool == "execute_command" && !strings.HasPrefix(code, "0")
}

// wordsOf returns what a person said in a text of the user, or the text with an empty role if the program wrote it. What the program tells
// of the environment is left out.
func wordsOf(text string) (role, rest string) {
	text = strings.TrimSpace(text)
	if before, _, found := strings.Cut(text, "<environment_details>"); found {
		text = strings.TrimSpace(before)
	}
	for _, tag := range []string{"task", "user_message", "feedback", "answer"} {
		_, inner, found := strings.Cut(text, "<"+tag+">")
		inner, _, closed := strings.Cut(inner, "</"+tag+">")
		if found && closed {
			return unloop.RoleUser, strings.TrimSpace(inner)
		}
	}
	return "", text
}
