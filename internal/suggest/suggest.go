// Package suggest finds thresholds that agree with the labels of runs. It replays labelled runs, and a few others, with other values of
// one setting at a time. It keeps values that drop false alarms and lose no loop, or that catch missed loops and raise no false alarm.
// It reads the labels and replays of a server. The API shows and applies its suggestions.
package suggest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// Pair is a rule and the tool that its warning is about; "" for none.
type Pair struct{ Rule, Tool string }

// Run is a run to replay.
type Run struct {
	ID       string
	Label    string // one of the labels of package store; "" for none
	Warnings []Pair
}

// Change is a value of a setting, for one tool or for all.
type Change struct {
	Tool    string // "" for all
	Setting string
	Value   float64
}

// Path returns the setting below settings in the configuration, such as tools.bash.same_errors.
func (c Change) Path() string {
	if c.Tool == "" {
		return c.Setting
	}
	return "tools." + c.Tool + "." + c.Setting
}

// Replay returns the warnings of a run of Options.Runs with a change, or with the present settings for nil.
type Replay func(ctx context.Context, run int, change *Change) ([]Pair, error)

// Options are the input of Find.
type Options struct {
	Profile *profile.Profile // with the present settings
	Valid   func(c Change) bool
	Runs    []Run
	Replay  Replay
}

// Suggestion is a change and its effect on the runs that it concerns. The lists have ids of runs.
type Suggestion struct {
	Change
	Rule    string
	Present float64
	Kept    []string // labelled as loops, with a warning of the rule for the tool before and after
	Dropped []string // labelled as no loops, with a warning before and none after
	Remain  []string // labelled as no loops, with a warning before and after
	Caught  []string // labelled as missed loops, with a warning only after
	Others  []string // without a label, whose warning goes or comes

	raised bool // labelled as no loop, with a warning only after; such a change is not suggested
	lost   bool // labelled as a loop, with a warning only before; likewise
}

// The factors by which thresholds are tried, the smallest change first.
var (
	higher = []float64{1.25, 1.5, 2, 3}
	lower  = []float64{0.75, 0.5}
)

// maxPairs is the maximum number of pairs of rule and tool that are tried, those with the most false alarms first.
const maxPairs = 12

// Find returns suggestions, those that drop or catch the most runs first. Complete is false if ctx ended before all values were tried;
// then the suggestions are those found so far.
func Find(ctx context.Context, o Options) (found []Suggestion, complete bool, err error) {
	f := finder{Options: o, present: make(map[int][]Pair), order: order(o.Runs)}
	err = f.find(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err, complete = nil, false
	} else {
		complete = err == nil
	}
	slices.SortStableFunc(f.found, func(a, b Suggestion) int {
		return cmp.Compare(len(b.Dropped)+len(b.Caught), len(a.Dropped)+len(a.Caught))
	})
	return f.found, complete, err
}

type finder struct {
	Options
	present map[int][]Pair // by index of the run
	order   []int          // of the indexes of the runs
	found   []Suggestion
}

// order returns the indexes of the runs in an order that rejects bad changes early: runs that a change may gain first, runs that it must
// not harm next, and runs without a label last.
func order(runs []Run) []int {
	rank := map[string]int{store.LabelMissedLoop: 0, store.LabelNotALoop: 1, store.LabelLoop: 2, "": 3}
	all := make([]int, len(runs))
	for k := range all {
		all[k] = k
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rank[runs[a].Label], rank[runs[b].Label]) })
	return all
}

func (f *finder) find(ctx context.Context) error {
	for _, pair := range f.falseAlarms() {
		for _, t := range f.Profile.Thresholds(pair.Rule) {
			if err := f.try(ctx, pair, t, higher); err != nil {
				return err
			}
		}
	}
	if !slices.ContainsFunc(f.Runs, func(r Run) bool { return r.Label == store.LabelMissedLoop }) {
		return nil
	}
	for _, d := range f.Profile.Detectors() {
		for _, t := range f.Profile.Thresholds(d.Info().Name) {
			if err := f.try(ctx, Pair{Rule: d.Info().Name}, t, lower); err != nil {
				return err
			}
		}
	}
	return nil
}

