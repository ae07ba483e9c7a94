package mcpd

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/unloop-ai/unloop/internal/api"
)

// summary is a run as the tools return it: with the run_id that they take, and without the members for the dashboard.
type summary struct {
	RunID string `json:"run_id" doc:"The run's id."`
	api.RunBasics
	api.RunCounts
	api.RunVerdict
}

func summaryOf(r *api.RunSummary) summary {
	return summary{r.ID, r.RunBasics, r.RunCounts, r.RunVerdict}
}

// titled is a warning with the name of its rule in words.
type titled struct {
	api.Warning
	Title string `json:"title" doc:"The rule's name in words."`
}

func titledOf(w *api.Warning) titled {
	return titled{*w, capitalized(strings.ReplaceAll(w.Type, "_", " "))}
}

// capitalized returns an ASCII text with a capital at its beginning.
func capitalized(text string) string {
	first := min(1, len(text))
	return strings.ToUpper(text[:first]) + text[first:]
}

// shortened is an event whose long values are cut.
type shortened struct {
	api.Event
	Truncated []string `json:"truncated" doc:"Which of input, output, error, metadata and text were cut to 2000 bytes."`
}

// maxText is the maximum size of an input, an output, an error or a text in bytes. The description of the tool and its schema
// contain it, too.
const maxText = 2000

// shorten returns an event that shares no memory with a long value of e.
func shorten(e *api.Event) shortened {
	s := shortened{Event: *e, Truncated: []string{}}
	s.Input, s.Output, s.Error = s.value("input", e.Input), s.value("output", e.Output), s.value("error", e.Error)
	s.Metadata = s.value("metadata", e.Metadata)
	if e.Text != nil {
		s.Text = api.OrNull(strings.Clone(s.cut("text", *e.Text)))
	}
	return s
}

// value returns a value in which names occur once, or the beginning of its text if it is too long.
func (e *shortened) value(field string, raw json.RawMessage) json.RawMessage {
	value := readable(raw)
	if text, ok := value.(string); ok {
		value = e.cut(field, text)
	} else if len(raw) > maxText {
		value = e.cut(field, string(raw[:maxText+1]))
	}
	short, err := json.Marshal(value)
	if err != nil {
		return nil // impossible: the value was decoded
	}
	return short
}

// cut cuts a text between characters and records that it did.
func (e *shortened) cut(field, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	e.Truncated = append(e.Truncated, field)
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// readable decodes JSON, which may contain duplicate names; the last one counts. Numbers keep their digits. Invalid JSON gives
// nil.
func readable(raw json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil
	}
	return value
}
