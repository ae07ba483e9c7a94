//go:build unix

// Command unloop writes the decisions of a profile about labelled runs, for compare.py: a line with the profile, the version, the
// number of entries and the seconds of CPU time that the decisions took, and a line for each run.
//
//	go run ./compare/unloop RUNS.jsonl…
//
// It runs on Linux and macOS.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/eval"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// verdict is the line of a run. A decision is the index of an entry, and 1 for a warning or 2 for a stop.
type verdict struct {
	ID        string   `json:"id"`
	Decisions [][2]int `json:"decisions"`
}

// head is the first line.
type head struct {
	Profile string  `json:"profile"`
	Version string  `json:"version"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
}

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(paths []string) error {
	p, err := profile.New(profile.Default)
	if err != nil {
		return err
	}
	h := head{Profile: p.Name(), Version: "this tree"}
	var verdicts []verdict
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = eval.Each(context.Background(), path, file, func(labelled *eval.Run) error {
			decided, seconds, err := decide(p, labelled)
			h.Steps += len(labelled.Events)
			h.Seconds += seconds
			verdicts = append(verdicts, decided)
			return err
		})
		if err := file.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(h); err != nil {
		return err
	}
	for _, v := range verdicts {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// decide returns the decisions about a run, and the seconds that they took without the decoding.
func decide(p *profile.Profile, labelled *eval.Run) (verdict, float64, error) {
	var events []*unloop.Event
	err := labelled.Decode(func(e *unloop.Event) error {
		events = append(events, e.Clone())
		return nil
	})
	decided := verdict{ID: labelled.ID}
	session := p.NewSession(labelled.ID)
	began := cpu()
	for _, e := range events {
		switch d := session.Add(e); {
		case d.Action >= policy.Block:
			decided.Decisions = append(decided.Decisions, [2]int{e.Index, 2})
		case d.Action == policy.Warn:
			decided.Decisions = append(decided.Decisions, [2]int{e.Index, 1})
		}
	}
	return decided, (cpu() - began).Seconds(), err
}

// cpu returns the CPU time of the process, which other programs on the machine do not lengthen.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0 // impossible: a process may read its own usage
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
