package codex

import (
	"encoding/json"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// call is what is known of a call.
type call struct {
	tool string
	held *outcome // nil before there is one and after it was sent
	done bool     // the outcome was sent
}

// outcome is a call's outcome, as far as it is known.
type outcome struct {
	call   *call
	at     ingest.Location
	id     string
	output json.RawMessage
	told   *verdict // nil as long as nothing tells whether the call failed
	item   bool     // the result is the model's, not only the display's
}

// verdict says whether a call failed, and why.
type verdict struct {
	failed bool
	reason string
}

// hold keeps o until settle, together with what is known of its call already. What comes after the call's outcome was
// sent is dropped.
func (d *decoder) hold(o *outcome) {
	c := d.calls[o.id]
	switch {
	case c == nil && !o.item: // the display's own
		return
	case o.id == "": // whose it is nobody knows
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
	if c.held.told == nil || o.told != nil && !o.item { // the event knows best
		c.held.told = o.told
	}
	if o.item && !c.held.item {
		c.held.at, c.held.item = o.at, true
	}
	if o.item { // a tool may answer more than once; the last answer stands
		c.held.output = o.output
	}
}

// patience is how many outcomes wait at most for the model's result.
const patience = 64

// settle sends the outcomes that are held, but for those that only the display told: they wait for the model's result.
func (d *decoder) settle() error {
	if len(d.held) > patience {
		return d.settleAll()
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

// settleAll sends all outcomes that are held.
func (d *decoder) settleAll() error {
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
	told := verdict{}
	if o.told != nil {
		told = *o.told
	}
	return d.trail.Result(o.at, o.id, o.call.tool, o.output, told.failed, told.reason)
}

// open takes apart what a tool returned: what it put out, and whether it failed, if that is told. It is a text, a list
// of parts, or an object {content, success}.
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
		if output, told, ok := openObject(v); ok {
			return output, told
		}
	}
	return json.RawMessage(v), nil
}

// joined returns the text of a list that holds nothing but texts.
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

// openText takes what a command printed out of what Codex says about it. A text that is no such thing is the output.
func openText(text string) (json.RawMessage, *verdict) {
	if strings.HasPrefix(text, "{") {
		if v := jsontext.Value(text); v.IsValid(lenient) {
			if output, told, ok := openObject(v); ok {
				return output, told
			}
		}
	}
	if text == "aborted" || strings.HasPrefix(text, "aborted by user") {
		return ingest.Text(text), &verdict{failed: true, reason: "aborted"}
	}
	var told *verdict
	for rest := text; ; {
		line, after, more := strings.Cut(rest, "\n")
		if line == "Output:" && len(rest) < len(text) {
			return ingest.Text(after), told
		}
		about, v := heading(line)
		if !about || !more {
			return ingest.Text(text), nil
		}
		if v != nil {
			told = v
		}
		rest = after
	}
}

// heading reports whether the line is one of those that stand before a command's output, and what it tells.
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

// Outcome takes apart what a tool returned to the model: the output, whether the call failed, and why, as far as it is told.
func Outcome(v jsontext.Value) (output json.RawMessage, failed bool, reason string) {
	output, told := open(v)
	if told == nil {
		return output, false, ""
	}
	return output, told.failed, told.reason
}
