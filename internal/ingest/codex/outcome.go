package codex

import (
	"encoding/json"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// call is the known state of a call.
type call struct {
	tool string
	held *outcome // nil before there is one and after it was sent
	done bool     // the outcome was sent
}

// outcome is the known outcome of a call.
type outcome struct {
	call    *call
	at      ingest.Location
	id      string
	output  json.RawMessage
	verdict *verdict // nil if it is unknown whether the call failed
	item    bool     // the result is the one for the model, not only for the display
}

// verdict is whether a call failed, and why.
type verdict struct {
	failed bool
	reason string
}

// hold keeps o, merged with an earlier outcome of the same call, until flush. Outcomes of calls that were already sent are
// dropped.
func (d *decoder) hold(o *outcome) {
	c := d.calls[o.id]
	switch {
	case c == nil && !o.item: // a call of the display only
		return
	case o.id == "": // its call is unknown
		c = &call{}
	case c == nil:
		c = &call{}
		d.calls[o.id] = c
	case c.done:
		return
	}
	if c.held == nil {
		o.call, c.held = c, o
		d.held = append(d.held, o)
		return
	}
	if c.held.verdict == nil || o.verdict != nil && !o.item { // the event is authoritative
		c.held.verdict = o.verdict
	}
	if o.item && !c.held.item {
		c.held.at, c.held.item = o.at, true
	}
	if o.item { // a tool may answer several times; the last answer counts
		c.held.output = o.output
	}
}

// patience is the maximum number of outcomes that wait for the result for the model.
const patience = 64

// flush sends the held outcomes, except those without a result for the model, which wait for it.
func (d *decoder) flush() error {
	if len(d.held) > patience {
		return d.flushAll()
	}
	waiting := d.held[:0]
	for _, o := range d.held {
		if !o.item {
			waiting = append(waiting, o)
			continue
		}
		if err := d.send(o); err != nil {
			return err
		}
	}
	d.held = waiting
	return nil
}

// flushAll sends all held outcomes.
func (d *decoder) flushAll() error {
	for _, o := range d.held {
		if err := d.send(o); err != nil {
			return err
		}
	}
	d.held = d.held[:0]
	return nil
}

func (d *decoder) send(o *outcome) error {
	o.call.held, o.call.done = nil, true
	found := verdict{}
	if o.verdict != nil {
		found = *o.verdict
	}
	return d.trail.Result(o.at, o.id, o.call.tool, o.output, found.failed, found.reason)
}

// open returns the output of a tool's result, and whether the tool failed, if that is known. The result is a text, a list of
// parts, or an object {content, success}.
func open(v jsontext.Value) (json.RawMessage, *verdict) {
	switch v.Kind() {
	case 0:
		return json.RawMessage("null"), nil
	case '"':
		return openText(ingest.UnquoteText(v))
	case '[':
		if text, ok := joined(v); ok {
			return openText(text)
		}
	case '{':
		if output, found, ok := openObject(v); ok {
			return output, found
		}
	}
	return json.RawMessage(v), nil
}

// joined returns the text of a list of only texts.
func joined(list jsontext.Value) (string, bool) {
	var parts []struct {
		Text *string `json:"text"`
	}
	if jsonv2.Unmarshal(list, &parts, lenient) != nil || len(parts) == 0 {
		return "", false
	}
	var b strings.Builder
	for i, p := range parts {
		if p.Text == nil {
			return "", false
		}
		if i > 0 && !strings.HasSuffix(*parts[i-1].Text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(*p.Text)
	}
	return b.String(), true
}

func openObject(v jsontext.Value) (json.RawMessage, *verdict, bool) {
	var o struct {
		Content  jsontext.Value `json:"content"`
		Success  *bool          `json:"success"`
		Output   *string        `json:"output"`
		Metadata struct {
			ExitCode *int64 `json:"exit_code"`
		} `json:"metadata"`
	}
	if jsonv2.Unmarshal(v, &o, lenient) != nil {
		return nil, nil, false
	}
	switch {
	case o.Output != nil && o.Metadata.ExitCode != nil:
		return ingest.Text(*o.Output), exited(*o.Metadata.ExitCode), true
	case o.Success != nil && o.Content.Kind() != 0:
		return ingest.Output(o.Content), &verdict{failed: !*o.Success}, true
	}
	return nil, nil, false
}

// openText removes the lines that Codex adds to the output of a command. Other text is the output.
func openText(text string) (json.RawMessage, *verdict) {
	if strings.HasPrefix(text, "{") {
		if v := jsontext.Value(text); v.IsValid(lenient) {
			if output, found, ok := openObject(v); ok {
				return output, found
			}
		}
	}
	if text == "aborted" || strings.HasPrefix(text, "aborted by user") {
		return ingest.Text(text), &verdict{failed: true, reason: "aborted"}
	}
	var found *verdict
	for rest := text; ; {
		line, after, more := strings.Cut(rest, "\n")
		if line == "Output:" && len(rest) < len(text) {
			return ingest.Text(after), found
		}
		about, v := heading(line)
		if !about || !more {
			return ingest.Text(text), nil
		}
		if v != nil {
			found = v
		}
		rest = after
	}
}

// heading reports whether the line is one of those that Codex adds before the output of a command, and the verdict in it.
func heading(line string) (bool, *verdict) {
	for _, prefix := range []string{"Exit code: ", "Process exited with code "} {
		if code, ok := strings.CutPrefix(line, prefix); ok {
			n, err := strconv.ParseInt(code, 10, 64)
			return err == nil, exited(n)
		}
	}
	if strings.HasPrefix(line, "Script failed") {
		return true, &verdict{failed: true, reason: "script failed"}
	}
	for _, prefix := range []string{
		"Wall time: ", "Wall time ", "Chunk ID: ", "Process running with session ID ", "Original token count: ",
		"Total output lines: ", "Script completed", "Script terminated", "Script running with ",
	} {
		if strings.HasPrefix(line, prefix) {
			return true, nil
		}
	}
	return false, nil
}

func exited(code int64) *verdict {
	if code == 0 {
		return &verdict{}
	}
	return &verdict{failed: true, reason: "exit code " + strconv.FormatInt(code, 10)}
}

// Outcome returns the output of a tool's result, whether the call failed, and why, as far as that is known.
func Outcome(v jsontext.Value) (output json.RawMessage, failed bool, reason string) {
	output, found := open(v)
	if found == nil {
		return output, false, ""
	}
	return output, found.failed, found.reason
}
