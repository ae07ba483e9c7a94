package codex

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// event reads an event of the display for facts that the items do not have.
func (d *decoder) event(at ingest.Location, p part) error {
	kind, err := p.kind()
	if err != nil {
		return err
	}
	switch kind {
	case "token_count":
		return d.tokenCount(at, p)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		var e end
		if err := p.read(&e); err != nil {
			return err
		}
		d.ended(at, e.CallID, &e)
	case "item_completed":
		var completed struct {
			Item end `json:"item"`
		}
		if err := p.read(&completed); err != nil {
			return err
		}
		d.ended(at, completed.Item.ID, &completed.Item)
	case "task_complete", "turn_complete", "turn_aborted":
		return d.flushAll()
	}
	return nil
}

// end is an event, or an item of the display, with the outcome of a call.
type end struct {
	ID       string         `json:"id"`
	CallID   string         `json:"call_id"`
	Status   jsontext.Value `json:"status"`
	ExitCode *int64         `json:"exit_code"`
	Success  *bool          `json:"success"`
	Printed  *string        `json:"aggregated_output"`
	Stdout   *string        `json:"stdout"`
	Stderr   string         `json:"stderr"`
	Result   jsontext.Value `json:"result"` // of MCP: {"Ok": …} or {"Err": "…"}
}

func (d *decoder) ended(at ingest.Location, id string, e *end) {
	output, v := e.outcome()
	if output != nil || v != nil {
		d.hold(&outcome{at: at, id: id, output: output, verdict: v})
	}
}

// printed returns the output in the display, or nil without one.
func (e *end) printed() json.RawMessage {
	switch {
	case e.Printed != nil && *e.Printed != "":
		return ingest.Text(*e.Printed)
	case e.Stdout != nil:
		return ingest.Text(*e.Stdout + e.Stderr)
	case e.Printed != nil:
		return ingest.Text("")
	}
	return nil
}

// outcome returns the output, and whether the call failed, as far as they are known.
func (e *end) outcome() (json.RawMessage, *verdict) {
	output := e.printed()
	switch {
	case e.ExitCode != nil:
		return output, exited(*e.ExitCode)
	case e.Success != nil:
		return output, &verdict{failed: !*e.Success}
	}
	if output, v, ok := e.tool(); ok {
		return output, v
	}
	switch ingest.UnquoteText(e.Status) {
	case "completed", "success":
		return output, &verdict{}
	case "failed", "declined":
		return output, &verdict{failed: true}
	}
	return output, nil
}

// tool returns the outcome of an MCP tool.
func (e *end) tool() (json.RawMessage, *verdict, bool) {
	var r struct {
		Ok *struct {
			Content jsontext.Value `json:"content"`
			IsError bool           `json:"isError"`
			Failed  bool           `json:"is_error"` // earlier versions
		} `json:"Ok"`
		Err *string `json:"Err"`
	}
	if e.Result.Kind() != '{' || jsonv2.Unmarshal(e.Result, &r, lenient) != nil {
		return nil, nil, false
	}
	switch {
	case r.Err != nil:
		return ingest.Text(*r.Err), &verdict{failed: true, reason: *r.Err}, true
	case r.Ok != nil:
		return ingest.Output(r.Ok.Content), &verdict{failed: r.Ok.IsError || r.Ok.Failed}, true
	}
	return nil, nil, false
}

// usage is the tokens of model calls. Input includes Cached, and Output includes Reasoning.
type usage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
	Total     int64 `json:"total_tokens"`
}

// since returns the difference to an earlier total.
func (u usage) since(before usage) usage {
	return usage{
		u.Input - before.Input, u.Cached - before.Cached, u.Output - before.Output, u.Reasoning - before.Reasoning, u.Total - before.Total,
	}
}

func (u usage) kinds() *unloop.Usage {
	return ingest.TokenKinds(unloop.Usage{Input: u.Input, Output: u.Output, CachedInput: u.Cached, Reasoning: u.Reasoning})
}

func (u usage) sum() int64 {
	if u.Total != 0 {
		return u.Total
	}
	return u.Input + u.Output
}

// tokenCount sends the model call that increased the session's total. If the total decreased, counting began again. An equal
// count is sent again if only the rate limits have changed.
func (d *decoder) tokenCount(at ingest.Location, p part) error {
	var count struct {
		Info *struct {
			Total *usage `json:"total_token_usage"`
			Last  usage  `json:"last_token_usage"`
		} `json:"info"`
	}
	if err := p.read(&count); err != nil || count.Info == nil {
		return err
	}
	now := count.Info.Last
	call, grown := now, now.sum()
	if count.Info.Total != nil {
		now = *count.Info.Total
		call, grown = now, now.sum()
		if before := d.usage.sum(); grown >= before {
			call, grown = now.since(d.usage), grown-before
		}
	}
	if now == d.usage || grown <= 0 {
		return nil
	}
	d.usage = now
	if err := d.flush(); err != nil {
		return err
	}
	return d.trail.Model(at, ingest.Usage{Model: d.model, Tokens: grown, Kinds: call.kinds()})
}
