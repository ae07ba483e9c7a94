// Package openaiagents reads traces of the OpenAI Agents SDK (Python and JavaScript) as its exporter posts them: traces and spans, in
// requests {"data":[…]}, in a list, or one after another, as a custom trace processor writes them. An Index counts the spans, from 0.
//
// A trace has no times and no end. Its spans without a parent become children of the trace, which ends with the last of them. The run
// is the group of the trace, which is a conversation, else the trace.
//
// Traps: the spans of agents that hand over follow each other, so the end of the first is not the end of the run. Task and turn spans
// are exported as custom spans, and repeat the usage of their model calls. The exporter that posts to OpenAI moves all usage but input
// and output into "details", and shortens long texts. A span of a response has no model.
package openaiagents

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Format returns the format of exported traces.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "openai-agents",
		Title:  "OpenAI Agents SDK traces and spans",
		Sniff:  sniff,
		Decode: decode,
	}
}

func sniff(head []byte) bool {
	if data := ingest.Member(head, "data"); data != nil {
		head = data
	}
	members, _ := ingest.Members(head)
	return members["object"] == "trace" || members["object"] == "trace.span"
}

// item is a trace or a span.
type item struct {
	Object   string         `json:"object"`
	ID       string         `json:"id"`
	Workflow string         `json:"workflow_name"` // of a trace
	Group    string         `json:"group_id"`
	Trace    string         `json:"trace_id"` // of a span
	Parent   string         `json:"parent_id"`
	Start    jsontext.Value `json:"started_at"`
	End      jsontext.Value `json:"ended_at"`
	Data     data           `json:"span_data"`
	Error    *failure       `json:"error"`
}

// data is the data of a span of any type.
type data struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`  // of an agent or a function
	Input  jsontext.Value `json:"input"` // of a function: its arguments, usually as JSON in a string
	Output jsontext.Value `json:"output"`
	Model  string         `json:"model"` // of a generation
	Usage  *usage         `json:"usage"` // of a generation or a response
	From   string         `json:"from_agent"`
	To     string         `json:"to_agent"`
	Custom struct {
		Type string `json:"sdk_span_type"`
	} `json:"data"` // of a custom span
}

type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	details
	Details details `json:"details"`
}

type details struct {
	Total int64 `json:"total_tokens"`
	Input struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

type failure struct {
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	w := trace.NewWindow(in.Run, emit)
	err := in.Elements(func(_ int, value jsontext.Value) error {
		var v struct {
			item
			Data []item `json:"data"` // of a request
		}
		if err := in.Unmarshal(in.Line(), value, &v); err != nil {
			return err
		}
		if v.Object != "" {
			return v.item.add(w)
		}
		for i := range v.Data {
			if err := v.Data[i].add(w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.Send()
}

func (i *item) add(w *trace.Window) error {
	switch i.Object {
	case "trace":
		w.Root(i.ID, i.Workflow, i.Group)
	case "trace.span":
		if i.Data.Custom.Type == "task" {
			return nil // it stands for the trace, but does not fail with its last agent
		}
		w.Root(i.Trace, "", "")
		return w.Add(i.span())
	}
	return nil
}

func (i *item) span() trace.Span {
	s := trace.Span{
		TraceID: i.Trace, ID: i.ID, ParentID: i.Parent, Title: i.Data.Name,
		Start: ingest.Nanos(i.Start), End: ingest.Nanos(i.End), Facts: i.Data.facts(),
	}
	s.Open = s.End == 0
	if i.Error != nil {
		s.Failed, s.Reason, s.Open = true, i.Error.String(), false
	}
	return s
}

// String returns the message, and the error of the tool in it, which says more.
func (f *failure) String() string {
	if reason := ingest.UnquoteText(ingest.MembersOf(string(f.Data))["error"]); reason != "" {
		return f.Message + ": " + reason
	}
	return f.Message
}

func (d *data) facts() trace.Facts {
	switch d.Type {
	case "agent":
		return trace.Facts{Kind: trace.Agent, Agent: d.Name}
	case "function":
		return trace.Facts{
			Kind: trace.Tool, Tool: d.Name, Input: string(ingest.Arguments(d.Input)), Output: string(ingest.Output(d.Output)),
		}
	case "generation", "response":
		f := trace.Facts{Kind: trace.Model, Model: d.Model}
		if d.Usage != nil {
			f.Usage, f.Tokens = d.Usage.kinds()
		}
		return f
	case "handoff":
		if d.To != "" {
			return trace.Facts{Kind: trace.Tool, Agent: d.From, Tool: trace.HandoffPrefix + d.To}
		}
	}
	return trace.Facts{}
}

// kinds returns the tokens by kind and their total.
func (u *usage) kinds() (trace.Usage, int64) {
	d := u.details
	if d == (details{}) {
		d = u.Details
	}
	total := d.Total
	if total == 0 {
		total = u.Input + u.Output
	}
	return trace.Usage{
		Input: u.Input, Output: u.Output,
		CachedInput: d.Input.Cached, CacheWrite: d.Input.CacheWrite, Reasoning: d.Output.Reasoning,
	}, total
}
