package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Scoreboard gathers what profiles make of labelled runs.
type Scoreboard struct {
	profiles []*profile.Profile
	reviewer Reviewer // nil without second opinions
	mask     func(string) string
	Sheets   []*Sheet // one for each profile
}

// Sheet contains the results of one profile.
type Sheet struct {
	Profile     string             `json:"profile"`
	Runs        int                `json:"runs"`
	Loops       map[string]*Caught `json:"loops"`      // by kind
	LookAlikes  map[string]*Hit    `json:"lookalikes"` // by kind
	Successful  Hit                `json:"successful"` // runs that succeeded and have no label of a loop or a lookalike
	Failed      Hit                `json:"failed"`     // runs that failed, but for those with a labelled stretch
	Checkpoints Score              `json:"checkpoints"`
	WholeRuns   Score              `json:"whole_runs"`
	Judged      Judged             `json:"judged"`           // runs with labels.stuck
	BySource    map[string]*Judged `json:"judged_by_source"` // the same, by source

	InLoops      Saved `json:"after_stop_in_loops"` // of runs with a known loop
	InFailed     Saved `json:"after_stop_in_failed"`
	InSuccessful Saved `json:"after_stop_in_successful"`

	Opinions Opinions `json:"second_opinions,omitzero"`
}

// Hit is how many runs, or stretches of runs, met a decision.
type Hit struct {
	Flagged Proportion `json:"flagged"` // any but allow
	Stopped Proportion `json:"stopped"` // block or halt
}

// Caught are the loops that met a decision, and after how many events from the onset.
type Caught struct {
	Hit
	Delays Delays `json:"delay"`      // to the first decision
	Stops  Delays `json:"stop_delay"` // to the first block or halt
}

// Delays are in events, one for each loop that was caught.
type Delays []int

// Median returns the middle one, or the mean of the two in the middle; ok is false if there are none.
func (d Delays) Median() (median float64, ok bool) {
	if len(d) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(d))
	return float64(sorted[(len(d)-1)/2]+sorted[len(d)/2]) / 2, true
}

// MarshalJSON writes median and max, null where nothing was caught.
func (d Delays) MarshalJSON() ([]byte, error) {
	median, ok := d.Median()
	if !ok {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Median float64 `json:"median"`
		Max    int     `json:"max"`
	}{median, slices.Max(d)})
}

// Saved is what runs spent behind their first block or halt, of what they spent in all.
type Saved struct {
	After Usage `json:"after"`
	All   Usage `json:"all"`
}

func (s *Saved) add(t *replay) {
	s.After.plus(t.after)
	s.All.plus(t.all)
}

// New returns a board for the profiles.
func New(profiles []*profile.Profile) *Scoreboard {
	b := &Scoreboard{profiles: profiles}
	for _, p := range profiles {
		b.Sheets = append(b.Sheets, &Sheet{Profile: p.Name(), Loops: make(map[string]*Caught), LookAlikes: make(map[string]*Hit), BySource: make(map[string]*Judged)})
	}
	return b
}

// Read measures the labelled runs of an input, one run in memory at a time. Errors contain the name. A line that cannot
// be read is a *ingest.BadInput. The scoreboard must not be used after an error.
func (b *Scoreboard) Read(ctx context.Context, name string, r io.Reader) error {
	return Each(ctx, name, r, func(one *Run) error {
		trials := make([]replay, len(b.profiles))
		for k, p := range b.profiles {
			trials[k].watch = p.NewSession(one.ID)
			if b.reviewer != nil {
				trials[k].watch.KeepTranscript(b.mask)
			}
		}
		err := one.Decode(func(e *unloop.Event) error {
			for k := range trials {
				trials[k].add(ctx, b.reviewer, &one.Labels, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for k := range trials {
			b.Sheets[k].add(one, &trials[k])
		}
		return nil
	})
}

// add enters a run under every measure that its labels allow.
func (s *Sheet) add(one *Run, t *replay) {
	s.Runs++
	s.Opinions.Asked += t.opinions.Asked
	s.Opinions.Answered += t.opinions.Answered
	truth, known := one.Labels.loops()
	_, flagged := t.first(0, math.MaxInt, policy.Warn)
	if known {
		s.WholeRuns.add(t.watch.Verdict().Grade.Loops(), truth)
	}
	from := 0
	for _, c := range one.Labels.Checkpoints {
		_, call := t.first(from, c.AfterEvent, policy.Warn)
		s.Checkpoints.add(call, c.Loop)
		from = c.AfterEvent + 1
	}
	if stuck := one.Labels.Stuck; stuck != nil {
		s.Judged.add(stuck, t)
		entry(s.BySource, one.Source).add(stuck, t)
	}
	if one.Labels.Loop != nil {
		s.addStretch(one.Labels.Loop, t)
		return
	}
	switch {
	case one.Outcome == failure:
		s.Failed.add(flagged, t.stop)
		s.InFailed.add(t)
	case one.Healthy():
		s.Successful.add(flagged, t.stop)
		s.InSuccessful.add(t)
	}
}

// addStretch enters a run with a labelled stretch: what comes before and behind it is not measured.
func (s *Sheet) addStretch(loop *Loop, t *replay) {
	at, flagged := t.first(loop.Onset, loop.End, policy.Warn)
	stop, stopped := t.first(loop.Onset, loop.End, policy.Block)
	if loop.Benign {
		entry(s.LookAlikes, loop.Kind).add(flagged, stopped)
		return
	}
	s.InLoops.add(t)
	caught := entry(s.Loops, loop.Kind)
	caught.add(flagged, stopped)
	if flagged {
		caught.Delays = append(caught.Delays, at-loop.Onset)
	}
	if stopped {
		caught.Stops = append(caught.Stops, stop-loop.Onset)
	}
}

func (h *Hit) add(flagged, stopped bool) {
	h.Flagged.add(flagged)
	h.Stopped.add(stopped)
}

func entry[T any](m map[string]*T, kind string) *T {
	if m[kind] == nil {
		m[kind] = new(T)
	}
	return m[kind]
}

// JSON writes one object a line for each profile.
func (b *Scoreboard) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, s := range b.Sheets {
		if err := enc.Encode(s); err != nil {
			return fmt.Errorf("write the measures: %w", err)
		}
	}
	return nil
}
