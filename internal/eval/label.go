package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/labelled"
)

// The outcomes that are measured. A run with another outcome is neither successful nor failed.
const (
	success = "success"
	failure = "failure"
)

// Labels are the judgements of readers about a run. Indexes are positions in the run's list of events, from 0.
type Labels struct {
	Loop           *Loop    `json:"loop,omitempty"`
	Moments        []Moment `json:"checkpoints,omitempty"`
	StepRepetition *Verdict `json:"step_repetition,omitempty"` // whether the run as a whole repeats steps
	Stuck          *Stuck   `json:"stuck,omitempty"`
}

// Verdict is a yes or a no: true or false, or 1 or 0.
type Verdict bool

// UnmarshalJSON reads either form.
func (v *Verdict) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true", "1":
		*v = true
	case "false", "0":
		*v = false
	default:
		return fmt.Errorf("a verdict is true or false, 1 or 0, and not %s", text)
	}
	return nil
}

// Loop is a known loop, or a lookalike: healthy work that looks like one.
type Loop struct {
	Kind   string `json:"kind"`
	Onset  int    `json:"onset"`            // index of the first event that repeats something
	End    int    `json:"end"`              // index of the last event of the stretch
	Benign bool   `json:"benign,omitempty"` // it is a lookalike
}

// Moment is an event after which a reader judged whether the run was looping. The files of labels say checkpoint; elsewhere a checkpoint is
// the saved state of a run.
type Moment struct {
	AfterEvent int  `json:"after_event"` // index of the event
	Loop       bool `json:"loop"`
}

// loops reports whether the run as a whole loops. known is false if no label decides that.
func (l *Labels) loops() (loops, known bool) {
	if l.StepRepetition != nil {
		return bool(*l.StepRepetition), true
	}
	if l.Loop != nil {
		return !l.Loop.Benign, true
	}
	for _, m := range l.Moments {
		loops = loops || m.Loop
	}
	return loops, len(l.Moments) > 0
}

// mistake returns the field of the first invalid label and the reason, or "" if all labels are valid.
func (l *Labels) mistake(events int) (field, reason string) {
	if loop := l.Loop; loop != nil {
		if strings.TrimSpace(loop.Kind) == "" || strings.ContainsFunc(loop.Kind, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return "labels.loop.kind", "a loop needs a kind of printable characters"
		}
		if loop.Onset < 0 || loop.Onset > loop.End || loop.End >= events {
			return "labels.loop", fmt.Sprintf("from event %d to %d is no stretch of a run of %d events", loop.Onset, loop.End, events)
		}
	}
	before := -1
	for k, m := range l.Moments {
		if m.AfterEvent <= before || m.AfterEvent >= events {
			return fmt.Sprintf("labels.checkpoints.%d.after_event", k),
				fmt.Sprintf("%d is not after %d, within a run of %d events", m.AfterEvent, before, events)
		}
		before = m.AfterEvent
	}
	if l.Stuck != nil {
		return l.Stuck.mistake(events)
	}
	return "", ""
}

// Run is a labelled run.
type Run struct {
	ID      string           `json:"id"`
	Source  string           `json:"source"`
	Outcome string           `json:"outcome"`
	Labels  Labels           `json:"labels"`
	Events  []jsontext.Value `json:"events"` // as in the input, unchecked

	file string
	line int // of the file; 0 if the run was made and not read
}

// Healthy reports whether the run succeeded and has no label of a loop or a lookalike.
func (r *Run) Healthy() bool {
	loops, _ := r.Labels.loops()
	return r.Outcome == success && !loops && r.Labels.Loop == nil
}

// Decode emits the run's events as a scan reads them.
func (r *Run) Decode(emit ingest.Emit) error {
	line, err := r.encode()
	if err != nil {
		return err
	}
	err = labelled.Format().Decode(ingest.NewInput(r.file, "", bytes.NewReader(line)), emit)
	var bad *ingest.BadInput
	if errors.As(err, &bad) {
		bad.Line = r.line
	}
	return err
}

// encode returns the line of a file that has the run's id and its events as they are. Labels do not become events.
func (r *Run) encode() ([]byte, error) {
	line, err := jsontext.AppendQuote([]byte(`{"id":`), r.ID)
	if err != nil {
		return nil, fmt.Errorf("encode the id of run %q: %w", r.ID, err)
	}
	line = append(line, `,"events":[`...)
	for k, event := range r.Events {
		if k > 0 {
			line = append(line, ',')
		}
		line = append(line, event...)
	}
	return append(line, "]}"...), nil
}

// Each calls take with each run of an input. It keeps one run in memory at a time. It returns the first error: a *ingest.BadInput for a
// line that is not valid, the error of take, or that of ctx. Errors contain name.
func Each(ctx context.Context, name string, r io.Reader, take func(*Run) error) error {
	in := ingest.NewInput(name, "", r)
	for line, err := range in.Lines() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		run := Run{file: name, line: line.Number}
		if err := in.Unmarshal(line.Number, line.Bytes, &run); err != nil {
			return err
		}
		if field, reason := run.Labels.mistake(len(run.Events)); field != "" {
			return in.Bad(line.Number, field, reason)
		}
		if err := take(&run); err != nil {
			return err
		}
	}
	return nil
}
