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

// Content says what is stored of inputs, outputs, errors, messages and metadata. Events are folded whole, whatever is stored.
type Content uint8

// The contents. Excerpts stores the first 256 bytes of what is longer. NoContent stores none, but for what says nothing.
const (
	FullContent Content = iota
	Excerpts
	NoContent
)

const (
	excerptBytes = 256     // that are stored of a value
	recallBytes  = 1 << 20 // of the whole events of a run that are remembered, for when the run is folded again
)

// notStored is how what is stored in the place of a value begins. What follows is made of the value's fingerprint, so that equal
// values stay equal and different ones different where a run is folded again.
const notStored = "Content not stored: "

// encode returns the body of an event as it is stored.
func (c Content) encode(e *unloop.Event) ([]byte, error) {
	if c == FullContent {
		return store.Encode(e)
	}
	cut := *e
	if e.Type == unloop.SecondOpinion {
		cut.Output = bareOpinion(e)
		return store.Encode(&cut) // a replay needs no more of it
	}
	cut.Input, cut.Output, cut.Error = c.raw(e.Input), c.raw(e.Output), c.raw(e.Error)
	cut.Text = c.text(e.Text)
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

// span returns a span as it is stored.
func (c Content) span(s *trace.Span) *trace.Span {
	if c == FullContent {
		return s
	}
	cut := *s
	cut.Input, cut.Output, cut.Reason = string(c.raw([]byte(s.Input))), string(c.raw([]byte(s.Output))), c.text(s.Reason)
	return &cut
}

// String returns the name of the setting.
func (c Content) String() string { return [...]string{"full", "excerpts", "none"}[c] }

// room is how many bytes of a value are stored.
func (c Content) room() int {
	if c == NoContent {
		return 0
	}
	return excerptBytes
}

// raw returns what is stored of a JSON value, or of a span's text.
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
		return nil // cannot be: it is a text
	}
	return quoted
}

// text returns what is stored of a text.
func (c Content) text(text string) string {
	if len(text) <= c.room() || strings.Contains(text, notStored) && len(text) <= 2*excerptBytes {
		return text // it was cut before, as a span of the store
	}
	begin := strings.ToValidUTF8(text[:c.room()], "")
	if begin != "" {
		begin += "… "
	}
	return fmt.Sprintf("%s%s%d bytes, %s", begin, notStored, len(text), letters(fingerprint.String(text)))
}

// letters writes a fingerprint in letters that are no hexadecimal digits, since those count as volatile.
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

// recalled is a whole event of which a part is stored.
type recalled struct {
	event *unloop.Event
	size  int
}

// recall remembers events that were folded, the latest of them.
func (r *run) recall(e *unloop.Event) {
	size := len(e.Input) + len(e.Output) + len(e.Error) + len(e.Text) + len(e.Metadata) + eventOverhead
	r.whole = append(r.whole, recalled{e, size})
	for r.wholeBytes += size; r.wholeBytes > recallBytes; r.whole = slices.Delete(r.whole, 0, 1) {
		r.wholeBytes -= r.whole[0].size
	}
}

// wholeEvents returns the whole events that are remembered, by their ids. Of two with one id it is the later one.
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

// keepState writes the run's state after each commit where content is not stored whole, so that whoever takes the run up again
// need not fold what is not there. It takes the place of the one before, but for the states that are written now and then.
func (t *runChange) keepState(p *Pipeline) error {
	n := len(t.checkpoints)
	if p.opts.Content == FullContent || t.row.Refold != nil || t.fold.s.Events == 0 || n > 0 && t.checkpoints[n-1].Position == t.fold.s.Furthest {
		return nil
	}
	state, err := t.fold.checkpoint(p.settingsHash)
	if err != nil {
		return err
	}
	before := 0
	if n > 1 {
		before = t.checkpoints[n-2].Events
	}
	if n > 0 && t.checkpoints[n-1].Events-before < checkpointEvery {
		t.thin(n - 1)
	}
	t.write(state)
	for len(t.checkpoints) > 3 {
		t.thin(0)
	}
	return nil
}

// bareMessage says what was found, and quotes nothing of what was asked or returned.
func bareMessage(rule, subject string, count int) string {
	message := strings.TrimSpace(rule + " " + subject)
	if count > 0 {
		message += fmt.Sprintf(", %d times", count)
	}
	return message + " (content not stored)"
}

// bareFinding returns a finding without what it quotes.
func bareFinding(f *unloop.Finding) *unloop.Finding {
	bare := *f
	bare.Repeated, bare.Changed, bare.FirstError = nil, "", ""
	return &bare
}
