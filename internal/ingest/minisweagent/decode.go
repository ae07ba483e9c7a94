// Package minisweagent reads the trajectories of mini-swe-agent (.traj.json): one JSON document per task with the messages that
// the model saw. An Index counts the messages, from 0.
//
// There are three kinds of messages. Until version 2 (trajectory_format mini-swe-agent-1), the command is in a fenced block of
// the assistant's text, and the next user message is the output of the shell. In later versions (mini-swe-agent-1.1), they are
// messages of OpenAI's chat API with tool calls, or objects of its Responses API, or still text; a member "extra" has the
// commands, return codes, costs and times.
//
// Traps: a user message may be an observation, a complaint of the program about the form of the answer (sent as a system message,
// so that no turn begins), or a message of an intervening user. The command that submits has no observation; the message of role
// "exit" replaces it. Info.model_stats contains sums of the messages, so it is only in the metadata of the run's end.
package minisweagent

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of mini-swe-agent's .traj.json files.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "mini-swe-agent",
		Title:  "mini-swe-agent trajectory (.traj.json)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

type trajectory struct {
	Info       info      `json:"info"`
	Messages   []message `json:"messages"`
	Format     string    `json:"trajectory_format"`
	InstanceID string    `json:"instance_id"`
}

type info struct {
	ExitStatus string         `json:"exit_status"`
	Stats      jsontext.Value `json:"model_stats"`
	Config     struct {
		Model struct {
			Name string `json:"model_name"`
		} `json:"model"`
	} `json:"config"`
}

// message is a chat message, or an object or an item of the Responses API, with mini-swe-agent's additions.
type message struct {
	ingest.ChatMessage

	Time  jsontext.Value `json:"timestamp"`
	Extra extra          `json:"extra"`

	Object string         `json:"object"`  // "response" for a whole answer
	Type   string         `json:"type"`    // of an item: function_call_output or message
	CallID string         `json:"call_id"` // of a function_call_output
	Output jsontext.Value `json:"output"`  // of a response: its items; of a function_call_output: its text
}

type extra struct {
	Time       jsontext.Value `json:"timestamp"`
	Actions    []action       `json:"actions"`
	Cost       float64        `json:"cost"`
	Response   *response      `json:"response"`
	ReturnCode *int           `json:"returncode"`
	Exception  string         `json:"exception_info"`
	Interrupt  string         `json:"interrupt_type"` // FormatError, UserInterruption, UserRejection, …
	Refused    string         `json:"model_response"` // an answer without a readable command
	ExitStatus string         `json:"exit_status"`
}

type action struct {
	Command jsontext.Value `json:"command"` // usually a string
}

// response is the answer of the model's API.
type response struct {
	Model   string            `json:"model"`
	Usage   *ingest.ChatUsage `json:"usage"`
	Choices []struct {
		Message ingest.ChatMessage `json:"message"`
	} `json:"choices"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	var t trajectory
	if err := in.UnmarshalDocument(&t); err != nil {
		return err
	}
	if t.Messages == nil {
		return in.Bad(0, "messages", "missing")
	}
	run := t.InstanceID
	if run == "" {
		run = in.Run
	}
	d := decoder{
		in:    in,
		trail: ingest.NewEventBuilder(run, emit),
		model: t.Info.Config.Model.Name,
		plain: t.Format == "" || t.Format == "mini-swe-agent-1",
	}
	for i := range t.Messages {
		if err := d.message(i, &t.Messages[i]); err != nil {
			return err
		}
	}
	return t.end(d.trail)
}

// end sends the end of the run. Every status except "Submitted" (a limit, an exception) is a failure. An empty status means that
// the run continues or was interrupted.
func (t *trajectory) end(trail *ingest.EventBuilder) error {
	status, last := t.Info.ExitStatus, max(0, len(t.Messages)-1)
	if status == "" && len(t.Messages) > 0 {
		status = t.Messages[last].Extra.ExitStatus
	}
	if status == "" {
		return nil
	}
	e := &unloop.Event{Type: unloop.RunCompleted, Status: status}
	if status != "Submitted" {
		e.Type, e.Error = unloop.RunFailed, ingest.Text(status)
	}
	if t.Info.Stats.Kind() == '{' {
		meta, err := json.Marshal(map[string]json.RawMessage{"model_stats": json.RawMessage(t.Info.Stats)})
		if err != nil {
			return err
		}
		e.Metadata = meta
	}
	at := ingest.Location{Index: last}
	if len(t.Messages) > 0 {
		at.Time = t.Messages[last].time()
	}
	return trail.Add(at, e)
}

func (m *message) time() (at time.Time) {
	for _, v := range []jsontext.Value{m.Extra.Time, m.Time} {
		if at = ingest.Time(v); !at.IsZero() {
			return at
		}
	}
	return at
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
