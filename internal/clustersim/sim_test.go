package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// small is a scenario with few events.
func small(change func(*scenario)) scenario {
	c := base("", 0.05, 1)
	c.seconds = 2
	change(&c)
	return c
}

func TestEqualScenariosHaveEqualOutcomes(t *testing.T) {
	c := small(func(c *scenario) { c.tail, c.hot = 1.2, 0.1 })
	first := simulate(c)
	if again := simulate(c); again != first {
		t.Errorf("the second simulation gave %+v, the first %+v", again, first)
	}
	c.seed = 2
	if other := simulate(c); other == first {
		t.Errorf("another seed gave the same: %+v", other)
	}
}

func TestOutcomes(t *testing.T) {
	calm := simulate(small(func(*scenario) {}))
	for _, c := range []struct {
		says    string
		change  func(*scenario)
		correct func(o outcome) bool
	}{
		{"with free processors an event takes about two transactions", func(*scenario) {}, func(o outcome) bool {
			return o.P50 > commitTime/1000 && o.P99 < 4*commitTail*commitTime/1000
		}},
		{"few runs load partitions unequally", func(c *scenario) { c.runs = 50 }, func(o outcome) bool {
			return o.Busiest > 2*calm.Busiest
		}},
		{"a run of more events than one goroutine folds has a growing backlog", func(c *scenario) {
			c.rate, c.hot, c.cores, c.seconds = 200_000, 0.9, 16, 1
		}, func(o outcome) bool {
			return float64(o.Backlog) > (200_000*0.9-1e6/foldTime)*0.8 && o.Max > 150
		}},
		{"more events than processors can judge have a growing backlog", func(c *scenario) { c.rate, c.seconds = 1_200_000, 0.5 }, func(o outcome) bool {
			return o.Backlog > 120_000
		}},
		{"a lost server delays its third of the events for the takeover", func(c *scenario) {
			c.rate, c.runs, c.lose, c.seconds = 3000, 300, true, 12
		}, func(o outcome) bool {
			return o.Max > takeover/1000 && o.Max < takeover/1000+500 && o.CaughtUp > 5 && o.CaughtUp < 6 && o.Backlog > 4000 && o.Backlog < 6500
		}},
	} {
		t.Run(c.says, func(t *testing.T) {
			if o := simulate(small(c.change)); !c.correct(o) {
				t.Errorf("the outcome is %+v", o)
			}
		})
	}
}

// TestThePageHasTheOutcomes compares the scenarios with few events with docs/scaling.md.
func TestThePageHasTheOutcomes(t *testing.T) {
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	var cheap []scenario
	for _, c := range scenarios(1) {
		if c.rate*c.seconds < 1.1e6 {
			cheap = append(cheap, c)
		}
	}
	var out bytes.Buffer
	if err := report(&out, cheap); err != nil {
		t.Fatal(err)
	}
	squeeze := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	lines := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		lines[squeeze(line)] = true
	}
	for line := range strings.Lines(out.String()) {
		if !lines[squeeze(line)] {
			t.Errorf("docs/scaling.md lacks the line %q; it has the output of: go run ./internal/clustersim", strings.TrimSpace(line))
		}
	}
	if len(cheap) < 2 {
		t.Errorf("only %d scenarios are compared", len(cheap))
	}
}
