// Command clustersim simulates servers that share 64 partitions, with service times that were measured on one machine: how long an event takes
// from its acknowledgement to its being recorded when partitions are unequal, when a server is lost, and when one run has much of the
// load. docs/scaling.md has its output.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the random numbers")
	flag.Parse()
	if err := report(os.Stdout, scenarios(*seed)); err != nil {
		fmt.Fprintln(os.Stderr, "clustersim:", err)
		os.Exit(1)
	}
}

// base is three servers of 4 processors. The load is a part of what their processors can do: 324,000 events per second.
func base(says string, load float64, seed uint64) scenario {
	const full = 3 * 4 * 1e6 / workerTime // events per second
	return scenario{says: says, servers: 3, cores: 4, dbCores: 8, rate: load * full, runs: 10_000, seconds: 5, seed: seed}
}

func scenarios(seed uint64) (all []scenario) {
	add := func(says string, load float64, change func(*scenario)) {
		c := base(fmt.Sprintf("%s, load %.0f %%", says, load*100), load, seed)
		change(&c)
		all = append(all, c)
	}
	for _, load := range []float64{0.02, 0.25, 0.5, 0.75, 0.9} {
		add("equal runs", load, func(*scenario) {})
	}
	add("100 equal runs", 0.5, func(c *scenario) { c.runs = 100 })
	add("unequal runs (Pareto 1.5)", 0.5, func(c *scenario) { c.tail = 1.5 })
	add("very unequal runs (Pareto 1.1)", 0.5, func(c *scenario) { c.tail = 1.1 })
	for _, hot := range []float64{0.1, 0.25, 0.5} {
		add(fmt.Sprintf("one run has %.0f %%", hot*100), 0.5, func(c *scenario) { c.hot = hot })
	}
	for _, load := range []float64{0.02, 0.25, 0.5} {
		add("one of 3 servers is lost", load, func(c *scenario) { c.lose, c.seconds = true, 24 })
	}
	add("one of 8 servers is lost", 0.5, func(c *scenario) {
		c.servers, c.cores, c.dbCores, c.lose, c.seconds = 8, 2, 16, true, 24
		c.rate = 0.5 * 8 * 2 * 1e6 / workerTime
	})
	return all
}

// report prints the outcomes of scenarios.
func report(to io.Writer, all []scenario) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tevents/s\tbusiest partition\tp50 ms\tp99 ms\tmax ms\tbacklog\tlate for s")
	for _, c := range all {
		o := simulate(c)
		late := "-"
		if c.lose {
			late = fmt.Sprintf("%.1f", o.CaughtUp)
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.1f\t%.0f\t%.0f\t%d\t%s\n", c.says, c.rate, o.Busiest, o.P50, o.P99, o.Max, o.Backlog, late)
	}
	return w.Flush()
}
