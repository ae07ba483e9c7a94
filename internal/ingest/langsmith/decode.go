// Package langsmith reads runs of LangSmith, which are the spans of a trace: as the API and the SDKs give them (a list, JSON Lines, or
// {"runs":[…]}), as trees with child_runs, and as its command-line program writes them with --full, where "id" is "run_id". An Index
// counts the runs, from 0, parents before their child_runs.
//
// The run of unloop is the thread, which metadata name session_id, thread_id or conversation_id, else the trace. The member session_id
// beside the metadata is the project.
//
// Traps: runs of chains repeat the tokens and the cost of the model calls in them. Costs may be text. LangChain puts the arguments of a
// tool into {"input":…}, often as Python's text of a dict, and its result into a tool message, which may tell a failure that the run
// does not. A run that is "pending" has not ended.
package langsmith

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Format returns the format of runs.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "langsmith",
		Title:  "LangSmith runs",
		Sniff:  sniff,
		Decode: decode,
	}
}

// sniff looks for a run with a known type, an id, and a member that only runs have.
func sniff(head []byte) bool {
	if runs := ingest.Member(head, "runs"); runs != nil {
		head = runs
	}
	members, _ := ingest.Members(head)
	known := []string{"llm", "chain", "tool", "retriever", "embedding", "prompt", "parser"}
	return slices.Contains(known, members["run_type"]) && hasAny(members, "id", "run_id") &&
		hasAny(members, "start_time", "trace_id", "parent_run_id", "dotted_order")
}

func hasAny(members map[string]string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := members[name]; return ok })
}

// run is a run of any type.
type run struct {
	ID        string         `json:"id"`
	RunID     string         `json:"run_id"` // the id in the output of the command-line program
	Trace     string         `json:"trace_id"`
	Parent    string         `json:"parent_run_id"`
	Ancestors []string       `json:"parent_run_ids"` // the root first
	Name      string         `json:"name"`
	Type      string         `json:"run_type"`
	Start     jsontext.Value `json:"start_time"`
	End       jsontext.Value `json:"end_time"`
	Status    string         `json:"status"` // pending, success or error
	Error     jsontext.Value `json:"error"`
	Inputs    jsontext.Value `json:"inputs"`
	Outputs   jsontext.Value `json:"outputs"`
	Extra     struct {
		Metadata   metadata `json:"metadata"`
		Invocation struct {
			Model     string `json:"model"`
			ModelName string `json:"model_name"`
		} `json:"invocation_params"`
	} `json:"extra"`
	Metadata metadata `json:"custom_metadata"` // in the output of the command-line program
	counts
	Usage    counts `json:"token_usage"` // in the output of the command-line program
	Costs    counts `json:"costs"`
	Children []*run `json:"child_runs"`
}

type metadata struct {
	Session      string `json:"session_id"`
	Thread       string `json:"thread_id"`
	Conversation string `json:"conversation_id"`
	Node         string `json:"langgraph_node"`
	Agent        string `json:"lc_agent_name"`
	Model        string `json:"ls_model_name"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	w := trace.NewWindow(in.Run, emit)
	err := in.Elements(func(_ int, value jsontext.Value) error {
		var v struct {
			run
			Runs []*run `json:"runs"`
		}
		if err := in.Unmarshal(in.Line(), value, &v); err != nil {
			return err
		}
		if v.Runs == nil {
			v.Runs = []*run{&v.run}
		}
		return add(w, v.Runs, "", "")
	})
	if err != nil {
		return err
	}
	return w.Send()
}

// add adds runs and their children. root and parent are the ids of the runs above, which the children of a tree may not have.
func add(w *trace.Window, runs []*run, root, parent string) error {
	for _, r := range runs {
		if r == nil || r.Type == "" {
			continue
		}
		s := r.span(root, parent)
		if err := w.Add(s); err != nil {
			return err
		}
		if err := add(w, r.Children, s.TraceID, s.ID); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) span(root, parent string) trace.Span {
	s := trace.Span{
		ID: cmp.Or(r.ID, r.RunID), ParentID: cmp.Or(r.Parent, parent), Title: r.Name,
		Start: ingest.Nanos(r.Start), End: ingest.Nanos(r.End), Facts: r.facts(),
	}
	if n := len(r.Ancestors); s.ParentID == "" && n > 0 {
		s.ParentID = r.Ancestors[n-1]
	}
	m := r.metadata()
	s.TraceID = cmp.Or(r.Trace, root, s.ID)
	s.Run = cmp.Or(m.Session, m.Thread, m.Conversation)
	s.Graph = m.Node
	s.Agent = m.Agent
	s.Failed = s.Refused || r.Status == "error" || r.Error.Kind() == '"' || r.Error.Kind() == '{'
	if s.Failed {
		s.Reason = cmp.Or(ingest.UnquoteText(r.Error), object(r.Error))
	}
	if s.Refused && s.Reason == "" {
		s.Reason, s.Output = ingest.Content(jsontext.Value(s.Output)), ""
	}
	s.Refused = false
	s.Open = s.End == 0 && !s.Failed
	return s
}

func (r *run) metadata() *metadata {
	if r.Metadata != (metadata{}) {
		return &r.Metadata
	}
	return &r.Extra.Metadata
}

func (r *run) facts() trace.Facts {
	switch r.Type {
	case "tool":
		f := trace.Facts{Kind: trace.Tool, Tool: r.Name, Input: arguments(r.Inputs)}
		if r.Outputs.Kind() != 'n' {
			f.Output, f.CallID, f.Refused = ingest.UnwrapResult(string(r.Outputs))
		}
		return f
	case "llm":
		f := trace.Facts{Kind: trace.Model, Model: cmp.Or(r.metadata().Model, r.Extra.Invocation.ModelName, r.Extra.Invocation.Model)}
		f.Usage, f.Tokens, f.Cost = r.spent()
		return f
	case "chain":
		return trace.Facts{Kind: trace.Workflow}
	}
	return trace.Facts{}
}

// arguments returns the arguments of a tool. LangChain puts them into a member "input".
func arguments(inputs jsontext.Value) string {
	if inputs.Kind() == 'n' {
		return ""
	}
	raw := string(inputs)
	if m := ingest.MembersOf(raw); len(m) == 1 && m["input"] != nil {
		return string(ingest.Arguments(m["input"]))
	}
	return ingest.UnwrapArguments(raw)
}

func object(v jsontext.Value) string {
	if v.Kind() == '{' {
		return strings.TrimSpace(string(v))
	}
	return ""
}
