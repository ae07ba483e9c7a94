// Package taubench reads the results files of tau-bench (its run.py): a JSON list of results, each with the task_id and the
// trial, the reward, an info about the task, and the conversation as traj, a list of OpenAI chat messages. Index is the position
// of a message in traj. A result is a run with the id "<Input.Run>/<task_id>-<trial>".
//
// The reward measures the agent, so it does not become an event. tau-bench's environment answers a failed tool with a text that
// begins with "Error: ", and an unknown tool with "Unknown action ". If a task could not be completed, info has an error, and
// traj is empty. Several calls of a conversation may have the same id: each is answered before the next one is made.
package taubench

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of tau-bench results.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "tau-bench",
		Title:  "tau-bench results",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	_, task := members["task_id"]
	_, reward := members["reward"]
	return list && task && reward
}

type result struct {
	Task  jsontext.Value `json:"task_id"` // a number; a string in variants
	Trial jsontext.Value `json:"trial"`
	Info  struct {
		Error string `json:"error"`
	} `json:"info"`
	Messages []ingest.ChatMessage `json:"traj"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	return in.Elements(func(i int, value jsontext.Value) error {
		var r result
		if err := in.Unmarshal(0, value, &r); err != nil {
			return inResult(i, err)
		}
		task, trial := name(r.Task), name(r.Trial)
		if task == "" {
			return in.Bad(0, strconv.Itoa(i)+".task_id", "a result needs a number or a name")
		}
		for k, m := range r.Messages {
			in.CheckRole(strconv.Itoa(i)+"."+ingest.Path("traj", k), m.Role, ingest.ChatRoles)
		}
		return r.send(ingest.NewEventBuilder(in.Run+"/"+task+"-"+trial, emit))
	})
}

// inResult prefixes err with the index of the result in the list.
func inResult(i int, err error) error {
	var bad *ingest.BadInput
	if errors.As(err, &bad) {
		bad.Field = strings.TrimSuffix(strconv.Itoa(i)+"."+bad.Field, ".")
	}
	return err
}

// name returns a number or a string as text, and "" for other values.
func name(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return ingest.UnquoteText(v)
}

func (r *result) send(trail *ingest.EventBuilder) error {
	for i := range r.Messages {
		if err := send(trail, ingest.Location{Index: i}, &r.Messages[i]); err != nil {
			return err
		}
	}
	if r.Info.Error == "" {
		return nil
	}
	at := ingest.Location{Index: len(r.Messages)}
	return trail.Add(at, &unloop.Event{Type: unloop.RunFailed, Error: ingest.Text(r.Info.Error)})
}

func send(trail *ingest.EventBuilder, at ingest.Location, m *ingest.ChatMessage) error {
	if m.Role != "tool" {
		return trail.Chat(at, m)
	}
	text := ingest.Content(m.Content)
	if !strings.HasPrefix(text, "Error: ") && !strings.HasPrefix(text, "Unknown action ") {
		return trail.Chat(at, m)
	}
	return trail.Result(at, m.ToolCallID, m.Name, ingest.Output(m.Content), true, text)
}
