// Package openai reads conversations in the messages of OpenAI's chat completions API, as application code, gateways
// and proxies log them and as fine-tuning files hold them: a list of messages; an object with "messages", which may
// be a request and may hold the response beside it; a list of these, or JSON Lines of them. Index is a message's
// position in its conversation; the reply in a response comes behind the last message.
//
// A log of requests tells the whole conversation with each of them: Dialogues says when such records are one run. A
// tool message has no word for a failure, so that every result is a completed call. A function_call, from before
// there were tool calls, has no id: its outcome is the next message of role function. Of several choices only the
// first counts, since that is the one a client goes on with.
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

func decode(in *ingest.Input, emit ingest.Emit) error { return in.Dialogues(emit, tell) }

func tell(d *ingest.Dialogue) (told int, err error) {
	end := len(d.Messages)
	for i := d.Emitted; i < end; i++ {
		var m ingest.ChatMessage
		if err := d.Message(i, &m); err != nil {
			return i, err
		}
		if err := d.Builder.Chat(ingest.Location{Index: i}, &m); err != nil {
			return i, err
		}
	}
	if d.Emitted > end { // the same request once more
		return end, nil
	}
	reply, err := replyOf(d)
	if reply == nil {
		return end, err
	}
	return end + 1, d.Builder.Chat(ingest.Location{Index: end}, reply)
}

// answer is what has the model's reply in it.
type answer struct {
	Choices []struct {
		Message *ingest.ChatMessage `json:"message"`
	} `json:"choices"`
	Model string            `json:"model"`
	Usage *ingest.ChatUsage `json:"usage"`
}

// replyOf returns the message with which the model answered, or nil.
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
