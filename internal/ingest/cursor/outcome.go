package cursor

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// failures are the members of a result that is no success.
var failures = []string{"error", "failure", "rejected", "timeout", "fileNotFound", "permissionDenied", "invalidFile", "spawnError"}

// outcome returns the outcome of a call: {"success":{…}}, or an object with one of the failures. A shell command fails by its exit code.
func outcome(result jsontext.Value) (output json.RawMessage, failed bool, reason string) {
	m := ingest.MembersOf(string(result))
	if success := m["success"]; success != nil {
		inner := ingest.MembersOf(string(success))
		exit := string(inner["exitCode"])
		failed := exit != "" && exit != "0" && exit != "null" || string(inner["isError"]) == "true"
		return ingest.Output(success), failed, ""
	}
	for _, name := range failures {
		value := m[name]
		if value == nil {
			continue
		}
		inner := ingest.MembersOf(string(value))
		for _, text := range []jsontext.Value{value, inner["errorMessage"], inner["error"], inner["message"], inner["reason"]} {
			if reason := ingest.UnquoteText(text); reason != "" {
				return nil, true, reason
			}
		}
		return ingest.Output(value), true, ""
	}
	return ingest.Output(result), false, ""
}

func decodeTranscript(in *ingest.Input, emit ingest.Emit) error {
	events := ingest.NewEventBuilder(in.Run, emit)
	index := -1
	return in.EachLine(func(text ingest.Line) error {
		index++
		var l struct {
			Role    string `json:"role"`
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
		at := ingest.Location{Index: index}
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
