// Package splice makes labelled runs for eval: into each healthy run it puts each known loop and each look-alike, so that
// it is known to the event what is a loop and what is not. It stands before eval, which measures what profiles make of
// the runs.
package splice

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/eval"
)

// Splicer makes runs and writes one a line. Equal seeds and inputs give equal output.
type Splicer struct {
	Hosts int // healthy runs that were taken

	seed uint64
	out  *json.Encoder
}

// New returns a splicer that writes to w.
func New(w io.Writer, seed uint64) *Splicer {
	s := &Splicer{seed: seed, out: json.NewEncoder(w)}
	s.out.SetEscapeHTML(false)
	return s
}

// made is a run as it is written.
type made struct {
	ID      string            `json:"id"`
	Source  string            `json:"source"`
	Outcome string            `json:"outcome"`
	Labels  eval.Labels       `json:"labels"`
	Events  []json.RawMessage `json:"events"`
}

// Read makes runs of all healthy runs of an input; the others are left out. Name stands in errors; a line that cannot be
// read is a *ingest.BadInput.
func (s *Splicer) Read(ctx context.Context, name string, r io.Reader) error {
	return eval.Each(ctx, name, r, func(host *eval.Run) error {
		if !host.Healthy() {
			return nil
		}
		if err := host.Decode(func(*unloop.Event) error { return nil }); err != nil {
			return err
		}
		for k, kind := range kinds() {
			rng := rand.New(rand.NewPCG(s.seed, uint64(s.Hosts)<<16|uint64(k)))
			if err := s.write(host, kind, &pen{rng}); err != nil {
				return err
			}
		}
		s.Hosts++
		return nil
	})
}

// write makes one run: the stretch stands somewhere behind the first two events of the host, which open the task.
func (s *Splicer) write(host *eval.Run, k kind, p *pen) error {
	events, onset := k.stretch(p)
	at := p.between(min(2, len(host.Events)), len(host.Events))
	run := made{ID: host.ID + "+" + k.name, Source: host.Source, Outcome: "unknown"}
	run.Labels.Loop = &eval.Loop{Kind: k.name, Onset: at + onset, End: at + len(events) - 1, Benign: k.benign}
	run.Events = append(run.Events, raw(host.Events[:at])...)
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("make a run of kind %s: %w", k.name, err)
		}
		run.Events = append(run.Events, text)
	}
	run.Events = append(run.Events, raw(host.Events[at:])...)
	if err := s.out.Encode(run); err != nil {
		return fmt.Errorf("write a made run: %w", err)
	}
	return nil
}

func raw(events []jsontext.Value) []json.RawMessage {
	texts := make([]json.RawMessage, len(events))
	for k, e := range events {
		texts[k] = json.RawMessage(e)
	}
	return texts
}
