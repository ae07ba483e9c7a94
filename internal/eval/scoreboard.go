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

// Scoreboard measures profiles over labelled runs.
type Scoreboard struct {
	profiles []*profile.Profile
	reviewer Reviewer // nil without second opinions
	mask     func(string) string
	Sheets   []*Sheet // one for each profile
}

// Sheet contains the results of one profile.
type Sheet struct {
	Profile       string             `json:"profile"`
	Runs          int                `json:"runs"`
	Loops         map[string]*Caught `json:"loops"`      // by kind
	LookAlikes    map[string]*Hit    `json:"lookalikes"` // by kind
	Successful    Hit                `json:"successful"` // runs that succeeded and have no label of a loop or a lookalike
	Failed        Hit                `json:"failed"`     // runs that failed and have no label of a loop or a lookalike
	JudgedMoments Score              `json:"judged_moments"`
	WholeRuns     Score              `json:"whole_runs"`
	Judged        Judged             `json:"judged"`           // runs with labels.stuck
	BySource      map[string]*Judged `json:"judged_by_source"` // the same, by source

	InLoops      Saved `json:"after_stop_in_loops"` // of runs with a known loop
	InFailed     Saved `json:"after_stop_in_failed"`
	InSuccessful Saved `json:"after_stop_in_successful"`

	Opinions Opinions `json:"second_opinions,omitzero"`
}

// Hit counts runs, or stretches of runs, with decisions.
type Hit struct {
	Flagged Proportion `json:"flagged"` // any decision but allow
	Stopped Proportion `json:"stopped"` // block or halt
}

// Caught counts the known loops with decisions, and has their delays.
type Caught struct {
	Hit
	Delays Delays `json:"delay"`      // to the first decision
	Stops  Delays `json:"stop_delay"` // to the first block or halt
}

// Delays are numbers of events from the onset of a loop, one for each loop that was caught.
type Delays []int

// Median returns the median. ok is false if there are no delays.
func (d Delays) Median() (median float64, ok bool) {
	if len(d) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(d))
	return float64(sorted[(len(d)-1)/2]+sorted[len(d)/2]) / 2, true
}

// MarshalJSON writes the members median and max, or null if there are no delays.
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

// Saved is the usage of runs that a guard would have prevented.
type Saved struct {
	After Usage `json:"after"` // after the first block or halt
	All   Usage `json:"all"`   // of the whole runs
}

func (s *Saved) add(t *replay) {
	s.After.plus(t.after)
	s.All.plus(t.all)
}

// New returns a scoreboard for the profiles.
func New(profiles []*profile.Profile) *Scoreboard {
	b := &Scoreboard{profiles: profiles}
	for _, p := range profiles {
		b.Sheets = append(b.Sheets, &Sheet{Profile: p.Name(), Loops: make(map[string]*Caught), LookAlikes: make(map[string]*Hit), BySource: make(map[string]*Judged)})
	}
	return b
}

// Read measures the labelled runs of an input. Its errors are those of Each. The scoreboard must not be used after an error.
func (b *Scoreboard) Read(ctx context.Context, name string, r io.Reader) error {
	return Each(ctx, name, r, func(run *Run) error { return b.Add(ctx, run) })
}

// Add measures a run. Its errors are those of Decode. The scoreboard must not be used after an error.
func (b *Scoreboard) Add(ctx context.Context, run *Run) error {
	replays := make([]replay, len(b.profiles))
	for k, p := range b.profiles {
		replays[k].session = p.NewSession(run.ID)
		if b.reviewer != nil {
			replays[k].session.KeepTranscript(b.mask)
		}
	}
	err := run.Decode(func(e *unloop.Event) error {
		for k := range replays {
			replays[k].add(ctx, b.reviewer, &run.Labels, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k := range replays {
		b.Sheets[k].add(run, &replays[k])
	}
	return nil
}

// add adds a run to every measure for which it has labels.
func (s *Sheet) add(one *Run, t *replay) {
	s.Runs++
	s.Opinions.Asked += t.opinions.Asked
	s.Opinions.Answered += t.opinions.Answered
	truth, known := one.Labels.loops()
	_, flagged := t.first(0, math.MaxInt, policy.Warn)
	if known {
		s.WholeRuns.add(t.session.Verdict().Grade.Loops(), truth)
	}
	from := 0
	for _, m := range one.Labels.Moments {
		_, call := t.first(from, m.AfterEvent, policy.Warn)
		s.JudgedMoments.add(call, m.Loop)
		from = m.AfterEvent + 1
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

// addStretch adds a run with a labelled stretch. Decisions outside of the stretch are not measured.
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

// entry returns the entry for a kind, which is new if the map has none.
func entry[T any](m map[string]*T, kind string) *T {
	if m[kind] == nil {
		m[kind] = new(T)
	}
	return m[kind]
}

// JSON writes a line with an object for each profile.
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
