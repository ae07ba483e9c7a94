// Package atif reads trajectories in the Agent Trajectory Interchange Format (ATIF-v1.x, Harbor's RFC 0001), which Harbor writes
// for the agents that it runs and which several agents write themselves: one JSON document with a list of steps. A step is a
// message of the user or the system, or one whole turn of the agent: its answer, its tool calls and their results, which
// therefore share an Index. An Index counts the steps of a trajectory, from 0.
//
// Traps: steps with is_copied_context were copied from the trajectory that this one continues and are skipped. final_metrics are
// sums of the steps' metrics and are not read. Some agents, Terminus among them, name no call in a result (see pair). The format
// has no member for a failed call, but its writers use "extra" (see failed). Trajectories of sub-agents that are embedded in the
// document (from v1.7) are separate runs.
package atif

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of ATIF trajectories.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "atif",
		Title:  "ATIF trajectory (Harbor)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
	}
}

const version = "ATIF-v1."

func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	return !list && strings.HasPrefix(members["schema_version"], version)
}

type trajectory struct {
	Version   string       `json:"schema_version"`
	Session   string       `json:"session_id"`
	ID        string       `json:"trajectory_id"`
	Agent     agent        `json:"agent"`
	Steps     []step       `json:"steps"`
	Subagents []trajectory `json:"subagent_trajectories"`
}

type agent struct {
	Name  string `json:"name"`
	Model string `json:"model_name"`
}

type step struct {
	Time        jsontext.Value `json:"timestamp"`
	Source      string         `json:"source"`
	Message     jsontext.Value `json:"message"`
	Model       string         `json:"model_name"`
	ModelCalls  *int           `json:"llm_call_count"`
	Calls       []call         `json:"tool_calls"`
	Observation struct {
		Results []result `json:"results"`
	} `json:"observation"`
	Metrics *metrics       `json:"metrics"`
	Copied  bool           `json:"is_copied_context"`
	Extra   jsontext.Value `json:"extra"`
}

type call struct {
	ID        string         `json:"tool_call_id"`
	Function  string         `json:"function_name"`
	Arguments jsontext.Value `json:"arguments"`
}

type result struct {
	CallID  string         `json:"source_call_id"`
	Content jsontext.Value `json:"content"`
	Extra   jsontext.Value `json:"extra"`
}

// metrics is the usage of a step. Prompt tokens include cached ones.
type metrics struct {
	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Cached     int64   `json:"cached_tokens"`
	Cost       float64 `json:"cost_usd"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	var root trajectory
	if err := in.UnmarshalDocument(&root); err != nil {
		return err
	}
	if !strings.HasPrefix(root.Version, version) {
		return in.Bad(0, "schema_version", "not "+version+"x")
	}
	if root.Steps == nil {
		return in.Bad(0, "steps", "missing")
	}
	root.Session = root.run(in.Run)
	d := decoder{in: in, emit: emit, todo: []*trajectory{&root}}
	for len(d.todo) > 0 {
		t := d.todo[0]
		d.todo = d.todo[1:]
		if err := d.trajectory(t); err != nil {
			return err
		}
	}
	return nil
}

// run returns the id of the root's run: its session, else the name of the document.
func (t *trajectory) run(name string) string {
	for _, id := range []string{t.Session, t.ID} {
		if id != "" {
			return id
		}
	}
	return name
}

type decoder struct {
	in    *ingest.Input
	emit  ingest.Emit
	todo  []*trajectory
	trail *ingest.EventBuilder
}

// trajectory sends one trajectory and queues its sub-agents, whose runs are named after it.
func (d *decoder) trajectory(t *trajectory) error {
	for i := range t.Subagents {
		sub := &t.Subagents[i]
		name := sub.ID
		if name == "" {
			name = strconv.Itoa(i)
		}
		sub.Session = t.Session + "/" + name
		d.todo = append(d.todo, sub)
	}
	d.trail = ingest.NewEventBuilder(t.Session, d.emit)
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Copied {
			continue
		}
		at := ingest.Location{Index: i, Time: ingest.Time(s.Time)}
		var err error
		switch s.Source {
		case "system":
			err = d.message(at, unloop.RoleSystem, s)
		case "user":
			err = d.message(at, unloop.RoleUser, s)
		case "agent":
			at.Agent = t.Agent.Name
			err = d.turn(at, t.Agent.Model, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) message(at ingest.Location, role string, s *step) error {
	text := ingest.Content(s.Message)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return d.trail.Message(at, role, text)
}

// turn sends a step of the agent: the model call, its text, the requested calls, and their results.
func (d *decoder) turn(at ingest.Location, model string, s *step) error {
	if usage, ok := s.usage(model); ok {
		if err := d.trail.Model(at, usage); err != nil {
			return err
		}
	}
	if err := d.message(at, unloop.RoleAssistant, s); err != nil {
		return err
	}
	for _, c := range s.Calls {
		if err := d.trail.Call(at, c.ID, c.Function, ingest.Arguments(c.Arguments)); err != nil {
			return err
		}
	}
	for _, a := range pair(s) {
		failed := d.failed(a.result.Extra) || len(s.Calls) == 1 && d.failed(s.Extra)
		err := d.trail.Result(at, a.callID, a.tool, ingest.Output(a.result.Content), failed, "")
		if err != nil {
			return err
		}
	}
	return nil
}

// usage returns the usage of the step's model call, if it made one. A program decided a step with a call count of 0.
func (s *step) usage(model string) (ingest.Usage, bool) {
	if s.ModelCalls != nil && *s.ModelCalls == 0 || s.Metrics == nil && s.Model == "" {
		return ingest.Usage{}, false
	}
	u := ingest.Usage{Model: s.Model}
	if u.Model == "" {
		u.Model = model
	}
	if s.Metrics != nil {
		u.Tokens, u.Cost = s.Metrics.Prompt+s.Metrics.Completion, s.Metrics.Cost
		u.Kinds = ingest.TokenKinds(unloop.Usage{Input: s.Metrics.Prompt, Output: s.Metrics.Completion, CachedInput: s.Metrics.Cached})
	}
	return u, true
}

// failed reports whether the member extra of a result, or of a step with one call, marks a failure in one of the common ways. It
// ignores a member that it cannot read.
func (d *decoder) failed(extra jsontext.Value) bool {
	var outcome struct {
		IsError  bool            `json:"is_error"`
		Result   bool            `json:"tool_result_is_error"`
		ExitCode json.RawMessage `json:"exit_code"`
	}
	if extra.Kind() != '{' || d.in.Unmarshal(0, extra, &outcome) != nil {
		return false
	}
	code, err := strconv.Atoi(string(outcome.ExitCode))
	return outcome.IsError || outcome.Result || err == nil && code != 0
}
