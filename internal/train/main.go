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
	Flags   []flag            `json:"flags"` // decisions of the profile by other rules than stalled_steps
}

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
	for _, path := range args {
		if err := write(out, p, path); err != nil {
			return err
		}
	}
	return out.Flush()
}

func write(out *bufio.Writer, p *profile.Profile, path string) error {
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
