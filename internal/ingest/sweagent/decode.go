// Package sweagent reads the trajectories of SWE-agent (.traj): one JSON document per task, with a list of steps. A step is one
// answer of the model with its single command, and the output of the shell. An Index counts the steps, from 0.
//
// Traps: "history" contains the same steps again as chat messages, "query" in each step the whole conversation so far, and
// "attempts" (runs with retries) every attempt beside the chosen one; none of them is read. A command that the format check or
// the blocklist rejected is a step, too, with an empty observation. SWE-agent's own commands (open, edit, submit …) go through
// the shell like all others, and the format has no exit status, so every result is a completed call of bash. Tokens and cost
// exist only for the whole run. They are in the metadata of the run's end, because no event alone caused them.
package sweagent

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of SWE-agent's .traj files.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "swe-agent",
		Title:  "SWE-agent trajectory (.traj)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

type trajectory struct {
	Steps      []step `json:"trajectory"`
	Info       info   `json:"info"`
	InstanceID string `json:"instance_id"`
}

type step struct {
	Action      string  `json:"action"`
	Observation *string `json:"observation"`
	Thought     string  `json:"thought"`
	Response    string  `json:"response"`
	Seconds     float64 `json:"execution_time"`
}

type info struct {
	ExitStatus string         `json:"exit_status"`
	InstanceID string         `json:"instance_id"`
	Stats      jsontext.Value `json:"model_stats"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	var t trajectory
	if err := in.UnmarshalDocument(&t); err != nil {
		return err
	}
	if t.Steps == nil {
		return in.Bad(0, "trajectory", "missing")
	}
	trail := ingest.NewEventBuilder(t.run(in.Run), emit)
	notice := t.notice()
	for i := range t.Steps {
		if notice != "" && i == len(t.Steps)-1 {
			break
		}
		if err := t.Steps[i].send(trail, i); err != nil {
			return err
		}
	}
	return t.end(trail, notice)
}

// run returns the id of the task. "environment" has the same value for all tasks.
func (t *trajectory) run(name string) string {
	for _, id := range []string{t.InstanceID, t.Info.InstanceID} {
		if id != "" {
			return id
		}
	}
	return name
}

// notice returns SWE-agent's own text in the last step if it gives up, else "". That text is not from the model.
func (t *trajectory) notice() string {
	if len(t.Steps) == 0 || !strings.Contains(t.Info.ExitStatus, "exit_") {
		return ""
	}
	last := &t.Steps[len(t.Steps)-1]
	if !blank(last.Action) || last.Thought != last.Response || !strings.HasPrefix(last.Thought, "Exit") {
		return ""
	}
	return last.Thought
}

func (s *step) send(trail *ingest.EventBuilder, index int) error {
	at := ingest.Location{Index: index}
	if text := s.text(); !blank(text) {
		if err := trail.Message(at, unloop.RoleAssistant, text); err != nil {
			return err
		}
	}
	if blank(s.Action) {
		return nil
	}
	call := "step" + strconv.Itoa(index)
	if err := trail.Call(at, call, "bash", arguments(strings.TrimSpace(s.Action))); err != nil {
		return err
	}
	if s.Observation == nil {
		return nil
	}
	return trail.Add(at, &unloop.Event{
		Type:    unloop.ToolCallCompleted,
		CallID:  call,
		Tool:    "bash",
		Output:  ingest.Text(*s.Observation),
		Latency: s.latency(),
	})
}

func arguments(command string) json.RawMessage {
	return append(append(json.RawMessage(`{"command":`), ingest.Text(command)...), '}')
}

// text returns the text of the model besides the command. An answer that could not be parsed is all text.
func (s *step) text() string {
	if blank(s.Thought) && blank(s.Action) {
		return s.Response
	}
	return s.Thought
}

func (s *step) latency() *float64 {
	if s.Seconds <= 0 {
		return nil
	}
	ms := s.Seconds * 1000
	return &ms
}

// end sends the end of the run: "submitted", "submitted (exit_cost)" and similar statuses are a success, all others a failure.
func (t *trajectory) end(trail *ingest.EventBuilder, notice string) error {
	status := t.Info.ExitStatus
	if status == "" {
		return nil
	}
	e := &unloop.Event{Type: unloop.RunCompleted, Status: status}
	if !strings.HasPrefix(status, "submitted") {
		e.Type, e.Error = unloop.RunFailed, ingest.Text(status)
		if notice != "" {
			e.Error = ingest.Text(notice)
		}
	}
	if t.Info.Stats.Kind() == '{' {
		meta, err := json.Marshal(map[string]json.RawMessage{"model_stats": json.RawMessage(t.Info.Stats)})
		if err != nil {
			return err
		}
		e.Metadata = meta
	}
	return trail.Add(ingest.Location{Index: max(0, len(t.Steps)-1)}, e)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