// falseAlarms returns the rules and tools of warnings of runs that are no loops, the most frequent first.
func (f *finder) falseAlarms() (pairs []Pair) {
	count := make(map[Pair]int)
	for _, r := range f.Runs {
		if r.Label != store.LabelNotALoop {
			continue
		}
		for _, w := range r.Warnings {
			if count[w]++; count[w] == 1 {
				pairs = append(pairs, w)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(count[b], count[a]) })
	return pairs[:min(len(pairs), maxPairs)]
}

// try replays the runs with the values of a threshold, and keeps the smallest change that has the best effect without harm.
func (f *finder) try(ctx context.Context, pair Pair, t profile.Threshold, factors []float64) error {
	var best *Suggestion
	before := t.Value
	for _, factor := range factors {
		change := Change{Tool: pair.Tool, Setting: t.Setting, Value: t.Times(factor)}
		if change.Value == before || !f.Valid(change) {
			continue
		}
		before = change.Value
		s := Suggestion{Change: change, Rule: pair.Rule, Present: t.Value}
		if err := f.judge(ctx, &s, pair); err != nil {
			return err
		}
		if s.raised || s.lost {
			break // a larger change does the same
		}
		if gain := len(s.Dropped) + len(s.Caught); gain > 0 && (best == nil || gain > len(best.Dropped)+len(best.Caught)) {
			best = &s
		}
	}
	if best != nil {
		f.found = append(f.found, *best)
	}
	return nil
}

// judge sets the effect of a change. It ends at the first harm, or before the runs of the next label if no run has gained.
func (f *finder) judge(ctx context.Context, s *Suggestion, pair Pair) error {
	raising := s.Value > s.Present
	for _, k := range f.order {
		r := f.Runs[k]
		if raising && !slices.Contains(r.Warnings, pair) {
			continue // a higher threshold raises no warning
		}
		mayGain := r.Label == store.LabelMissedLoop || raising && r.Label == store.LabelNotALoop
		if s.raised || s.lost || !mayGain && len(s.Dropped)+len(s.Caught) == 0 {
			return nil
		}
		was, err := f.warned(ctx, k, nil, pair)
		if err != nil {
			return err
		}
		is, err := f.warned(ctx, k, &s.Change, pair)
		if err != nil {
			return err
		}
		s.note(r, was, is)
	}
	return nil
}

func (s *Suggestion) note(r Run, was, is bool) {
	switch {
	case r.Label == store.LabelLoop && was:
		if s.lost = s.lost || !is; is {
			s.Kept = append(s.Kept, r.ID)
		}
	case r.Label == store.LabelNotALoop && was && is:
		s.Remain = append(s.Remain, r.ID)
	case r.Label == store.LabelNotALoop && was:
		s.Dropped = append(s.Dropped, r.ID)
	case r.Label == store.LabelNotALoop && is:
		s.raised = true
	case r.Label == store.LabelMissedLoop && !was && is:
		s.Caught = append(s.Caught, r.ID)
	case r.Label == "" && was != is:
		s.Others = append(s.Others, r.ID)
	}
}

// warned reports whether a run has a warning of the rule for the tool; with no tool, for any.
func (f *finder) warned(ctx context.Context, run int, change *Change, pair Pair) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	warnings, known := f.present[run]
	if change != nil || !known {
		var err error
		if warnings, err = f.Replay(ctx, run, change); err != nil {
			return false, fmt.Errorf("replay run %s: %w", strconv.Quote(f.Runs[run].ID), err)
		}
	}
	if change == nil {
		f.present[run] = warnings
	}
	return slices.ContainsFunc(warnings, func(w Pair) bool { return w.Rule == pair.Rule && (pair.Tool == "" || w.Tool == pair.Tool) }), nil
}
