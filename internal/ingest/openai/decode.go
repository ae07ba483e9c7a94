// Package openai reads conversations in the messages of OpenAI's chat completions API, as application code, gateways and proxies
// log them and as fine-tuning files contain them: a list of messages; an object with "messages", which may be a request and may
// contain the response; a list of these, or JSON Lines of them. Index is the position of a message in its conversation. The reply
// in a response follows the last message.
//
// Each request in a log contains the whole conversation. Dialogues decides which records are one run. A tool message cannot mark
// a failure, so every result is a completed call. A function_call, from the API before tool calls, has no id: its outcome is the
// next message of role function. Of several choices only the first is read, because clients continue with that one.
package openai

import (
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of OpenAI's chat messages.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "openai",
		Title:  "OpenAI chat messages",
		Sniff:  func(head []byte) bool { return ingest.DialectOf(head) == ingest.OpenAI },
		Decode: decode,
		Whole:  true,
	}
}

func decode(in *ingest.Input, emit ingest.Emit) error { return in.Dialogues(emit, sendMessages) }

func sendMessages(d *ingest.Dialogue) (sent int, err error) {
	end := len(d.Messages)
	for i := d.Emitted; i < end; i++ {
		var m ingest.ChatMessage
		if err := d.Message(i, &m); err != nil {
			return i, err
		}
		d.CheckRole(i, m.Role, ingest.ChatRoles)
		if err := d.Builder.Chat(ingest.Location{Index: i}, &m); err != nil {
			return i, err
		}
	}
	if d.Emitted > end { // the same request again
		return end, nil
	}
	reply, err := replyOf(d)
	if reply == nil {
		return end, err
	}
	return end + 1, d.Builder.Chat(ingest.Location{Index: end}, reply)
}

// answer is an object with the model's reply.
type answer struct {
	Choices []struct {
		Message *ingest.ChatMessage `json:"message"`
	} `json:"choices"`
	Model string            `json:"model"`
	Usage *ingest.ChatUsage `json:"usage"`
}

// replyOf returns the message with the model's answer, or nil.
func replyOf(d *ingest.Dialogue) (*ingest.ChatMessage, error) {
	for path, value := range d.Answers() {
		var a answer
		if err := d.Unmarshal(path, value, &a); err != nil {
			return nil, err
		}
		if len(a.Choices) > 0 && a.Choices[0].Message != nil {
			reply := a.Choices[0].Message
			reply.Model, reply.Usage = a.Model, a.Usage
			return reply, nil
		}
	}
	return nil, nil
}
