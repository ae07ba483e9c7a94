package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// Content is the part of inputs, outputs, errors, messages and metadata that is stored. Events are folded with their whole
// content in any case.
type Content uint8

// The levels of content. Excerpts stores the first 256 bytes of a longer value. NoContent stores no values except empty ones.
const (
	FullContent Content = iota
	Excerpts
	NoContent
)

const (
	excerptBytes = 256     // stored bytes of a value
	recallBytes  = 1 << 20 // bytes of the whole events of a run that are kept for a refold
)

// notStored is the beginning of the text that replaces a value. The rest of the text is the fingerprint of the value. Equal
// values therefore stay equal in a refold, and different values stay different.
const notStored = "Content not stored: "

// encode returns the stored body of an event.
func (c Content) encode(e *unloop.Event) ([]byte, error) {
	if c == FullContent {
		return store.Encode(e)
	}
	if e.Type == unloop.SecondOpinion {
		cut := *e
		cut.Output = bareOpinion(e)
		return store.Encode(&cut) // a replay needs only these bytes
	}
	cut := c.cut(e)
	if len(e.Metadata) > c.room() {
		cut.Metadata = bareReport(e)
	}
	body, err := store.Encode(&cut)
	if err != nil || cut.Text == e.Text && len(cut.Metadata) == len(e.Metadata) &&
		len(cut.Input) == len(e.Input) && len(cut.Output) == len(e.Output) && len(cut.Error) == len(e.Error) {
		return body, err
	}
	return store.MarkContent(body, c.String()), nil
}

// cut returns an event with the stored form of its content.
func (c Content) cut(e *unloop.Event) unloop.Event {
	cut := *e
	cut.Input, cut.Output, cut.Error, cut.Text = c.raw(e.Input), c.raw(e.Output), c.raw(e.Error), c.text(e.Text)
	return cut
}

// Excerpt returns an event with excerpts of its content, for a place that has no room for all of it. Different contents have different
// excerpts.
func Excerpt(e *unloop.Event) *unloop.Event {
	cut := Excerpts.cut(e)
	return &cut
}

// span returns the stored form of a span.
func (c Content) span(s *trace.Span) *trace.Span {
	if c == FullContent {
		return s
	}
	cut := *s
	cut.Input, cut.Output, cut.Reason = string(c.raw([]byte(s.Input))), string(c.raw([]byte(s.Output))), c.text(s.Reason)
	cut.Messages = trace.CutMessages(s.Messages, c.text)
	return &cut
}

// String returns the name of the setting.
func (c Content) String() string { return [...]string{"full", "excerpts", "none"}[c] }

// room returns the number of bytes of a value that are stored.
func (c Content) room() int {
	if c == NoContent {
		return 0
	}
	return excerptBytes
}

// raw returns the stored form of a JSON value.
func (c Content) raw(value json.RawMessage) json.RawMessage {
	if len(value) <= c.room() || len(value) < len(notStored) && fingerprint.Empty(value) {
		return value
	}
	var text string
	if jsonv2.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	short := c.text(text)
	if short == text {
		return value
	}
	quoted, err := json.Marshal(short)
	if err != nil {
		return nil // impossible: the value is a string
	}
	return quoted
}

// text returns the stored form of a text.
func (c Content) text(text string) string {
	if len(text) <= c.room() || strings.Contains(text, notStored) && len(text) <= 2*excerptBytes {
		return text // a span of the store, whose texts are already cut
	}
	begin := strings.ToValidUTF8(text[:c.room()], "")
	if begin != "" {
		begin += "… "
	}
	return fmt.Sprintf("%s%s%d bytes, %s", begin, notStored, len(text), letters(fingerprint.String(text)))
}

// letters writes a fingerprint in letters that are not hexadecimal digits, because hexadecimal digits count as volatile.
func letters(h fingerprint.Hash) string {
	b := fmt.Appendf(nil, "%016x", uint64(h))
	for k := range b {
		if b[k] <= '9' {
			b[k] += 'g' - '0'
		} else {
			b[k] += 'q' - 'a'
		}
	}
	return string(b)
}

// wholeEvent is an event with its whole content. Only a part of the content is stored.
type wholeEvent struct {
	event *unloop.Event
	size  int
}

// remember keeps the whole event for a refold. It drops the oldest events beyond recallBytes.
func (r *run) remember(e *unloop.Event) {
	size := len(e.Input) + len(e.Output) + len(e.Error) + len(e.Text) + len(e.Metadata) + eventOverhead
	r.whole = append(r.whole, wholeEvent{e, size})
	for r.wholeBytes += size; r.wholeBytes > recallBytes; r.whole = slices.Delete(r.whole, 0, 1) {
		r.wholeBytes -= r.whole[0].size
	}
}

// wholeEvents returns the whole events that are kept, by their ids. If two have the same id, it returns the later one.
func (r *run) wholeEvents() map[string]*unloop.Event {
	if r == nil || len(r.whole) == 0 {
		return nil
	}
	known := make(map[string]*unloop.Event, len(r.whole))
	for _, w := range r.whole {
		known[w.event.ID] = w.event
	}
	return known
}

// bareMessage returns a message about a finding that quotes no inputs or outputs.
func bareMessage(rule, subject string, count int) string {
	message := strings.TrimSpace(rule + " " + subject)
	if count > 0 {
		message += fmt.Sprintf(", %d times", count)
	}
	return message + " (content not stored)"
}

// bareFinding returns a finding without quotations.
func bareFinding(f *unloop.Finding) *unloop.Finding {
	bare := *f
	bare.Repeated, bare.Changed, bare.FirstError = nil, "", ""
	return &bare
}
