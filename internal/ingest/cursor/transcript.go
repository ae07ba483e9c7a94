package cursor

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Transcript is the format of the editor's transcripts.
func Transcript() ingest.Format {
	return ingest.Format{
		Name:   "cursor",
		Title:  "Cursor transcript (~/.cursor/projects/*/agent-transcripts)",
		Sniff:  sniffTranscript,
		Decode: decodeTranscript,
		Whole:  true,
		Grows:  true,
	}
}

// sniffTranscript looks for a line with a role beside a message with content, and without any id.
func sniffTranscript(head []byte) bool {
	m, list := ingest.Members(head)
	if list || m["role"] != "user" && m["role"] != "assistant" || !has(m, "message") || len(m) > 3 {
		return false
	}
	message, list := ingest.Members(ingest.Member(head, "message"))
	return !list && has(message, "content")
}

func decodeTranscript(in *ingest.Input, emit ingest.Emit) error {
	events := ingest.NewEventBuilder(in.Run, emit)
	index := -1
	return in.EachLine(func(text ingest.Line) error {
		index++
		var l struct {
			Role    string         `json:"role"`
			Time    jsontext.Value `json:"timestamp"` // of few versions
			Message struct {
				Content jsontext.Value `json:"content"`
			} `json:"message"`
		}
		if err := in.Unmarshal(text.Number, text.Bytes, &l); err != nil {
			return err
		}
		blocks, err := in.Blocks(text.Number, "message.content", l.Message.Content)
		if err != nil {
			return err
		}
		at := ingest.Location{Index: index, Time: ingest.Time(l.Time)}
		if l.Role == "user" {
			if err := events.Blocks(at, blocks); err != nil {
				return err
			}
			return message(events, at, unloop.RoleUser, query(ingest.Prose(blocks)))
		}
		if err := message(events, at, unloop.RoleAssistant, ingest.Prose(blocks)); err != nil {
			return err
		}
		return calls(events, at, blocks)
	})
}

// calls sends the calls of an answer. Those without an id have no result in the transcript: they end with an unknown one.
func calls(events *ingest.EventBuilder, at ingest.Location, blocks []ingest.Block) error {
	for _, b := range blocks {
		if err := events.Blocks(at, []ingest.Block{b}); err != nil {
			return err
		}
		if b.IsCall() && b.ID == "" {
			if err := events.Result(at, "", b.Name, nil, false, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

var queryTag = regexp.MustCompile(`(?s)<user_query>\s*(.*?)\s*</user_query>`)

// query returns what the user wrote, without the context that the editor puts around it.
func query(text string) string {
	if found := queryTag.FindAllStringSubmatch(text, -1); found != nil {
		var parts []string
		for _, f := range found {
			parts = append(parts, f[1])
		}
		return strings.Join(parts, "\n")
	}
	return text
}
