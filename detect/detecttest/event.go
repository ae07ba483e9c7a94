package detecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// eventOf parses a line of a trace without its want.
func eventOf(text string) (*unloop.Event, error) {
	word, rest := cutWord(text)
	first, more := cutWord(rest)
	if first == "" {
		return nil, fmt.Errorf("%q is incomplete", text)
	}
	switch word {
	case "call":
		input, err := arguments(first, more)
		return &unloop.Event{Type: unloop.ToolCallStarted, Tool: first, Input: input}, err
	case "result":
		return &unloop.Event{Type: unloop.ToolCallCompleted, Tool: first, Output: value(more)}, nil
	case "fail":
		return &unloop.Event{Type: unloop.ToolCallFailed, Tool: first, Error: value(more)}, nil
	case "block":
		return &unloop.Event{Type: unloop.ToolCallBlocked, Tool: first}, noMore(more)
	case "say":
		return messageSent(rest, first, more)
	case "user":
		message, err := prose(rest)
		return &unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleUser, Text: message}, err
	case "handoff":
		return &unloop.Event{Type: unloop.HandoffStarted, Agent: first}, noMore(more)
	case "event":
		return other(first, strings.Fields(more))
	}
	return nil, fmt.Errorf("unknown word %q; want call, result, fail, block, say, user, handoff, event, repeat or end", word)
}

func noMore(rest string) error {
	if rest != "" {
		return fmt.Errorf("unexpected %q", rest)
	}
	return nil
}

// arguments returns the input of a call for the text after the tool's name.
func arguments(tool, text string) (json.RawMessage, error) {
	switch {
	case text == "":
		return nil, nil
	case text[0] == '{' || text[0] == '[':
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("the arguments %s are not JSON", text)
		}
		return json.RawMessage(text), nil
	}
	name := "input"
	if slices.Contains(unloop.DefaultShells(), tool) {
		name = "command"
	}
	return json.RawMessage(`{"` + name + `":` + string(quote(text)) + "}"), nil
}

// value returns an output for the text after the tool's name: nil, JSON, or a string.
func value(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return quote(text)
}

// quote returns a text as a JSON string. Unlike json.Marshal, it does not escape <, > and &, which command lines contain.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimSpace(b.Bytes())
}

// said parses an assistant's message. A first word that ends in a colon is the agent.
func messageSent(all, first, more string) (*unloop.Event, error) {
	agent, named := strings.CutSuffix(first, ":")
	if !named || first[0] == '"' {
		agent, more = "", all
	}
	message, err := prose(more)
	return &unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Agent: agent, Text: message}, err
}

// prose parses the text of a message: verbatim, or as a JSON string.
func prose(text string) (string, error) {
	if text == "" {
		return "", errors.New("the message has no text")
	}
	if text[0] != '"' {
		return text, nil
	}
	var message string
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		return "", fmt.Errorf("the message %s is not a JSON string: %w", text, err)
	}
	return message, nil
}

// other returns an event with the given fields of its wire form.
func other(kind string, fields []string) (*unloop.Event, error) {
	object := map[string]json.RawMessage{"type": quote(kind)}
	for _, field := range fields {
		name, text, ok := strings.Cut(field, "=")
		if !ok || text == "" {
			return nil, fmt.Errorf("%q: a field of an event is written NAME=VALUE, without spaces", field)
		}
		object[name] = value(text)
	}
	wire, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("make the event: %w", err)
	}
	e := new(unloop.Event)
	decoder := json.NewDecoder(bytes.NewReader(wire))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(e); err != nil {
		return nil, fmt.Errorf("invalid fields of an event: %w", err)
	}
	return e, nil
}
