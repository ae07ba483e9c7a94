// Command train prints what the model of stalled_steps is trained on: the features of each step of labelled runs, one JSON object per run.
// train.py reads it.
//
//	go run ./internal/train RUNS.jsonl… > features.jsonl
//	go run ./internal/train -names > names.txt
//
// With -names it prints the names of the quantities of a step, one per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// features are those of the steps of a run.
type features struct {
	ID      string            `json:"id"`
	Source  string            `json:"source"`
	Outcome string            `json:"outcome"`
	Labels  json.RawMessage   `json:"labels"`
	Events  []int             `json:"events"` // index of the event that ended each step
	Steps   []unloop.Features `json:"steps"`
	Gates   []gate            `json:"gates"` // one for each step
	Flags   []flag            `json:"flags"` // decisions of the profile by other rules than stalled_steps
}

// gate says when stalled_steps fires at a step behind enough steps without progress.
type gate int

const (
	shut   gate = iota // at no estimate
	usual              // at an estimate that reaches its threshold
	always             // at any estimate
)

type flag struct {
	Event int      `json:"event"`
	Rules []string `json:"rules"`
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	out := bufio.NewWriter(w)
	if slices.Equal(args, []string{"-names"}) {
		for _, name := range unloop.QuantityNames() {
			fmt.Fprintln(out, name)
		}
		return out.Flush()
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		return err
	}
	g := gatesOf(p)
	for _, path := range args {
		if err := write(out, p, g, path); err != nil {
			return err
		}
	}
	return out.Flush()
}

// gates is the rule stalled_steps of a profile, with a threshold that every estimate reaches, and with one that none reaches.
type gates struct{ every, none detect.StalledSteps }

func gatesOf(p *profile.Profile) (g gates) {
	for _, d := range p.Detectors() {
		if rule, ok := d.(detect.StalledSteps); ok {
			g.every, g.none = rule, rule
		}
	}
	g.every.Estimate, g.none.Estimate = 0, 2 // an estimate is from 0 to 1
	return g
}

// of returns the gate of the latest step. The number of steps without progress depends on the model that is trained, so it does not count.
func (g gates) of(r *unloop.Run) gate {
	m := r.Meter()
	steps := m.Steps
	m.Steps = manySteps
	defer func() { m.Steps = steps }()
	if _, ok := g.every.Check(r); !ok {
		return shut
	}
	if _, ok := g.none.Check(r); ok {
		return always
	}
	return usual
}

// manySteps is a number of steps without progress that is enough for stalled_steps.
const manySteps = 99

func write(out *bufio.Writer, p *profile.Profile, g gates, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	to := json.NewEncoder(out)
	return eval.Each(context.Background(), path, f, func(one *eval.Run) error {
		labels, err := json.Marshal(one.Labels)
		if err != nil {
			return err
		}
		row := features{ID: one.ID, Source: one.Source, Outcome: string(one.Outcome), Labels: labels}
		session := p.NewSession(one.ID)
		err = one.Decode(func(e *unloop.Event) error {
			decision := session.Add(e)
			if step := session.Run().Current().Step; step != nil && step.Outcome != unloop.Pending {
				row.Events, row.Steps = append(row.Events, e.Index), append(row.Steps, session.Run().Meter().Features)
				row.Gates = append(row.Gates, g.of(session.Run()))
			}
			if decision.Action != policy.Allow {
				rules := []string{}
				for k := range decision.Findings {
					rules = append(rules, decision.Findings[k].Rule)
				}
				row.Flags = append(row.Flags, flag{e.Index, slices.DeleteFunc(rules, func(rule string) bool { return rule == "stalled_steps" })})
			}
			return nil
		})
		if err != nil {
			return err
		}
		return to.Encode(row)
	})
}
