// Package splice makes labelled runs for package eval. It inserts each kind of loop and each kind of lookalike into each healthy run, so
// that the label of every event is known.
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

// Kinds is a set of kinds of loops and lookalikes.
type Kinds string

// The sets. Tuning and Reporting are disjoint. Detectors are tuned on Tuning, and Reporting measures how well they generalise.
const (
	AllKinds       Kinds = "all"
	TuningKinds    Kinds = "tuning"
	ReportingKinds Kinds = "reporting"
)

// Splicer makes runs and writes one per line. Equal seeds, kinds and inputs give equal output, and a kind's runs do not depend on
// which other kinds are made.
type Splicer struct {
	Hosts int // healthy runs that were used

	seed uint64
	set  Kinds
	out  *json.Encoder
}

// New returns a splicer that writes runs of a set of kinds to w. It returns an error for a set that does not exist.
func New(w io.Writer, seed uint64, set Kinds) (*Splicer, error) {
	switch set {
	case AllKinds, TuningKinds, ReportingKinds:
	default:
		return nil, fmt.Errorf("unknown kinds %q: want %s, %s or %s", set, AllKinds, TuningKinds, ReportingKinds)
	}
	s := &Splicer{seed: seed, set: set, out: json.NewEncoder(w)}
	s.out.SetEscapeHTML(false)
	return s, nil
}

// takes reports whether the splicer makes runs of the kind.
func (s *Splicer) takes(k kind) bool {
	return s.set == AllKinds || k.reporting == (s.set == ReportingKinds)
}

// made is the JSON of a run.
type made struct {
	ID      string            `json:"id"`
	Source  string            `json:"source"`
	Outcome string            `json:"outcome"`
	Labels  eval.Labels       `json:"labels"`
	Events  []json.RawMessage `json:"events"`
}

// Read makes runs of all healthy runs of an input; other runs are skipped. Errors contain name. A line that cannot
// be read is a *ingest.BadInput.
func (s *Splicer) Read(ctx context.Context, name string, r io.Reader) error {
	return eval.Each(ctx, name, r, func(host *eval.Run) error {
		if !host.Healthy() {
			return nil
		}
		if err := host.Decode(func(*unloop.Event) error { return nil }); err != nil {
			return err
		}
		for k, kind := range kinds() {
			if !s.takes(kind) {
				continue
			}
			rng := rand.New(rand.NewPCG(s.seed, uint64(s.Hosts)<<16|uint64(k)))
			if err := s.write(host, kind, &generator{rng}); err != nil {
				return err
			}
		}
		s.Hosts++
		return nil
	})
}

// write makes one run. The stretch is at a random place after the first two events of the host, which open the task.
func (s *Splicer) write(host *eval.Run, k kind, p *generator) error {
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
